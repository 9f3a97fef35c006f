/** A canary account signed in over HTTP: one access token, valid at every instance, replaced after a rejection. */
import type { CanaryAccount } from './canaries.ts';
import type { HttpAnswer, HttpRequest, Instance } from './instance.ts';

export class AccountSession {
  readonly account: CanaryAccount;
  #accessToken: string | undefined;
  #signingIn: Promise<void> | undefined;

  constructor(account: CanaryAccount) {
    this.account = account;
  }

  /** Signs in at this instance unless the account is signed in, at any. @returns whether there is a token now */
  async ready(instance: Instance): Promise<boolean> {
    if (this.#accessToken === undefined) {
      // One at a time: sign-ins are limited.
      await (this.#signingIn ??= this.#signIn(instance).finally(() => (this.#signingIn = undefined)));
    }
    return this.#accessToken !== undefined;
  }

  /** With the access token; forgets it when it is rejected. @returns undefined without a response, or without a token */
  async ask(
    instance: Instance,
    method: HttpRequest['method'],
    path: string,
    body?: unknown,
  ): Promise<HttpAnswer | undefined> {
    const token = this.#accessToken;
    if (token === undefined) return undefined;
    const authorization = `Bearer ${token}`;
    const sent =
      body === undefined
        ? { headers: { authorization } }
        : { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const answer = await instance.ask({ method, path, ...sent }).catch(() => undefined);
    // Another request may have signed in again meanwhile.
    if (answer?.status === 401 && this.#accessToken === token) this.#accessToken = undefined;
    return answer;
  }

  async #signIn(instance: Instance): Promise<void> {
    const { email, password } = this.account;
    const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;
    const answer = await instance
      .ask({ method: 'POST', path: '/auth/token', headers: { authorization } })
      .catch(() => undefined);
    if (answer?.status === 200) this.#accessToken = (JSON.parse(answer.text) as { accessToken: string }).accessToken;
  }
}
