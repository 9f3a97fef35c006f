/** The list of an account's sessions, and ending them (ASVS 5.0 7.4.5, 7.5.2). */
import assert from 'node:assert/strict';
import { toInstant } from '../../../foundation/clock.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import {
  basic,
  bearer,
  goodPassword,
  newApp,
  type Answered,
  type SignedIn,
  type TestApp,
} from '../../../../test-kit/new-app.ts';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

interface Listed {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  readonly clientIp: string;
  readonly userAgent: string;
  readonly current: boolean;
}

const as = (app: TestApp, { accessToken }: { accessToken: string }, method: string, path: string): Promise<Answered> =>
  app.call(method, path, { headers: bearer(accessToken) });

async function list(app: TestApp, user: { accessToken: string }): Promise<Listed[]> {
  const answer = await as(app, user, 'GET', '/auth/sessions');
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as { sessions: Listed[] }).sessions;
}

async function signIn(app: TestApp, email: string, headers: Readonly<Record<string, string>> = {}): Promise<SignedIn> {
  const answer = await app.call('POST', '/auth/token', { headers: { ...basic(email, goodPassword), ...headers } });
  assert.equal(answer.status, 200, answer.text);
  return answer.json as SignedIn;
}

const currentId = async (app: TestApp, user: { accessToken: string }): Promise<string> =>
  (await list(app, user)).find(({ current }) => current)?.id ?? '';

test(
  'the list shows time, client IP and user agent of each session, newest first',
  { tags: ['asvs:7.5.2'] },
  async () => {
    await using app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' } });
    const { email } = await app.createAccount('ada@example.com');
    const begun = app.clock.now();
    const phone = await signIn(app, email, { 'user-agent': 'Phone/1.0', 'x-forwarded-for': '198.51.100.7' });
    app.clock.advance({ seconds: 60 });
    const laptop = await signIn(app, email, {
      'user-agent': 'Laptop/2.0 (a\u0085b\tc)',
      'x-forwarded-for': '2001:db8::7',
    });
    app.clock.advance({ seconds: 60 });
    await app.call('POST', '/auth/token/refresh', { json: { refreshToken: phone.refreshToken } });
    const at = (seconds: number): string => toInstant(begun + seconds * 1000);
    const fortnight = 14 * 86_400;
    const [first, second, ...others] = await list(app, laptop);
    assert.deepEqual(others, []);
    assert.ok(first && second);
    const { id: laptopId, ...newest } = first;
    const { id: phoneId, ...oldest } = second;
    assert.deepEqual(newest, {
      createdAt: at(60),
      lastUsedAt: at(60),
      expiresAt: at(60 + fortnight),
      clientIp: '2001:db8::7',
      userAgent: 'Laptop/2.0 (abc)',
      current: true,
    });
    assert.deepEqual(oldest, {
      createdAt: at(0),
      lastUsedAt: at(120),
      expiresAt: at(120 + fortnight),
      clientIp: '198.51.100.7',
      userAgent: 'Phone/1.0',
      current: false,
    });
    assert.notEqual(laptopId, phoneId);
  },
);

test('a long user agent is truncated, and a missing one is an empty string', async () => {
  await using app = await newApp();
  const { email } = await app.createAccount();
  await signIn(app, email, { 'user-agent': 'x'.repeat(4_000) });
  const user = await signIn(app, email, { 'user-agent': '' });
  assert.deepEqual(
    (await list(app, user)).map(({ userAgent }) => userAgent.length).toSorted((a, b) => a - b),
    [0, 256],
  );
});

test('the list contains only the account’s own sessions that have not ended', async () => {
  await using app = await newApp();
  const ada = await app.signIn();
  const bob = await app.signIn();
  await app.call('POST', '/auth/token/revoke', {
    json: { refreshToken: (await signIn(app, ada.account.email)).refreshToken },
  });
  assert.equal((await list(app, ada)).length, 1);
  assert.equal((await list(app, bob)).length, 1);
  app.clock.advance({ days: 14 });
  assert.equal((await list(app, await signIn(app, ada.account.email))).length, 1, 'the idle session has ended');
});

