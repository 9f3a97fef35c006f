/** Requests in progress: bounded per access token, account and client IP range, and counted only while they last. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request, type ClientRequest, type Server } from 'node:http';
import { mock } from 'node:test';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { DomainError } from '../../foundation/errors.ts';
import { AccountTurns } from '../account-turns.ts';
import { RequestGate } from '../request-gate.ts';
import { countBodies } from '../../../test-kit/begun-bodies.ts';
import { holdLists, holdSessionLists } from '../../../test-kit/held-lists.ts';
import { basic, bearer, goodPassword, newApp, type SignedIn, type TestApp } from '../../../test-kit/new-app.ts';
import { until } from '../../../test-kit/until.ts';
import { assertProblem, fromFetch } from '../../../test-kit/assert-problem.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const requestBounds = { credential: 3, account: 4, range: 64 };

const list = (app: TestApp, accessToken: string) => app.call('GET', '/auth/sessions', { headers: bearer(accessToken) });
const listKeys = (app: TestApp, token: string) => app.call('GET', '/auth/api-keys', { headers: bearer(token) });
const read = (app: TestApp, accessToken: string) => app.call('GET', '/auth/account', { headers: bearer(accessToken) });

/** @returns an access token of a new session */
async function signInAgain(app: TestApp, { account }: SignedIn): Promise<string> {
  const answer = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
  return (answer.json as { accessToken: string }).accessToken;
}

test('requests beyond the bound of a token are rejected, those of another account are not', async () => {
  await using app = await newApp({ requestBounds });
  const [user, other] = [await app.signIn(), await app.signIn()];
  using lists = holdSessionLists(app);
  const held = [];
  for (let n = 0; n < requestBounds.credential; n++) held.push(await lists.begin(() => list(app, user.accessToken)));
  const refused = await read(app, user.accessToken);
  assertProblem(fromFetch(refused), 'too_many_in_progress');
  assert.equal(refused.headers.get('retry-after'), '1');
  assert.equal((await read(app, other.accessToken)).status, 200);
  lists.finish();
  for (const { answer } of held) assert.equal((await answer).status, 200);
  assert.equal((await read(app, user.accessToken)).status, 200);
});

test('requests beyond the bound of an account are rejected, in all of its sessions', async () => {
  await using app = await newApp({ requestBounds });
  const user = await app.signIn();
  const sessions = [await signInAgain(app, user), await signInAgain(app, user)];
  using lists = holdSessionLists(app);
  const held = [];
  for (let n = 0; n < requestBounds.account; n++) held.push(await lists.begin(() => list(app, sessions[n % 2] ?? '')));
  assertProblem(fromFetch(await read(app, user.accessToken)), 'too_many_in_progress');
  // A change that removes rights has places of its own.
  assert.equal((await app.call('DELETE', '/auth/sessions', { headers: bearer(user.accessToken) })).status, 200);
  lists.finish();
  for (const { answer } of held) assert.equal((await answer).status, 200);
  assert.equal((await read(app, user.accessToken)).status, 200);
});

/** Requests whose bodies never arrive. */
async function sendSlowly(app: TestApp, accessToken: string, count: number): Promise<readonly ClientRequest[]> {
  const headers = { ...bearer(accessToken), 'content-type': 'application/json', 'content-length': 100 };
  using bodies = countBodies();
  const held = Array.from({ length: count }, () => {
    const sent = request(new URL('/auth/api-keys', app.url), { method: 'POST', headers, agent: false });
    sent.on('error', () => undefined);
    sent.flushHeaders();
    return sent;
  });
  await until('the bodies have begun', () => bodies.begun === count);
  return held;
}

test('bodies that arrive slowly occupy no place of their token and account', async () => {
  await using app = await newApp({ requestBounds });
  const user = await app.signIn();
  const other = await signInAgain(app, user);
  const slow: ClientRequest[] = [];
  for (const token of [user.accessToken, user.accessToken, other])
    slow.push(...(await sendSlowly(app, token, requestBounds.credential)));
  for (const token of [user.accessToken, other]) {
    assert.equal((await read(app, token)).status, 200);
    const json = { nickname: 'arrives at once' };
    const created = await app.call('POST', '/auth/api-keys', { headers: bearer(token), json });
    assert.equal(created.status, 201);
    const { id } = created.json as { id: number };
    assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers: bearer(token) })).status, 200);
  }
  const json = { currentPassword: goodPassword, newPassword: 'another wombat in orbit' };
  const change = await app.call('PUT', '/auth/account/password', { headers: bearer(user.accessToken), json });
  assert.equal(change.status, 200);
  for (const sent of slow) sent.destroy();
});

