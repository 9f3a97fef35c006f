/** On PostgreSQL with a standby that commits wait for: a negative answer, too, follows the standby's confirmation. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { ErrorCode } from '@keyreeve/contract';
import { sql } from '../sql.ts';
import { bearer, newApp, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { PostgresDatabases } from '../../../../test-kit/postgres/databases.ts';
import { PostgresServer } from '../../../../test-kit/postgres/server.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { until } from '../../../../test/revocation-check/until.ts';

const waitMsMax = 20_000;
/** Each takes a few milliseconds: together far less than the wait after which the program returns 503. */
const readsWhileWaiting = 5;
const rows = sql<{ count: number }>(
  'test_count_rows',
  'select (select count(*) from api_keys) + (select count(*) from sessions) as count',
);

interface Fixture {
  readonly app: TestApp;
  readonly standby: PostgresServer;
  /** How many commits wait for the standby now. */
  readonly commitsWaiting: () => Promise<number>;
}

async function withStandby(prove: (fixture: Fixture) => Promise<void>): Promise<void> {
  await using primary = await PostgresServer.start();
  await using standby = await PostgresServer.startStandbyOf(primary);
  const { url } = await primary.createDatabase();
  const masterKey = randomBytes(32).toString('base64url');
  const environment = { KEYREEVE_DATABASE_URL: url, KEYREEVE_MASTER_KEY: masterKey };
  await using app = await newApp({
    place: { kind: 'postgres', url, environment, [Symbol.asyncDispose]: () => Promise.resolve() },
  });
  const databases = new PostgresDatabases(url);
  const waiting = `select from pg_stat_activity where wait_event = 'SyncRep'`;
  await prove({ app, standby, commitsWaiting: async () => (await databases.all(waiting)).length });
}

/** A request, and its answer once there is one. */
class Asked {
  readonly answer: Promise<Answered>;
  isAnswered = false;

  constructor(answer: Promise<Answered>) {
    this.answer = answer.finally(() => (this.isAnswered = true));
    // It may fail before it is awaited, when an assertion has ended the test.
    this.answer.catch(() => undefined);
  }
}

/**
 * Sends requests while the standby is stopped: none is answered until it continues, and then each as expected.
 * @param commitsMax that may wait for the standby at the same time
 */
async function assertWaits(
  { app, standby, commitsWaiting }: Fixture,
  accessToken: string,
  commitsMax: number,
  requests: readonly (readonly [ask: () => Promise<Answered>, expected: ErrorCode | 204])[],
): Promise<void> {
  const asked = requests.map(([ask]) => new Asked(ask()));
  try {
    await until('a commit waits for the standby', waitMsMax, async () => (await commitsWaiting()) > 0);
    for (let round = 0; round < readsWhileWaiting; round++) {
      const { status } = await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) });
      assert.equal(status, 200, 'a read waits for no standby');
      const waiting = await commitsWaiting();
      assert.ok(waiting >= 1 && waiting <= commitsMax, `${waiting} commits wait`);
      assert.ok(!asked.some(({ isAnswered }) => isAnswered), 'answered before the standby has confirmed');
    }
  } finally {
    standby.resume();
  }
  for (const [index, [, expected]] of requests.entries()) {
    const answer = await asked[index]?.answer;
    assert.ok(answer);
    if (expected === 204) assert.equal(answer.status, 204, answer.text);
    else assertProblem(fromFetch(answer), expected, `request ${index}`);
  }
}

const post = (app: TestApp, path: string, refreshToken: string): Promise<Answered> =>
  app.call('POST', `/auth/token/${path}`, { json: { refreshToken } });

async function newKey(app: TestApp, accessToken: string): Promise<number> {
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'key' } });
  assert.equal(created.status, 201, created.text);
  return (created.json as { id: number }).id;
}

test('while the standby is stopped, a request that changes nothing waits for one commit that all of them share', async () => {
  await withStandby(async (fixture) => {
    const { app, standby } = fixture;
    const [user, other, ended] = [await app.signIn(), await app.signIn(), await app.signIn()];
    const otherKey = await newKey(app, other.accessToken);
    assert.equal((await post(app, 'revoke', ended.refreshToken)).status, 204);
    const remove = (path: string) => () => app.call('DELETE', path, { headers: bearer(user.accessToken) });
    await standby.pause();
    await assertWaits(fixture, user.accessToken, 1, [
      [() => post(app, 'refresh', ended.refreshToken), 'invalid_refresh_token'],
      [() => post(app, 'revoke', ended.refreshToken), 204],
      [remove('/auth/api-keys/4711'), 'key_not_found'],
      [remove(`/auth/api-keys/${otherKey}`), 'not_key_owner'],
      [remove(`/auth/sessions/ses_${'0'.repeat(22)}`), 'session_not_found'],
      [() => post(app, 'refresh', ended.refreshToken), 'invalid_refresh_token'],
    ]);
  });
});

test('a change that only the primary has committed is confirmed to no second request before the standby has it', async () => {
  await withStandby(async (fixture) => {
    const { app, standby } = fixture;
    const [user, ended] = [await app.signIn(), await app.signIn()];
    const key = await newKey(app, user.accessToken);
    const remove = () => app.call('DELETE', `/auth/api-keys/${key}`, { headers: bearer(user.accessToken) });
    const revoke = () => post(app, 'revoke', ended.refreshToken);
    await standby.pause();
    for (const answer of await Promise.all([remove(), revoke()])) assertProblem(fromFetch(answer), 'unavailable');
    await until('the primary shows both', waitMsMax, async () => (await app.db.get(rows))?.count === 1);
    // Beside the shared one: the deletion of unknown outcome, which is tried until it is known to have happened.
    await assertWaits(fixture, user.accessToken, 2, [
      [remove, 'key_not_found'],
      [() => post(app, 'refresh', ended.refreshToken), 'invalid_refresh_token'],
      [revoke, 204],
    ]);
  });
});
