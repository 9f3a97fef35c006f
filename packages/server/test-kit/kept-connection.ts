/** One HTTP connection as bytes. It stays open between requests. */
import { once } from 'node:events';
import { connect } from 'node:net';

export class KeptConnection implements Disposable {
  readonly socket;
  #received = '';

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('error', () => undefined);
  }

  /** @returns the next response, without its date */
  async response(): Promise<string> {
    let length = Number.NaN;
    while (!(this.#received.length >= length)) {
      const end = Number.isNaN(length) ? this.#received.indexOf('\r\n\r\n') : -1;
      if (end >= 0) length = end + 4 + Number(/Content-Length: (\d+)/.exec(this.#received.slice(0, end))?.[1] ?? 0);
      else await this.#receive();
    }
    const response = this.#received.slice(0, length);
    this.#received = this.#received.slice(length);
    return response.replace(/^Date: .*\r\n/m, '');
  }

  async #receive(): Promise<void> {
    const chunk = this.socket.read() as Buffer | null;
    if (chunk) this.#received += chunk.toString('latin1');
    else await once(this.socket, 'readable');
  }

  /** Sends bytes. @returns the next response, without its date */
  async ask(bytes: string): Promise<string> {
    this.socket.write(bytes, 'latin1');
    return this.response();
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }
}
