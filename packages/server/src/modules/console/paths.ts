/** The paths of the console, and the host at which they exist. */

const root = '/console';

/** Whether the path belongs to the console: such responses have no CORS headers, and no challenge. */
export const isConsolePath = (path: string): boolean => path === root || path.startsWith(`${root}/`);

/** Folders below `/console` that contain no page. */
const withoutPages = ['api', 'assets', 'config', 'session', 'sso'];

/** Whether a path below `/console` is that of a page. The script of the console decides which page, if any. */
export const isPagePath = (path: string): boolean => !withoutPages.includes(path.split('/', 3)[2] ?? '');

export interface ConsoleHostOptions {
  readonly isOn: boolean;
  /** Undefined: the console is at the public URL. */
  readonly consoleUrl: string | undefined;
  readonly publicUrl: string;
}

/**
 * With a host of its own, the console exists at that host only: pages of other applications on the public host are then of
 * another origin. The Host header is the client's, so this separates browsers, and it protects nothing from other clients.
 */
export class ConsoleHost {
  readonly isOn: boolean;
  /** Undefined: every host. */
  readonly #host: string | undefined;
  readonly #defaultPort: string;

  constructor({ isOn, consoleUrl, publicUrl }: ConsoleHostOptions) {
    const { host, protocol } = new URL(consoleUrl ?? publicUrl);
    this.isOn = isOn;
    this.#host = host === new URL(publicUrl).host ? undefined : host;
    this.#defaultPort = protocol === 'https:' ? ':443' : ':80';
  }

  /** @param host the Host header of a request */
  isConsole(host: string | undefined): boolean {
    if (!this.isOn) return false;
    return this.#host === undefined || this.#withoutDefaultPort(host ?? '') === this.#host;
  }

  /** Whether the host is that of the console and not that of the public URL. @param host as above */
  isOwnHost(host: string | undefined): boolean {
    return this.#host !== undefined && this.isConsole(host);
  }

  /** Whether a path exists for a request with this Host header: every path that is not of the console does. */
  permits(path: string, host: string | undefined): boolean {
    return !isConsolePath(path) || this.isConsole(host);
  }

  #withoutDefaultPort(host: string): string {
    const text = host.toLowerCase();
    return text.endsWith(this.#defaultPort) ? text.slice(0, -this.#defaultPort.length) : text;
  }
}
