/**
 * Access tokens for the sign-in at a mail server: by client credentials (RFC 6749 section 4.4), as Exchange Online requires, or by
 * an assertion that a private key signs (RFC 7523), as Google requires of service accounts.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { Clock } from '../../foundation/clock.ts';
import { lazily } from '../../foundation/lazy-modules.ts';

export interface AccessTokenOptions {
  readonly clock: Clock;
  /** Of the provider's token endpoint: https, or http within this machine. */
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The client secret, or a private key in PEM. For each request, because it can change. */
  readonly clientSecret: () => string;
  readonly scope: string;
  /** The mailbox that a service account sends for. */
  readonly user: string;
}

const loadJose = lazily(() => import('jose'));
const requestMsMax = 30_000;
const responseCharsMax = 65_536;
/** A token that expires sooner is not used: the session takes time. */
const remainingMsMin = 60_000;
const assertionSeconds = 300;
const errorCharsMax = 200;

export class AccessTokens {
  readonly #options: AccessTokenOptions;
  #last: { readonly token: string; readonly expiresAt: number } | undefined;
  /** Sessions that begin together share one request. */
  #pending: Promise<string> | undefined;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  /**
   * @param isRejected the server has rejected the last token
   * @throws Error for operators, without secrets
   */
  next(isRejected: boolean): Promise<string> {
    const { clock } = this.#options;
    if (!isRejected && this.#last && this.#last.expiresAt - clock.now() > remainingMsMin)
      return Promise.resolve(this.#last.token);
    return (this.#pending ??= this.#request().finally(() => (this.#pending = undefined)));
  }

  async #request(): Promise<string> {
    const { clock, tokenUrl } = this.#options;
    const response = await fetch(tokenUrl, {
      method: 'POST',
      redirect: 'error',
      signal: AbortSignal.timeout(requestMsMax),
      headers: { accept: 'application/json' },
      body: new URLSearchParams(await this.#parameters()),
    }).catch((error: unknown) => {
      const { cause } = error as { readonly cause?: unknown };
      throw new Error(`the token endpoint cannot be reached (${messageOf(cause ?? error)})`);
    });
    const answer = parse((await response.text()).slice(0, responseCharsMax));
    const { access_token: token, expires_in: seconds } = answer;
    if (!response.ok || typeof token !== 'string' || token === '')
      throw new Error(`the token endpoint answered ${response.status}${reasonIn(answer)}`);
    this.#last = { token, expiresAt: clock.now() + (typeof seconds === 'number' ? seconds : 0) * 1000 };
    return token;
  }

  async #parameters(): Promise<Record<string, string>> {
    const { clientId, scope } = this.#options;
    const clientSecret = this.#options.clientSecret();
    const key = privateKeyIn(clientSecret);
    if (!key) return { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret, scope };
    return { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: await this.#assertion(key) };
  }

  async #assertion(key: KeyObject): Promise<string> {
    const { clock, tokenUrl, clientId, scope, user } = this.#options;
    const { SignJWT } = await loadJose();
    const now = Math.floor(clock.now() / 1000);
    return new SignJWT({ scope })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setIssuer(clientId)
      .setSubject(user)
      .setAudience(tokenUrl)
      .setIssuedAt(now)
      .setExpirationTime(now + assertionSeconds)
      .sign(key);
  }
}

/** @returns undefined for a client secret @throws Error for a damaged key */
export const privateKeyIn = (text: string): KeyObject | undefined =>
  text.startsWith('-----BEGIN ') ? createPrivateKey(text) : undefined;

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** RFC 6749 section 5.2. */
function reasonIn({ error, error_description: description }: Record<string, unknown>): string {
  const words = [error, description].filter((word) => typeof word === 'string').join(': ');
  return words === '' ? '' : ` (${words.slice(0, errorCharsMax)})`;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
