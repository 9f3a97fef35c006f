/**
 * The path of the public URL. A proxy in front may remove it from requests or not, so the service accepts both; what the
 * service tells clients always contains it.
 */

export class BasePath {
  /** Such as `/id`; empty if the public URL has no path. */
  readonly #path: string;

  /** @param publicUrl without a slash at its end */
  constructor(publicUrl: string) {
    this.#path = new URL(publicUrl).pathname.replace(/\/$/, '');
  }

  /** Such as `/id`, and `/` if the public URL has no path. */
  get root(): string {
    return this.#path === '' ? '/' : this.#path;
  }

  /**
   * @param target of a request, in origin form
   * @returns the target without the path of the public URL, also where RFC 8414 (section 3.1) inserts the well-known name before
   *   the path of an issuer
   */
  without(target: string): string {
    if (this.#path === '') return target;
    const end = target.indexOf('?');
    const path = end < 0 ? target : target.slice(0, end);
    const query = target.slice(path.length);
    if (path === this.#path) return `/${query}`;
    if (path.startsWith(`${this.#path}/`)) return path.slice(this.#path.length) + query;
    if (path.startsWith(wellKnown) && path.endsWith(this.#path)) return path.slice(0, -this.#path.length) + query;
    return target;
  }

  /** @param address a path of the service, or a URL, which stays unchanged */
  with(address: string): string {
    return address.startsWith('/') ? this.#path + address : address;
  }

  /** Adds the path to `Location`. @param headers alternating names and values */
  locate(headers: readonly string[] = []): readonly string[] {
    const name = headers.indexOf('Location');
    const address = headers[name + 1];
    return name < 0 || address === undefined ? headers : headers.with(name + 1, this.with(address));
  }
}

const wellKnown = '/.well-known/';
