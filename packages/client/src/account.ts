/** A client of the account and key endpoints: sign-in, keys, sessions. It refreshes access tokens. */
import { KeyreeveError, send, type AccountRequest, type Service } from './account-request.ts';
import type {
  CreatedKey,
  KeyChange,
  KeyDetails,
  ListedKey,
  ListedSession,
  NewKey,
  RotatedKey,
  Rotation,
  TokenPair,
} from './account-types.ts';
import { assertAddress } from './question.ts';
import { serviceUrl } from './service-url.ts';

export { KeyreeveError, openResponse, send, type AccountRequest, type Service } from './account-request.ts';
export type * from './account-types.ts';

export interface SessionOptions extends Service {
  /** Called with the tokens of each refresh, so that the program can keep them. */
  readonly onTokens?: ((tokens: TokenPair) => void) | undefined;
}

export interface SignIn {
  readonly email: string;
  readonly password: string;
  /** A code of the second factor, or a recovery code. */
  readonly oneTimePassword?: string | undefined;
  /**
   * The IP address of the person's browser, for a backend that signs in people. The service reads it only from addresses in
   * `KEYREEVE_TRUSTED_PROXIES`; otherwise all sign-ins count towards the rate limit of the backend's own address.
   */
  readonly address?: string | undefined;
}

const utf8 = new TextEncoder();

/**
 * @throws KeyreeveError `invalid_credentials`, `second_factor_required`, `second_factor_invalid`, `too_many_attempts`
 * @throws TypeError for an address that is not an IP address
 */
export async function signIn(options: SessionOptions, form: SignIn): Promise<Session> {
  const { email, password, oneTimePassword, address } = form;
  const bytes = String.fromCharCode(...utf8.encode(`${email}:${password}`));
  const headers: Record<string, string> = { Authorization: `Basic ${btoa(bytes)}` };
  if (oneTimePassword !== undefined) headers['X-Keyreeve-OTP'] = oneTimePassword;
  if (address !== undefined) {
    assertAddress(address);
    headers['X-Forwarded-For'] = address;
  }
  const tokens = (await send(options, { method: 'POST', path: 'auth/token', headers })) as TokenPair;
  return new Session(options, tokens);
}

/** A signed-in account. Create one for each session in the whole program: it refreshes its tokens once at a time. */
export class Session {
  readonly #options: SessionOptions;
  #tokens: TokenPair;
  #refresh: Promise<void> | undefined;

  /** @param tokens of an earlier sign-in @throws TypeError for a malformed URL, or plain HTTP to another host than loopback */
  constructor(options: SessionOptions, tokens: TokenPair) {
    serviceUrl(options, '');
    this.#options = options;
    this.#tokens = tokens;
  }

  get tokens(): TokenPair {
    return this.#tokens;
  }

  /** Replaces the tokens. Concurrent calls share one refresh. @throws KeyreeveError `invalid_refresh_token`, `refresh_token_reused` */
  refresh(): Promise<void> {
    this.#refresh ??= this.#renew().finally(() => (this.#refresh = undefined));
    return this.#refresh;
  }

  async #renew(): Promise<void> {
    const { refreshToken } = this.#tokens;
    const request = { method: 'POST', path: 'auth/token/refresh', body: { refreshToken } } as const;
    this.#tokens = (await send(this.#options, request)) as TokenPair;
    this.#options.onTokens?.(this.#tokens);
  }

  /** Ends the session. Its access tokens are rejected immediately. */
  async signOut(): Promise<void> {
    const { refreshToken } = this.#tokens;
    await send(this.#options, { method: 'POST', path: 'auth/token/revoke', body: { refreshToken } });
  }

  /** @throws KeyreeveError `nickname_taken`, `key_limit_reached`, `scope_not_entitled` and others */
  createKey(key: NewKey): Promise<CreatedKey> {
    return this.#call({ method: 'POST', path: 'auth/api-keys', body: key });
  }

  async listKeys(): Promise<readonly ListedKey[]> {
    return (await this.#call<{ apiKeys: ListedKey[] }>({ method: 'GET', path: 'auth/api-keys' })).apiKeys;
  }

  /** @throws KeyreeveError `key_not_found`, `not_key_owner` */
  getKey(id: number): Promise<KeyDetails> {
    return this.#call({ method: 'GET', path: `auth/api-keys/${id}` });
  }

  changeKey(id: number, change: KeyChange): Promise<KeyDetails> {
    return this.#call({ method: 'PATCH', path: `auth/api-keys/${id}`, body: change });
  }

  /** Replaces the secret. @throws KeyreeveError `overlap_in_progress` and others */
  rotateKey(id: number, rotation: Rotation = {}): Promise<RotatedKey> {
    return this.#call({ method: 'POST', path: `auth/api-keys/${id}/rotate`, body: rotation });
  }

  /** Every verification that starts after the promise is fulfilled rejects the key. Cannot be undone. */
  async deleteKey(id: number): Promise<void> {
    await this.#call({ method: 'DELETE', path: `auth/api-keys/${id}` });
  }

  async listSessions(): Promise<readonly ListedSession[]> {
    return (await this.#call<{ sessions: ListedSession[] }>({ method: 'GET', path: 'auth/sessions' })).sessions;
  }

  /** @throws KeyreeveError `session_not_found` */
  async endSession(id: string): Promise<void> {
    await this.#call({ method: 'DELETE', path: `auth/sessions/${encodeURIComponent(id)}` });
  }

  /** @returns the number of sessions that have ended */
  async endOtherSessions(): Promise<number> {
    return (await this.#call<{ ended: number }>({ method: 'DELETE', path: 'auth/sessions' })).ended;
  }

  /** After 401 `invalid_access_token`, which shows that the request had no effect, refreshes and repeats the request once. */
  async #call<T>(request: AccountRequest): Promise<T> {
    await this.#refresh;
    const { accessToken } = this.#tokens;
    try {
      return (await this.#sendWith(accessToken, request)) as T;
    } catch (error) {
      if (!(error instanceof KeyreeveError && error.code === 'invalid_access_token')) throw error;
      // Another call may have refreshed the tokens meanwhile.
      if (this.#tokens.accessToken === accessToken) await this.refresh();
      return (await this.#sendWith(this.#tokens.accessToken, request)) as T;
    }
  }

  #sendWith(accessToken: string, request: AccountRequest): Promise<unknown> {
    return send(this.#options, { ...request, headers: { Authorization: `Bearer ${accessToken}` } });
  }
}