test(
  'ending a session revokes its tokens immediately, and no others',
  { tags: ['asvs:7.5.2', 'asvs:10.4.9'] },
  async () => {
    await using app = await newApp();
    const user = await app.signIn();
    const other = await signIn(app, user.account.email);
    const id = await currentId(app, other);
    const answer = await as(app, user, 'DELETE', `/auth/sessions/${id}`);
    assert.deepEqual([answer.status, answer.text], [204, '']);
    assertRejected(await as(app, other, 'GET', '/auth/sessions'), 'invalid_access_token');
    assertRejected(
      await app.call('GET', '/auth/forward', { headers: bearer(other.accessToken) }),
      'invalid_credential',
    );
    const { refreshToken } = other;
    assertRejected(await app.call('POST', '/auth/token/refresh', { json: { refreshToken } }), 'invalid_refresh_token');
    assertRejected(await as(app, user, 'DELETE', `/auth/sessions/${id}`), 'session_not_found');
    assert.equal((await list(app, user)).length, 1);
    const last = (await listAuditEvents(app.db)).at(-1);
    assert.deepEqual([last?.action, last?.actor, last?.target], ['session.ended', `account:${user.account.id}`, id]);
  },
);

test('a session can end itself', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  assert.equal((await as(app, user, 'DELETE', `/auth/sessions/${await currentId(app, user)}`)).status, 204);
  assertRejected(await as(app, user, 'GET', '/auth/sessions'), 'invalid_access_token');
});

test(
  'an account cannot end a session of another account, or one that does not exist',
  { tags: ['asvs:8.2.2'] },
  async () => {
    await using app = await newApp();
    const ada = await app.signIn();
    const bob = await app.signIn();
    for (const id of [await currentId(app, bob), 'ses_unknown', '%00', 'x'.repeat(500)])
      assertRejected(await as(app, ada, 'DELETE', `/auth/sessions/${id}`), 'session_not_found');
    assert.equal((await list(app, bob)).length, 1);
  },
);

test('ending all other sessions records one audit event for each', { tags: ['asvs:7.5.2'] }, async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const others = [await signIn(app, user.account.email), await signIn(app, user.account.email)];
  const bob = await app.signIn();
  const answer = await as(app, user, 'DELETE', '/auth/sessions');
  assert.deepEqual([answer.status, answer.json], [200, { ended: 2 }]);
  for (const other of others) assertRejected(await as(app, other, 'GET', '/auth/sessions'), 'invalid_access_token');
  assert.equal((await list(app, user)).length, 1);
  assert.equal((await list(app, bob)).length, 1);
  const { refreshToken } = user;
  assert.equal((await app.call('POST', '/auth/token/refresh', { json: { refreshToken } })).status, 200);
  const ended = (await listAuditEvents(app.db)).filter(({ action }) => action === 'session.ended');
  assert.equal(ended.length, 2);
  assert.deepEqual((await as(app, user, 'DELETE', '/auth/sessions')).json, { ended: 0 });
});

testOnBoth('one session remains and works if sixteen concurrently end all others', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const all = [user];
  for (let n = 1; n < 16; n++) all.push({ ...user, ...(await signIn(app, user.account.email)) });
  const answers = await Promise.all(all.map((one) => whenAvailable(() => as(app, one, 'DELETE', '/auth/sessions'))));
  const winners = all.filter((_, index) => answers[index]?.status === 200);
  assert.equal(winners.length, 1);
  assert.deepEqual(answers.find(({ status }) => status === 200)?.json, { ended: 15 });
  assert.equal((await list(app, winners[0] ?? user)).length, 1);
});

test('only an access token can list and end sessions', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const key = await app.serviceKey();
  for (const [method, path] of [
    ['GET', '/auth/sessions'],
    ['DELETE', '/auth/sessions'],
    ['DELETE', '/auth/sessions/ses_x'],
  ] as const) {
    assertRejected(await app.call(method, path), 'missing_access_token');
    for (const text of [key, user.refreshToken, 'nonsense'])
      assertRejected(await app.call(method, path, { headers: bearer(text) }), 'invalid_access_token');
  }
});