/** Servers that get a request meanwhile wait for its end without `limits.requestTimeoutMs`, which a busy machine could exceed. */
function withoutRequestTimeout(): Disposable {
  const lift = (message: unknown): void => void ((message as { server: Server }).server.requestTimeout = 0);
  subscribe('http.server.request.start', lift);
  return { [Symbol.dispose]: () => unsubscribe('http.server.request.start', lift) };
}

test('a body that arrives at once is read although its session sends as many slow bodies as it may', async () => {
  await using app = await newApp();
  using _ = withoutRequestTimeout();
  const user = await app.signIn();
  const slow = await sendSlowly(app, user.accessToken, limits.unfinishedBodiesPerCredentialMax);
  // That whose body began first, which need not be the one that was sent first.
  const rejected = Promise.race(slow.map((sent) => once(sent, 'response') as Promise<[{ statusCode: number }]>));
  const headers = bearer(user.accessToken);
  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'arrives at once' } });
  assert.equal(created.status, 201);
  assert.equal((await rejected)[0].statusCode, 429);
  for (const sent of slow) sent.destroy();
});

test('sessions of an account take turns with changes that remove rights', async () => {
  const ofThief = limits.removalsPerAccountMax + requestBounds.credential;
  await using app = await newApp({ requestBounds: { ...requestBounds, credential: ofThief } });
  const owner = await app.signIn();
  const thief = await signInAgain(app, owner);
  const { apiKeys } = app.service.services;
  const remove = apiKeys.delete.bind(apiKeys);
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const slow = mock.method(apiKeys, 'delete', async (...[principal, ...rest]: Parameters<typeof remove>) => {
    if (principal.kind === 'account') order.push(principal.sessionId);
    await promise;
    return remove(principal, ...rest);
  });
  const headers = bearer(owner.accessToken);
  const { json } = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'stolen' } });
  const turns = mock.method(AccountTurns.prototype, 'begin');
  const deletions = Array.from({ length: ofThief }, () =>
    app.call('DELETE', '/auth/api-keys/1000000', { headers: bearer(thief) }),
  );
  await until('the requests of the thief run or wait', () => turns.mock.callCount() === ofThief);
  const deletion = app.call('DELETE', `/auth/api-keys/${(json as { id: number }).id}`, { headers });
  await until('the deletion of the owner waits', () => turns.mock.callCount() === ofThief + 1);
  assert.equal(order.length, limits.removalsPerAccountMax);
  resolve();
  assert.equal((await deletion).status, 200);
  await Promise.all(deletions);
  const turnOfOwner = order.findIndex((session) => session !== order[0]);
  assert.ok(turnOfOwner <= limits.removalsPerAccountMax + 1, `${turnOfOwner} of the thief were before it`);
  slow.mock.restore();
  turns.mock.restore();
});

test('accounts take turns with reads of many rows, and one account has some of the places', async () => {
  await using app = await newApp();
  const [user, other] = [await app.signIn(), await app.signIn()];
  using lists = holdLists(app);
  const own = Array.from({ length: limits.expensiveReadsPerAccountMax + 2 }, () => listKeys(app, user.accessToken));
  await until('the account has its places', () => lists.begun.length === limits.expensiveReadsPerAccountMax);
  // Reads of few rows do not wait.
  assert.equal((await read(app, user.accessToken)).status, 200);
  const { answer } = await lists.begin(() => listKeys(app, other.accessToken));
  assert.equal(lists.begun.at(-1), other.account.id);
  lists.finish();
  for (const of of [...own, answer]) assert.equal((await of).status, 200);
  assert.equal(lists.begun.length, own.length + 1);
});

test('a request releases its slots once, the bound is exact, and each class of work has its own', () => {
  const gate = new RequestGate();
  const slots = Array.from({ length: limits.requestsPerRangeMax }, () => gate.newRequest());
  for (const held of slots) held.acquire('range', '192.0.2.1/32');
  const next = gate.newRequest();
  const acquire = (): void => next.acquire('range', '192.0.2.1/32');
  const isRejected = (error: unknown): boolean =>
    error instanceof DomainError && error.code === ('too_many_in_progress' satisfies ErrorCode);
  assert.throws(acquire, isRejected);
  gate.newRequest('narrowing').acquire('range', '192.0.2.1/32');
  next.acquire('range', '192.0.2.2/32');
  next.release();
  slots[0]?.release();
  slots[0]?.release();
  acquire();
  assert.throws(() => gate.newRequest().acquire('range', '192.0.2.1/32'), isRejected);
});
