/** A question: one credential with its options, as an entry of `questions` of `POST /auth/verify/batch`. */

/** How long a call waits. */
export interface CallOptions {
  /** Ends the call, which then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the verification is unavailable, 1 to 3,000. Default: 3,000. */
  readonly timeoutMs?: number | undefined;
}

export interface VerifyOptions extends CallOptions {
  /** The credential must have all of them; an access token has none. At most 32. */
  readonly scopes?: readonly string[] | undefined;
  /** The IP address of the client that presents the credential, for keys that are limited to IP ranges. */
  readonly address?: string | undefined;
  /** The accepted environments, 1 to 8. Default: the first one of the installation. */
  readonly environments?: readonly string[] | undefined;
  /** Tokens that the verification spends from each limit, 0 to 10,000. 0 only checks the limits. Default: 1. */
  readonly cost?: number | undefined;
}

export interface Question {
  /** JSON. */
  readonly text: string;
  /** JSON; empty for the default ones. The service rejects a batch with an unknown environment. */
  readonly environments: string;
  /** Whether it spends nothing, so that equal questions can share an entry, and the client can repeat it. */
  readonly isFree: boolean;
}

const credentialBytesMax = 4_096;
const scopesMax = 32;
const scopeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,64}$/;
const environmentsMax = 8;
const environmentForm = /^[a-z][a-z0-9-]{0,15}$/;
const costMax = 10_000;
/** Of a verification. */
export const deadlineMs = 3_000;

const utf8 = new TextEncoder();

/**
 * Whether a text can be a credential, by its length only: prefixes can change. At most 4,096 bytes in UTF-8.
 * @returns false for text that is refused as `malformed` without a request
 */
export const canBeCredential = (text: string): boolean =>
  text !== '' &&
  text.length <= credentialBytesMax &&
  // A UTF-16 unit takes at most three bytes.
  (text.length * 3 <= credentialBytesMax || utf8.encode(text).length <= credentialBytesMax);

/** @throws TypeError for options that the service rejects, except an unknown environment: it would reject the whole batch */
export function questionOf(credential: string, options: VerifyOptions): Question {
  assertOptions(options);
  const { scopes, address, environments, cost } = options;
  // The order of the members is fixed, so equal questions have equal texts. Undefined members are left out.
  const text = JSON.stringify({ credential, scopes, environments, address, cost });
  return { text, environments: JSON.stringify(environments) ?? '', isFree: cost === 0 };
}

/** @throws TypeError for options that the service rejects, except an unknown environment */
export function assertOptions({ scopes, address, environments, cost, timeoutMs }: VerifyOptions): void {
  if (scopes !== undefined && !(scopes.length <= scopesMax && scopes.every((scope) => scopeForm.test(scope))))
    throw new TypeError(`scopes: expected at most ${scopesMax} scopes of RFC 6749 with at most 64 characters each`);
  if (environments !== undefined && !areEnvironments(environments))
    throw new TypeError(`environments: expected 1 to ${environmentsMax} names of environments`);
  if (address !== undefined) assertAddress(address);
  if (cost !== undefined && !(Number.isInteger(cost) && cost >= 0 && cost <= costMax))
    throw new TypeError(`cost: expected a whole number from 0 to ${costMax}`);
  if (timeoutMs !== undefined && !(timeoutMs >= 1 && timeoutMs <= deadlineMs))
    throw new TypeError(`timeoutMs: expected a number from 1 to ${deadlineMs}`);
}

/** @throws TypeError */
export function assertAddress(address: string): void {
  if (!isIpAddress(address)) throw new TypeError('address: expected an IP address without a port, such as 203.0.113.7');
}

const areEnvironments = (names: readonly string[]): boolean =>
  names.length > 0 && names.length <= environmentsMax && names.every((name) => environmentForm.test(name));

const ipv4Form = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** Without port, brackets or zone id. */
export const isIpAddress = (text: string): boolean =>
  ipv4Form.test(text) || (/^[\da-f:.]{2,45}$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]/`));
