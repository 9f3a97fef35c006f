/** The sign-ins from a command line of the test program. */
import { deviceLogin, type DeviceKey } from '../src/device-login.ts';
import { ManualTimers } from './manual-timers.ts';

export interface LoginLine {
  readonly url: string;
  readonly clientId: string;
  readonly scopes?: readonly string[];
}

export class Logins {
  readonly #timersOf: Map<string, ManualTimers>;
  readonly #started = new Map<string, { readonly controller: AbortController; readonly key: Promise<DeviceKey> }>();

  /** @param timersOf by the names of what has them */
  constructor(timersOf: Map<string, ManualTimers>) {
    this.#timersOf = timersOf;
  }

  start(line: LoginLine): string {
    const timers = new ManualTimers();
    const controller = new AbortController();
    const qrCode = (link: string): string => `QR ${link}\n`;
    const key = deviceLogin({ ...line, qrCode, signal: controller.signal }, timers);
    key.catch(() => undefined);
    const name = `login ${this.#started.size}`;
    this.#started.set(name, { controller, key });
    this.#timersOf.set(name, timers);
    return name;
  }

  async outcome(name: string): Promise<{ key: DeviceKey | undefined }> {
    return { key: await this.#started.get(name)?.key };
  }

  cancel(name: string): void {
    this.#started.get(name)?.controller.abort(new Error('cancelled'));
  }
}
