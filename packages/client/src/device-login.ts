/** The sign-in of a person from a command line (RFC 8628), which ends with an API key, and the sign-out (RFC 7009), which deletes it. */
import { KeyreeveError, otherForm, send, type Service } from './account-request.ts';
import { hideSecret } from './hide-secret.ts';
import { keyForm } from './service-key.ts';
import { runtimeTimers, type Timers } from './timers.ts';

export { KeyreeveError, type Service } from './account-request.ts';

export interface DeviceLoginOptions extends Service {
  /** The id of the program, which an operator has declared. */
  readonly clientId: string;
  /** Default: all scopes of the program. */
  readonly scopes?: readonly string[] | undefined;
  /** Returns the QR code of the link as text. It is printed below the link. */
  readonly qrCode?: ((link: string) => string | Promise<string>) | undefined;
  /** Shows the link and the code. Default: they are printed on the standard error. */
  readonly show?: ((code: DeviceCode) => void | Promise<void>) | undefined;
  /** Ends the wait: `deviceLogin` then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

export interface DeviceLogoutOptions extends Service {
  /** The id of the program, as of the sign-in. */
  readonly clientId: string;
  /** The secret of the API key. */
  readonly key: string;
  /** Ends the request, which then throws the reason of the signal. The key may still be valid. */
  readonly signal?: AbortSignal | undefined;
}

/** What the person needs to approve the sign-in. */
export interface DeviceCode {
  /** The person compares it with the code that the page shows. */
  readonly userCode: string;
  /** The page on which the person enters the code. */
  readonly verificationUri: string;
  /** The same page, with the code. */
  readonly link: string;
  readonly expiresInSeconds: number;
}

/** The API key of the person. */
export interface DeviceKey {
  /** The secret: send it as a Bearer token. */
  readonly key: string;
  readonly keyId: number;
  readonly nickname: string;
  /** The scopes that the person has approved. */
  readonly scopes: readonly string[];
  /** RFC 3339, by the clock of this machine. */
  readonly expiresAt: string;
}

interface Started extends DeviceCode {
  readonly deviceCode: string;
  readonly intervalMs: number;
}

const grantType = 'urn:ietf:params:oauth:grant-type:device_code';
/** RFC 8628 sections 3.2 and 3.5. */
const defaultIntervalSeconds = 5;
const slowerMs = 5_000;
/** Of a poll. With the pause, so short that three polls reach the service while it repeats the response that was lost. */
const pollMsMax = 12_000;
const pauseMsMax = 20_000;
/** While the service repeats a lost response. */
const repeatMs = 60_000;
const secondsMax = 86_400;
/** Of a key: 100 years. */
const keySecondsMax = 3_155_760_000;
/** Nothing that would control a terminal. */
const userCodeForm = /^[A-Za-z0-9-]{1,64}$/;
const scopeForm = /^[\x20-\x7E]*$/;
const nicknameForm = /^\P{Cc}*$/u;
/** Without user name: a link to another host could look like one to the service. */
const linkForm = /^https?:\/\/[A-Za-z0-9._:[\]-]{1,300}(?:[/?#][\x21-\x7E]{0,999})?$/;

/**
 * Prints the link and the code on the standard error, waits until a person has approved, and returns the API key.
 * @throws KeyreeveError `access_denied`, `expired_token`, `invalid_client`, `invalid_scope`, `too_many_device_requests`, and
 *   `unavailable` without a response; failures of polls are repeated until the code has expired
 * @throws TypeError for a malformed URL or id, or plain HTTP to another host than loopback
 * @throws the reason of the signal, and what `qrCode` and `show` throw
 */
export async function deviceLogin(options: DeviceLoginOptions, timers: Timers = runtimeTimers): Promise<DeviceKey> {
  const { clientId, scopes = [], signal } = options;
  if (typeof clientId !== 'string' || clientId === '') throw new TypeError('clientId must be the id of a program');
  const body = new URLSearchParams({
    client_id: clientId,
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  });
  signal?.throwIfAborted();
  const started = readCode(await send(options, { method: 'POST', path: 'auth/oauth/device', body, signal }));
  const endsAtMs = timers.now() + started.expiresInSeconds * 1_000 + repeatMs;
  const { deviceCode, intervalMs, ...code } = started;
  await (options.show ?? ((shown) => print(shown, options.qrCode)))(code);
  const form = new URLSearchParams({ grant_type: grantType, client_id: clientId, device_code: deviceCode });
  let [waitMs, failures, everyMs] = [intervalMs, 0, intervalMs];
  let failure: KeyreeveError | undefined;
  while (timers.now() + waitMs <= endsAtMs) {
    await wait(waitMs, timers, signal);
    try {
      return readKey(await poll(options, form, timers));
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof KeyreeveError)) throw error;
      if (error.code === 'slow_down') everyMs += slowerMs;
      const isPending = error.code === 'authorization_pending' || error.code === 'slow_down';
      if (!isPending && !isTemporary(error)) throw error;
      failure = isPending ? undefined : error;
      failures = isPending ? 0 : failures + 1;
      // RFC 8628 section 3.5.
      const pauseMs = Math.min(everyMs * 2 ** failures, pauseMsMax);
      waitMs = Math.max(everyMs, pauseMs, (error.retryAfterSeconds ?? 0) * 1_000);
    }
  }
  throw failure ?? new KeyreeveError(0, { code: 'expired_token', detail: 'the code has expired' });
}

