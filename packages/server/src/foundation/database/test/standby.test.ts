/** PostgreSQL with a synchronous standby: responses to requests that change nothing also wait for the standby. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import type { ErrorCode } from '@keyreeve/contract';
import { sql } from '../sql.ts';
import { bearer, newApp, type Answered, type TestApp, type TestAppOptions } from '../../../../test-kit/new-app.ts';
import { PostgresServer } from '../../../../test-kit/postgres/server.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { until } from '../../../../test-kit/until.ts';

const readsWhileWaiting = 5;
const rows = sql<{ count: number }>(
  'test_count_rows',
  'select (select count(*) from api_keys) + (select count(*) from sessions) as count',
);
const commits = sql<{ waiting: number }>(
  'test_count_waiting_commits',
  `select count(*) as waiting from pg_stat_activity where wait_event = 'SyncRep'`,
);

interface Fixture {
  readonly app: TestApp;
  readonly standby: PostgresServer;
  /** Number of commits that wait for the standby. */
  readonly commitsWaiting: () => Promise<number>;
}

const primaries = PostgresServer.start();
const standbys = primaries.then((primary) => PostgresServer.startStandbyOf(primary));
after(async () => {
  await (await standbys)[Symbol.asyncDispose]();
  await (await primaries)[Symbol.asyncDispose]();
});

async function withStandby(
  prove: (fixture: Fixture) => Promise<void>,
  options: Pick<TestAppOptions, 'areWaitsShort'> = {},
): Promise<void> {
  const [primary, standby] = [await primaries, await standbys];
  const { url } = await primary.createDatabase();
  const masterKey = randomBytes(32).toString('base64url');
  const environment = { KEYREEVE_DATABASE_URL: url, KEYREEVE_MASTER_KEY: masterKey };
  await using app = await newApp({
    ...options,
    place: { kind: 'postgres', url, environment, [Symbol.asyncDispose]: () => Promise.resolve() },
  });
  await prove({ app, standby, commitsWaiting: async () => (await app.db.get(commits))?.waiting ?? 0 });
}

/** A request and its response. */
class PendingRequest {
  readonly response: Promise<Answered>;
  isComplete = false;

  constructor(response: Promise<Answered>) {
    this.response = response.finally(() => (this.isComplete = true));
    // It may fail before it is awaited, after an assertion has ended the test.
    this.response.catch(() => undefined);
  }
}

/**
 * Sends requests while the standby is stopped. Each must get its expected response, and only after the standby continues.
 * @param commitsMax maximum of commits that wait for the standby at the same time
 */
async function assertWaits(
  { app, standby, commitsWaiting }: Fixture,
  accessToken: string,
  commitsMax: number,
  requests: readonly (readonly [send: () => Promise<Answered>, expected: ErrorCode | 204])[],
): Promise<void> {
  const pending = requests.map(([send]) => new PendingRequest(send()));
  try {
    await until('a commit waits for the standby', async () => (await commitsWaiting()) > 0);
    for (let round = 0; round < readsWhileWaiting; round++) {
      const { status } = await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) });
      assert.equal(status, 200, 'a read does not wait for the standby');
      const waiting = await commitsWaiting();
      assert.ok(waiting >= 1 && waiting <= commitsMax, `${waiting} commits wait`);
      assert.ok(!pending.some(({ isComplete }) => isComplete), 'a response arrived before the standby continued');
    }
  } finally {
    standby.resume();
  }
  for (const [index, [, expected]] of requests.entries()) {
    const response = await pending[index]?.response;
    assert.ok(response);
    if (expected === 204) assert.equal(response.status, 204, response.text);
    else assertProblem(fromFetch(response), expected, `request ${index}`);
  }
}

const post = (app: TestApp, path: string, refreshToken: string): Promise<Answered> =>
  app.call('POST', `/auth/token/${path}`, { json: { refreshToken } });

async function newKey(app: TestApp, accessToken: string): Promise<number> {
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'key' } });
  assert.equal(created.status, 201, created.text);
  return (created.json as { id: number }).id;
}

test('while the standby is stopped, requests that change nothing wait for one shared commit', async () => {
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

test('a change that only the primary has committed is not confirmed to a second request before the standby has it', async () => {
  await withStandby(
    async (fixture) => {
      const { app, standby } = fixture;
      const [user, ended] = [await app.signIn(), await app.signIn()];
      const key = await newKey(app, user.accessToken);
      const remove = () => app.call('DELETE', `/auth/api-keys/${key}`, { headers: bearer(user.accessToken) });
      const revoke = () => post(app, 'revoke', ended.refreshToken);
      await standby.pause();
      for (const answer of await Promise.all([remove(), revoke()])) assertProblem(fromFetch(answer), 'unavailable');
      await until('the primary shows both', async () => (await app.db.get(rows))?.count === 1);
      // The second commit belongs to the deletion of unknown outcome, which is retried until it succeeds.
      await assertWaits(fixture, user.accessToken, 2, [
        [remove, 'key_not_found'],
        [() => post(app, 'refresh', ended.refreshToken), 'invalid_refresh_token'],
        [revoke, 204],
      ]);
    },
    { areWaitsShort: true },
  );
});
