/** Requests in progress: bounded per access token, account and client IP range, and counted only while they last. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type ClientRequest } from 'node:http';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { RequestGate } from '../request-gate.ts';
import { countAcquired } from '../../../test-kit/acquired-slots.ts';
import { basic, bearer, goodPassword, newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { until } from '../../../test-kit/until.ts';
import { assertProblem, fromFetch } from '../../../test-kit/assert-problem.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

/** Small, so that all requests are in progress before the first one times out. */
const requestBounds = { credential: 3, account: 4, range: 64 };

/** Requests in progress whose bodies never arrive. */
async function hold(app: TestApp, accessToken: string, count: number): Promise<readonly ClientRequest[]> {
  const headers = {
    ...bearer(accessToken),
    'content-type': 'application/json',
    'content-length': 100,
    expect: '100-continue',
  };
  const held = Array.from({ length: count }, () => {
    const sent = request(new URL('/auth/api-keys', app.url), { method: 'POST', headers, agent: false });
    sent.on('error', () => undefined);
    sent.flushHeaders();
    return sent;
  });
  // The response 100 arrives after the server has started the request.
  await Promise.all(held.map((sent) => once(sent, 'continue')));
  return held;
}

const list = (app: TestApp, accessToken: string) => app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) });

test('requests beyond the bound of a token are rejected, those of another account are not', async () => {
  await using app = await newApp({ requestBounds });
  const [user, other] = [await app.signIn(), await app.signIn()];
  const held = await hold(app, user.accessToken, requestBounds.credential);
  const refused = await list(app, user.accessToken);
  assertProblem(fromFetch(refused), 'too_many_in_progress');
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await list(app, other.accessToken)).status, 200);
  for (const sent of held) sent.destroy();
  await until('the token is free again', async () => (await list(app, user.accessToken)).status === 200);
});

test('requests beyond the bound of an account are rejected, in all of its sessions', async () => {
  await using app = await newApp({ requestBounds });
  const user = await app.signIn();
  const again = async (): Promise<string> => {
    const answer = await app.call('POST', '/auth/token', { headers: basic(user.account.email, goodPassword) });
    return (answer.json as { accessToken: string }).accessToken;
  };
  const sessions = [await again(), await again()];
  const third = await again();
  using acquired = countAcquired();
  const held: ClientRequest[] = [];
  for (const session of sessions) held.push(...(await hold(app, session, requestBounds.account / 2)));
  // They count for the account once their tokens have been verified.
  const name = user.account.id;
  await until('the account is full', () => acquired.count('account', name) === requestBounds.account);
  assertProblem(fromFetch(await list(app, third)), 'too_many_in_progress');
  for (const sent of held) sent.destroy();
  await until('the account is free again', async () => (await list(app, third)).status === 200);
});

test('a request releases its slots once, and the bound is exact', () => {
  const gate = new RequestGate();
  const slots = Array.from({ length: limits.requestsPerRangeMax }, () => gate.newRequest());
  for (const held of slots) held.acquire('range', '192.0.2.1/32');
  const next = gate.newRequest();
  const acquire = (): void => next.acquire('range', '192.0.2.1/32');
  const isRejected = (error: unknown): boolean =>
    error instanceof DomainError && error.code === ('too_many_in_progress' satisfies ErrorCode);
  assert.throws(acquire, isRejected);
  next.acquire('range', '192.0.2.2/32');
  next.release();
  slots[0]?.release();
  slots[0]?.release();
  acquire();
  assert.throws(() => gate.newRequest().acquire('range', '192.0.2.1/32'), isRejected);
});