/**
 * Deletes the key at the service, which rejects it from then on. It resolves also if the key has been deleted before. After an error,
 * the key may still be valid.
 * @throws KeyreeveError `invalid_client`, `invalid_grant` for a key that the program has not made, and `unavailable`: try again
 * @throws TypeError as {@link deviceLogin}
 * @throws the reason of the signal
 */
export async function deviceLogout({ clientId, key, signal, ...service }: DeviceLogoutOptions): Promise<void> {
  if (typeof clientId !== 'string' || clientId === '') throw new TypeError('clientId must be the id of a program');
  if (typeof key !== 'string' || key === '') throw new TypeError('key must be an API key');
  signal?.throwIfAborted();
  const body = new URLSearchParams({ client_id: clientId, token: key });
  await send(service, { method: 'POST', path: 'auth/oauth/revoke', body, signal, mayBeEmpty: true });
}

async function print({ userCode, link }: DeviceCode, qrCode: DeviceLoginOptions['qrCode']): Promise<void> {
  const drawn = qrCode ? `\n${await qrCode(link)}\n` : '';
  // oxlint-disable-next-line no-console -- what the person reads
  console.error(`Open this link, and compare the code:\n\n  ${link}\n  ${userCode}\n${drawn}`);
}

async function poll(options: DeviceLoginOptions, body: URLSearchParams, timers: Timers): Promise<unknown> {
  const { signal: given } = options;
  const controller = new AbortController();
  const late = new KeyreeveError(0, { detail: `Keyreeve gave no response within ${pollMsMax / 1_000} s` });
  const timer = timers.setTimeout(() => controller.abort(late), pollMsMax);
  const signal = given ? AbortSignal.any([given, controller.signal]) : controller.signal;
  try {
    return await send(options, { method: 'POST', path: 'auth/oauth/token', body, signal });
  } finally {
    timers.clearTimeout(timer);
  }
}

const isTemporary = ({ status }: KeyreeveError): boolean => status === 0 || status === 429 || status >= 500;

function wait(ms: number, timers: Timers, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      timers.clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = timers.setTimeout(() => {
      signal?.removeEventListener('abort', leave);
      resolve();
    }, ms);
    if (signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave, { once: true });
  });
}

const isInteger = (value: unknown, min: number, max: number): value is number =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
const isText = (value: unknown, form: RegExp): value is string => typeof value === 'string' && form.test(value);

/** @throws KeyreeveError */
function readCode(content: unknown): Started {
  const members = (content ?? {}) as Record<string, unknown>;
  const { device_code: deviceCode, user_code: userCode, verification_uri: verificationUri } = members;
  const { verification_uri_complete: link = verificationUri, interval = defaultIntervalSeconds } = members;
  const { expires_in: expiresInSeconds } = members;
  if (
    isText(deviceCode, keyForm) &&
    isText(userCode, userCodeForm) &&
    isText(verificationUri, linkForm) &&
    isText(link, linkForm) &&
    isInteger(expiresInSeconds, 1, secondsMax) &&
    isInteger(interval, 1, secondsMax)
  )
    return { deviceCode, userCode, verificationUri, link, expiresInSeconds, intervalMs: interval * 1_000 };
  throw otherForm();
}

/** @throws KeyreeveError */
function readKey(content: unknown): DeviceKey {
  const {
    access_token: key,
    key_id: keyId,
    nickname,
    scope,
    expires_in: seconds,
  } = (content ?? {}) as Record<string, unknown>;
  if (!isText(key, keyForm) || !isInteger(keyId, 1, Number.MAX_SAFE_INTEGER)) throw otherForm();
  if (!isInteger(seconds, 0, keySecondsMax)) throw otherForm();
  if (!isText(nickname, nicknameForm) || !isText(scope, scopeForm)) throw otherForm();
  // oxlint-disable-next-line no-restricted-properties -- a time for the person, which decides nothing
  const expiresAt = new Date(Date.now() + seconds * 1_000).toISOString();
  const read = { key, keyId, nickname, scopes: scope.split(' ').filter(Boolean), expiresAt };
  return hideSecret('DeviceKey', read, () => keyId);
}
