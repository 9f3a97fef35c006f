/**
 * Exchanges identity tokens for short-lived secrets of an API key with a trust (RFC 7523), so that a workload stores no secret.
 */
import { KeyreeveError, otherForm, send, type Service } from './account-request.ts';
import { keyForm } from './service-key.ts';
import { serviceUrl } from './service-url.ts';
import { runtimeTimers, type Timers } from './timers.ts';
import type { IdentityToken } from './identity-tokens.ts';

export { KeyreeveError, type Service } from './account-request.ts';
export { githubToken, googleToken, tokenFromFile, type IdentityToken, type TokenRequest } from './identity-tokens.ts';

export interface ExchangeOptions extends Service {
  /** The id of the API key. Without it, `identityToken` returns an assertion that the private key of a public-key key has signed. */
  readonly keyId?: number | undefined;
  /** Returns a fresh token. It is called for each exchange. */
  readonly identityToken: IdentityToken;
  /** The claim `aud` of the tokens. Default: `url`, without a slash at its end. */
  readonly audience?: string | undefined;
}

/** Create one for each key in the whole program. @throws TypeError for a malformed URL or id, or plain HTTP to another host than loopback */
export const exchange = (options: ExchangeOptions): ExchangedSecrets => new ExchangedSecrets(options);

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Of an exchange, with the time of `identityToken`. */
const deadlineMs = 30_000;
/** Of the life of a secret. */
const renewedAfter = 0.8;
/** After a failed renewal. */
const pauseMs = 10_000;

/** A secret. Times are those of the timers. */
interface Held {
  readonly secret: string;
  readonly endsAtMs: number;
  renewsAtMs: number;
}

/** An exchange in flight, and the number of callers that wait for it. */
interface Flight {
  readonly result: Promise<string>;
  readonly controller: AbortController;
  callers: number;
}

export class ExchangedSecrets {
  readonly #options: ExchangeOptions;
  readonly #audience: string;
  readonly #timers: Timers;
  #held: Held | undefined;
  #flight: Flight | undefined;

  constructor(options: ExchangeOptions, timers: Timers = runtimeTimers) {
    const { keyId, audience = serviceUrl(options, '').href.slice(0, -'/'.length) } = options;
    if (keyId !== undefined && !(Number.isSafeInteger(keyId) && keyId > 0))
      throw new TypeError('keyId must be the number of a key');
    this.#options = options;
    this.#audience = audience;
    this.#timers = timers;
  }

  /**
   * Returns a valid secret. After 80 % of its life, one caller waits for its successor; the others get the current one. If the
   * exchange fails while the current one is valid, it is repeated 10 s later, or after Retry-After.
   * @throws KeyreeveError `invalid_grant`, `too_many_exchanges`, and `unavailable` without a secret within 30 s
   * @throws what `identityToken` throws, the reason of the signal
   */
  async secret({ signal }: { readonly signal?: AbortSignal | undefined } = {}): Promise<string> {
    signal?.throwIfAborted();
    const held = this.#valid();
    if (held && (this.#flight || this.#timers.now() < held.renewsAtMs)) return held.secret;
    try {
      return await this.#wait(signal);
    } catch (error) {
      signal?.throwIfAborted();
      const valid = this.#valid();
      if (!valid) throw error;
      return valid.secret;
    }
  }

  /** After a service has rejected the secret: the next call of `secret` exchanges a token. Has no effect for an earlier secret. */
  drop(secret: string): void {
    // oxlint-disable-next-line keyreeve/constant-time-secrets -- both are secrets of this program
    if (this.#held?.secret === secret) this.#held = undefined;
  }

  #valid(): Held | undefined {
    return this.#held && this.#timers.now() < this.#held.endsAtMs ? this.#held : undefined;
  }

  /** The exchange ends when all of its callers have left. */
  #wait(signal: AbortSignal | undefined): Promise<string> {
    const flight = (this.#flight ??= this.#start());
    flight.callers++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal?.reason as Error);
        if (--flight.callers > 0) return;
        this.#land(flight);
        flight.controller.abort(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      const arrived = (): void => signal?.removeEventListener('abort', leave);
      flight.result.finally(arrived).then(resolve, reject);
    });
  }

  #start(): Flight {
    const controller = new AbortController();
    const { signal } = controller;
    const late = new KeyreeveError(0, { detail: `Keyreeve gave no secret within ${deadlineMs / 1_000} s` });
    const timer = this.#timers.setTimeout(() => controller.abort(late), deadlineMs);
    // The function of the program may ignore the signal.
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    const result = Promise.race([this.#exchange(signal), ended]).finally(() => {
      this.#timers.clearTimeout(timer);
      this.#land(flight);
    });
    const flight = { result, controller, callers: 0 };
    return flight;
  }

  #land(flight: Flight): void {
    if (this.#flight === flight) this.#flight = undefined;
  }

  async #exchange(signal: AbortSignal): Promise<string> {
    try {
      const { identityToken, keyId } = this.#options;
      const assertion = await identityToken({ audience: this.#audience, signal });
      signal.throwIfAborted();
      if (typeof assertion !== 'string' || assertion === '')
        throw new TypeError('identityToken: the function has returned no token');
      const client = keyId === undefined ? {} : { client_id: String(keyId) };
      const body = new URLSearchParams({ grant_type: grantType, assertion, ...client });
      const startMs = this.#timers.now();
      const read = readSecret(await send(this.#options, { method: 'POST', path: 'auth/oauth/token', body, signal }));
      signal.throwIfAborted();
      const { secret, lifeMs } = read;
      this.#held = { secret, renewsAtMs: startMs + lifeMs * renewedAfter, endsAtMs: startMs + lifeMs };
      return secret;
    } catch (error) {
      const { retryAfterSeconds = 0 } = error instanceof KeyreeveError ? error : {};
      const pausesUntilMs = this.#timers.now() + Math.max(pauseMs, retryAfterSeconds * 1_000);
      // An exchange that has ended without callers may fail after a later one has succeeded.
      if (this.#held) this.#held.renewsAtMs = Math.max(this.#held.renewsAtMs, pausesUntilMs);
      throw error;
    }
  }
}

/** @throws KeyreeveError without the content, which may have a secret */
function readSecret(content: unknown): { secret: string; lifeMs: number } {
  const { access_token: text, expires_in: seconds } = (content ?? {}) as Record<string, unknown>;
  if (typeof text !== 'string' || !keyForm.test(text) || typeof seconds !== 'number' || !(seconds > 0))
    throw otherForm();
  return { secret: text, lifeMs: seconds * 1_000 };
}
