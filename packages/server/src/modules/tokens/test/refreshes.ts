/** Refreshes and sign-outs over HTTP, and how the service rejects an ended session. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { checksum, toBase62 } from '../../../foundation/crypto/secret.ts';
import {
  basic,
  bearer,
  goodPassword,
  type Answered,
  type SignedIn,
  type TestApp,
} from '../../../../test-kit/new-app.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

export type Pair = Pick<SignedIn, 'accessToken' | 'refreshToken'>;

export const refresh = (app: TestApp, refreshToken: string): Promise<Answered> =>
  app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
export const signOut = (app: TestApp, refreshToken: string): Promise<Answered> =>
  app.call('POST', '/auth/token/revoke', { json: { refreshToken } });
export const list = (app: TestApp, accessToken: string): Promise<Answered> =>
  app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) });

/** Asserts that the refresh returns a token pair. */
export async function refreshed(app: TestApp, refreshToken: string): Promise<Pair> {
  const answer = await whenAvailable(() => refresh(app, refreshToken));
  assert.equal(answer.status, 200);
  assert.deepEqual(Object.keys(answer.json as object).toSorted(), ['accessToken', 'refreshToken']);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return answer.json as Pair;
}

/** {@link refreshed} when the token is old enough to be replaced. */
export async function rotated(app: TestApp, refreshToken: string): Promise<Pair> {
  app.clock.advance({ seconds: limits.refreshReuseSeconds });
  const pair = await refreshed(app, refreshToken);
  assert.notEqual(pair.refreshToken, refreshToken);
  return pair;
}

export function assertRejected(answer: Answered, code: string, what = code): void {
  assert.equal(answer.status, 401, what);
  assert.equal((answer.json as { code: string }).code, code, what);
  assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="keyreeve"/, what);
}

export async function signInAgain(app: TestApp, email: string): Promise<Pair> {
  const answer = await app.call('POST', '/auth/token', { headers: basic(email, goodPassword) });
  assert.equal(answer.status, 200);
  return answer.json as Pair;
}

/** A refresh token: the body with the right prefix and checksum. */
export function token(body: Uint8Array): string {
  const unchecked = `krvr_${toBase62(body, 92)}`;
  return unchecked + checksum(unchecked);
}
