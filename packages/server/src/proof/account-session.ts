/** A canary account signed in over HTTP: one access token, good at every instance, renewed when it is refused. */
import type { CanaryAccount } from './canaries.ts';
import type { HttpAnswer, HttpRequest, Instance } from './instance.ts';

export class AccountSession {
  readonly #account: CanaryAccount;
  #accessToken: string | undefined;

  constructor(account: CanaryAccount) {
    this.#account = account;
  }

  /** Signs in at this instance unless that was done, at whichever. @returns whether there is a token now */
  async ready(instance: Instance): Promise<boolean> {
    if (this.#accessToken !== undefined) return true;
    const { email, password } = this.#account;
    const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;
    const answer = await instance
      .ask({ method: 'POST', path: '/auth/token', headers: { authorization } })
      .catch(() => undefined);
    if (answer?.status === 200) this.#accessToken = (JSON.parse(answer.text) as { accessToken: string }).accessToken;
    return this.#accessToken !== undefined;
  }

  /** With the access token. A refused one is forgotten. @returns undefined without an answer, or without a token */
  async ask(instance: Instance, method: HttpRequest['method'], path: string): Promise<HttpAnswer | undefined> {
    const token = this.#accessToken;
    if (token === undefined) return undefined;
    const headers = { authorization: `Bearer ${token}` };
    const answer = await instance.ask({ method, path, headers }).catch(() => undefined);
    // Another may have signed in again meanwhile.
    if (answer?.status === 401 && this.#accessToken === token) this.#accessToken = undefined;
    return answer;
  }
}
