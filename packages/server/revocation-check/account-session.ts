/** The session of a canary account: one access token for all instances, replaced after a rejection. */
import type { CanaryAccount } from './canaries.ts';
import type { HttpRequest, HttpResponse, Instance } from './instance.ts';

/** A client that may create, list and delete the keys of one account. */
export interface KeySession {
  readonly account: { readonly id: string };
  /** Of the routes of its keys, without a slash at the end. */
  readonly keysPath: string;
  /** @returns whether it has a credential */
  ensureSignedIn(instance: Instance): Promise<boolean>;
  /** @returns undefined without a credential or without a response */
  send(
    instance: Instance,
    method: HttpRequest['method'],
    path: string,
    body?: unknown,
  ): Promise<HttpResponse | undefined>;
}

export class AccountSession implements KeySession {
  readonly account: CanaryAccount;
  readonly keysPath = '/auth/api-keys';
  #accessToken: string | undefined;
  #signingIn: Promise<void> | undefined;

  constructor(account: CanaryAccount) {
    this.account = account;
  }

  /** Signs in at this instance if there is no access token. @returns whether there is one now */
  async ensureSignedIn(instance: Instance): Promise<boolean> {
    if (this.#accessToken === undefined) {
      // One sign-in at a time: they are limited.
      await (this.#signingIn ??= this.#signIn(instance).finally(() => (this.#signingIn = undefined)));
    }
    return this.#accessToken !== undefined;
  }

  /** Sends the access token, and drops it after a 401. @returns undefined without a token or without a response */
  async send(
    instance: Instance,
    method: HttpRequest['method'],
    path: string,
    body?: unknown,
  ): Promise<HttpResponse | undefined> {
    const token = this.#accessToken;
    if (token === undefined) return undefined;
    const authorization = `Bearer ${token}`;
    const content =
      body === undefined
        ? { headers: { authorization } }
        : { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await instance.send({ method, path, ...content }).catch(() => undefined);
    // Another request may have signed in again in the meantime.
    if (response?.status === 401 && this.#accessToken === token) this.#accessToken = undefined;
    return response;
  }

  async #signIn(instance: Instance): Promise<void> {
    const { email, password } = this.account;
    const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;
    const response = await instance
      .send({ method: 'POST', path: '/auth/token', headers: { authorization } })
      .catch(() => undefined);
    if (response?.status === 200)
      this.#accessToken = (JSON.parse(response.text) as { accessToken: string }).accessToken;
  }
}
