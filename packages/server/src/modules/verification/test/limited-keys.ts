/** Keys with limits, for the tests of their verification. */
import assert from 'node:assert/strict';
import type { BatchResult, CreatedKey, KeyLimits, VerifyResult } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { bearer, newApp, type Answered } from '../../../../test-kit/new-app.ts';

export const form = { 'content-type': 'application/x-www-form-urlencoded' };
const setAccountLimits = sql('set_account_limits_in_test', 'update accounts set limits = $2 where id = $1');

export const once: KeyLimits = { quota: { limit: 1, per: 'day' } };
export const quota = (limit: number): KeyLimits => ({ quota: { limit, per: 'day' } });
export const perMinute = (limit: number): KeyLimits => ({ rate: { limit, windowSeconds: 60 } });

export async function fixture() {
  const app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' } });
  const service = bearer(await app.serviceKey());
  const signedIn = await app.signIn();
  const owner = bearer(signedIn.accessToken);
  const create = async (nickname: string, limits: KeyLimits | null, more: object = {}): Promise<CreatedKey> => {
    const json = { nickname, ...(limits && { limits }), ...more };
    const answer = await app.call('POST', '/auth/api-keys', { headers: owner, json });
    assert.equal(answer.status, 201, answer.text);
    return answer.json as CreatedKey;
  };
  /** In canonical form. */
  const limitAccount = (limits: object): Promise<unknown> =>
    app.db.transaction((tx) => tx.run(setAccountLimits, [signedIn.account.id, JSON.stringify(limits)]));
  const verify = async (credential: string, more: object = {}): Promise<VerifyResult> => {
    const answer = await app.call('POST', '/auth/verify', { headers: service, json: { credential, ...more } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json as VerifyResult;
  };
  const batch = async (questions: readonly object[]): Promise<BatchResult[]> => {
    const answer = await app.call('POST', '/auth/verify/batch', { headers: service, json: { questions } });
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as { results: BatchResult[] }).results;
  };
  const introspect = async (token: string): Promise<unknown> => {
    const headers = { ...service, ...form };
    return (await app.call('POST', '/auth/introspect', { headers, body: `token=${token}` })).json;
  };
  const forward = (credential: string, query = '', headers: Readonly<Record<string, string>> = {}): Promise<Answered> =>
    app.call('GET', `/auth/forward${query}`, { headers: { ...bearer(credential), ...headers } });
  const at = { app, service, ...signedIn, owner, create, limitAccount, verify, batch, introspect, forward };
  return { ...at, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

export const codeOf = (result: BatchResult): string => (result.valid ? 'valid' : result.code);
