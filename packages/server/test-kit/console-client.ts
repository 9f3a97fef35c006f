/** A browser with the console: it keeps the session cookie, and sends the headers that a page of the console causes. */
import assert from 'node:assert/strict';
import type { SessionView } from '@keyreeve/contract';
import { goodPassword, type Answered, type CallOptions, type TestApp } from './new-app.ts';

export class ConsoleClient {
  readonly #app: TestApp;
  /** The value of the cookie; undefined without one. */
  cookie: string | undefined;

  constructor(app: TestApp, cookie?: string) {
    this.#app = app;
    this.cookie = cookie;
  }

  /** The headers of a request of the console. */
  get headers(): Readonly<Record<string, string>> {
    return {
      'x-keyreeve-console': 'user',
      'sec-fetch-site': 'same-origin',
      ...(this.cookie === undefined ? {} : { cookie: `kr_s=${this.cookie}` }),
    };
  }

  /** @param path below `/console`, for example `/session` or `/api/auth/account` */
  async call(method: string, path: string, { headers = {}, ...options }: CallOptions = {}): Promise<Answered> {
    const answer = await this.#app.call(method, `/console${path}`, {
      ...options,
      headers: { ...this.headers, ...headers },
    });
    for (const set of answer.headers.getSetCookie()) this.cookie = /^kr_s=([^;]*)/.exec(set)?.[1] || undefined;
    return answer;
  }

  /** A request that no person caused. */
  poll(path: string): Promise<Answered> {
    return this.call('GET', path, { headers: { 'x-keyreeve-console': 'background' } });
  }

  trySignIn(email: string, { password = goodPassword, code }: { password?: string; code?: string } = {}) {
    return this.call('POST', '/session', { json: { email, password, ...(code === undefined ? {} : { code }) } });
  }

  async signIn(email: string, code?: string): Promise<SessionView> {
    const answer = await this.trySignIn(email, code === undefined ? {} : { code });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as SessionView;
  }

  confirm(password = goodPassword, code?: string): Promise<Answered> {
    return this.call('POST', '/session/confirm', { json: { password, ...(code === undefined ? {} : { code }) } });
  }

  /** @returns the session, as the server shows it without extending it */
  async session(): Promise<SessionView> {
    const answer = await this.poll('/session');
    assert.equal(answer.status, 200, answer.text);
    return answer.json as SessionView;
  }

  async isSignedIn(): Promise<boolean> {
    const answer = await this.poll('/session');
    assert.equal(answer.status, 200, answer.text);
    return answer.json !== null;
  }

  /** Another tab with the same cookie, which it keeps when this one gets another. */
  copy(): ConsoleClient {
    return new ConsoleClient(this.#app, this.cookie);
  }
}
