/** A service with environments, for tests of verifications. */
import assert from 'node:assert/strict';
import type { CreatedKey, VerifyResult } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type TestAppOptions } from '../../../../test-kit/new-app.ts';

export const liveAndTest = { KEYREEVE_ENVIRONMENTS: 'live:acme_live,test:acme_test' };

let owners = 0;

export async function withEnvironments(environment: Readonly<Record<string, string>>, place?: TestAppOptions['place']) {
  const app = await newApp({ environment, ...(place ? { place } : {}) });
  const { account, accessToken } = await app.signIn(`owner${++owners}@example.com`);
  const verifier = { nickname: 'verifier', scopes: ['keyreeve:verify'] };
  const { secret } = await app.service.services.apiKeys.create(operator, account.id, verifier);
  const service = bearer(secret.reveal());
  const headers = bearer(accessToken);
  const tryCreate = (nickname: string, more: object = {}) =>
    app.call('POST', '/auth/api-keys', { headers, json: { nickname, ...more } });
  const create = async (nickname: string, more: object = {}): Promise<CreatedKey> => {
    const answer = await tryCreate(nickname, more);
    assert.equal(answer.status, 201, answer.text);
    return answer.json as CreatedKey;
  };
  const tryVerify = (credential: string, more: object = {}) =>
    app.call('POST', '/auth/verify', { headers: service, json: { credential, ...more } });
  const verify = async (credential: string, more: object = {}): Promise<VerifyResult> => {
    const answer = await tryVerify(credential, more);
    assert.equal(answer.status, 200, answer.text);
    return answer.json as VerifyResult;
  };
  const outcomeOf = async (credential: string, more: object = {}): Promise<string> => {
    const result = await verify(credential, more);
    return result.valid ? `valid ${result.environment ?? ''}`.trim() : result.code;
  };
  /** The status, and the environment of an accepted credential. */
  const forward = async (credential: string, query = ''): Promise<readonly [number, string | null]> => {
    const answer = await app.call('GET', `/auth/forward${query}`, { headers: bearer(credential) });
    if (answer.status === 403) assertRejected(answer, 'wrong_environment');
    return [answer.status, answer.headers.get('x-keyreeve-environment')];
  };
  const introspect = async (token: string): Promise<boolean> => {
    const form = { ...service, 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await app.call('POST', '/auth/introspect', { headers: form, body: `token=${token}` });
    return (answer.json as { active: boolean }).active;
  };
  const made = {
    app,
    service,
    headers,
    accessToken,
    tryCreate,
    create,
    tryVerify,
    verify,
    outcomeOf,
    forward,
    introspect,
  };
  return { ...made, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}
