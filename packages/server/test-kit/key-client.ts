/** An account with one key, for tests of changes of keys over HTTP. */
import assert from 'node:assert/strict';
import type { CreatedKey, ErrorCode, KeyDetails, RotatedKey } from '@keyreeve/contract';
import { assertProblem, fromFetch } from './assert-problem.ts';
import {
  basic,
  bearer,
  goodPassword,
  newApp,
  type Answered,
  type SignedIn,
  type TestApp,
  type TestAppOptions,
} from './new-app.ts';

export class KeyClient implements AsyncDisposable {
  readonly app: TestApp;
  user: SignedIn;
  readonly id: number;
  /** The secret that the creation returned. */
  readonly key: string;

  constructor(app: TestApp, user: SignedIn, { id, key }: CreatedKey) {
    this.app = app;
    this.user = user;
    this.id = id;
    this.key = key;
  }

  /** Sends a request to the key's path, with the account's access token. */
  send(method: string, path = '', json?: unknown, accessToken = this.user.accessToken): Promise<Answered> {
    const headers = bearer(accessToken);
    return this.app.call(
      method,
      `/auth/api-keys/${this.id}${path}`,
      json === undefined ? { headers } : { headers, json },
    );
  }

  /** Signs in again afterwards, because access tokens live for minutes. */
  async advance(seconds: number): Promise<void> {
    this.app.clock.advance({ seconds });
    const { account } = this.user;
    const pair = await this.app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
    this.user = { account, ...(pair.json as Pick<SignedIn, 'accessToken' | 'refreshToken'>) };
  }

  async read(): Promise<KeyDetails> {
    const answer = await this.send('GET');
    assert.equal(answer.status, 200, answer.text);
    return answer.json as KeyDetails;
  }

  async change(json: object): Promise<KeyDetails> {
    const answer = await this.send('PATCH', '', json);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as KeyDetails;
  }

  async rotate(json: object = {}): Promise<RotatedKey> {
    const answer = await this.send('POST', '/rotate', json);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as RotatedKey;
  }

  /** The status of a verification. */
  async statusOf(key: string): Promise<number> {
    return (await this.app.call('GET', '/auth/forward', { headers: bearer(key) })).status;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.app[Symbol.asyncDispose]();
  }
}

/** @param creation members of the creation, besides the nickname */
export async function newKeyClient(options: TestAppOptions = {}, creation: object = {}): Promise<KeyClient> {
  const app = await newApp(options);
  try {
    const user = await app.signIn();
    const json = { nickname: 'worker', ...creation };
    const created = await app.call('POST', '/auth/api-keys', { headers: bearer(user.accessToken), json });
    assert.equal(created.status, 201, created.text);
    return new KeyClient(app, user, created.json as CreatedKey);
  } catch (error) {
    await app[Symbol.asyncDispose]();
    throw error;
  }
}

/** @returns the pointers of the errors */
export function assertRejected(answer: Answered, code: ErrorCode, what = ''): string[] {
  const { errors = [] } = assertProblem(fromFetch(answer), code, what);
  return errors.map(({ pointer }) => pointer);
}
