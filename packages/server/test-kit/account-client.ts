/** A client of a service with open sign-up, and a mail server that receives the service's mail over SMTP. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { ErrorCode } from '@keyreeve/contract';
import { FakeClock } from './fake-clock.ts';
import { countJobs } from '../src/modules/outbox/store.ts';
import { codeIn, Mailbox } from './mailbox.ts';
import { basic, bearer, goodPassword, newApp, type Answered, type TestApp } from './new-app.ts';
import { assertProblem, fromFetch } from './assert-problem.ts';
import { codeAt } from './authenticator.ts';
import { awaited } from './until.ts';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** These passwords satisfy every rule, as `goodPassword` does. */
export const otherPassword = 'a quiet harbour under seven moons';
export const attackersPassword = 'forty purple ladders in the rain';

export class AccountClient implements AsyncDisposable {
  readonly app: TestApp;
  readonly mailbox: Mailbox;

  constructor(app: TestApp, mailbox: Mailbox) {
    this.app = app;
    this.mailbox = mailbox;
  }

  /** @param clientIp works only if the service trusts 127.0.0.1 as its proxy */
  post(path: string, json: unknown, clientIp?: string): Promise<Answered> {
    const headers = clientIp === undefined ? {} : { 'x-forwarded-for': clientIp };
    return this.app.call('POST', path, { json, headers });
  }

  as({ accessToken }: Tokens, method: string, path: string, json?: unknown): Promise<Answered> {
    return this.app.call(method, path, { headers: bearer(accessToken), ...(json === undefined ? {} : { json }) });
  }

  async signUp(email: string, password = goodPassword): Promise<void> {
    const answer = await this.post('/auth/accounts', { email, password });
    assert.equal(answer.status, 202, answer.text);
  }

  verifyEmail(code: string, password = goodPassword): Promise<Answered> {
    return this.post('/auth/accounts/verify', { code, password });
  }

  /** @returns the one-time code in the next mail to the email address */
  async nextCode(to: string, subject: string | RegExp): Promise<string> {
    return codeIn(await this.mailbox.next({ to, subject }));
  }

  verificationCode(to: string): Promise<string> {
    return this.nextCode(to, 'Confirm your email address');
  }

  async resetCode(email: string): Promise<string> {
    const answer = await this.post('/auth/password-resets', { email });
    assert.equal(answer.status, 202, answer.text);
    return this.nextCode(email, 'Set a new password');
  }

  confirmReset(code: string, password = otherPassword, more: object = {}): Promise<Answered> {
    return this.post('/auth/password-resets/confirm', { code, password, ...more });
  }

  /** Signs up, verifies the email address and signs in. */
  async newAccount(email: string, password = goodPassword): Promise<Tokens> {
    await this.signUp(email, password);
    const answer = await this.verifyEmail(await this.verificationCode(email), password);
    assert.equal(answer.status, 200, answer.text);
    return this.signIn(email, password);
  }

  trySignIn(email: string, password = goodPassword): Promise<Answered> {
    return this.app.call('POST', '/auth/token', { headers: basic(email, password) });
  }

  async signIn(email: string, password = goodPassword): Promise<Tokens> {
    const answer = await this.trySignIn(email, password);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as Tokens;
  }

  /** Requests another email address for the account. @returns the code that is sent to that email address */
  async requestEmailChange(tokens: Tokens, email: string, currentPassword = goodPassword): Promise<string> {
    const answer = await this.as(tokens, 'PUT', '/auth/account/email', { email, currentPassword });
    assert.equal(answer.status, 202, answer.text);
    return this.nextCode(email, 'Confirm your new email');
  }

  confirmEmailChange(code: string, password = goodPassword): Promise<Answered> {
    return this.post('/auth/account/email/confirm', { code, password });
  }

  async createKey(tokens: Tokens, nickname = 'a key'): Promise<{ id: number; key: string }> {
    const answer = await this.as(tokens, 'POST', '/auth/api-keys', { nickname });
    assert.equal(answer.status, 201, answer.text);
    return answer.json as { id: number; key: string };
  }

  async isSignedIn(tokens: Tokens): Promise<boolean> {
    return (await this.as(tokens, 'GET', '/auth/account')).status === 200;
  }

  async isKeyAccepted(key: string): Promise<boolean> {
    return (await this.app.call('GET', '/auth/forward', { headers: bearer(key) })).status === 200;
  }

  /** Enrols a second factor. @returns its secret */
  async enrol(tokens: Tokens, currentPassword = goodPassword): Promise<string> {
    const path = '/auth/account/second-factor';
    const begun = await this.as(tokens, 'POST', path, { currentPassword });
    assert.equal(begun.status, 201, begun.text);
    const { secret } = begun.json as { secret: string };
    const code = codeAt(secret, this.app.clock.now());
    const confirmed = await this.as(tokens, 'POST', `${path}/confirm`, { code });
    assert.equal(confirmed.status, 200, confirmed.text);
    return secret;
  }

  /** Waits until every job is done, so that every mail has been delivered. */
  async untilOutboxEmpty(): Promise<void> {
    await awaited('the outbox is empty', async (signal) => {
      while ((await countJobs(this.app.db, 1)).length > 0) {
        signal.throwIfAborted();
        this.app.service.services.outbox.pollSoon();
        await turn();
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app[Symbol.asyncDispose]();
    await this.mailbox[Symbol.asyncDispose]();
  }
}

/** @param areRequestsLimited false if the test requests mail more often than the rate limits allow */
export async function newAccountClient(
  environment: Readonly<Record<string, string>> = {},
  areRequestsLimited = true,
): Promise<AccountClient> {
  const mailbox = await Mailbox.start();
  const app = await newApp({
    clock: new FakeClock(),
    areRequestsLimited,
    environment: { KEYREEVE_SIGNUP: 'open', ...environment, ...mailbox.environment },
  }).catch(async (error: unknown) => {
    await mailbox[Symbol.asyncDispose]();
    throw error;
  });
  return new AccountClient(app, mailbox);
}

export const assertRejected = (answer: Answered, code: ErrorCode, what = ''): void =>
  void assertProblem(fromFetch(answer), code, what);
