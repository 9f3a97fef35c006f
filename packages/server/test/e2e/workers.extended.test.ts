/** Several workers: the guarantees beside those of workers.test.ts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testOnBoth } from '../../test-kit/app-on-each-database.ts';
import { limits } from '@keyreeve/contract';
import { databaseUrl } from '../../src/app/configuration/config-values.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import { sql } from '../../src/foundation/database/sql.ts';
import { ageSessions } from '../../test-kit/age-sessions.ts';
import { testKeys } from '../../test-kit/new-db.ts';
import { until } from '../../test-kit/until.ts';
import { Connection, connectionsTo, withDatabase } from './worker-pool.ts';
import { basic, bearer, databaseIn, goodPassword, newProgram, type Program } from './program.ts';

const touch = sql('test_touch_sessions', 'update sessions set rotated_at = rotated_at');

testOnBoth(
  'a refresh whose response was lost at one worker succeeds at another one after the grace period',
  withDatabase(async (onDatabase) => {
    await using program = await newProgram({
      ...onDatabase,
      KEYREEVE_WORKERS: '2',
      KEYREEVE_REFRESH_GRACE_SECONDS: '2',
    });
    const { refreshToken: lost } = await program.signIn();
    const url = program.environment['KEYREEVE_DATABASE_URL'] ?? `sqlite:${databaseIn(program.folder)}`;
    const signedIn = await program.call('POST', '/auth/token', basic('you@example.com', goodPassword));
    const { refreshToken: control } = signedIn.json as { refreshToken: string };
    await ageSessions(url);
    const [first, second] = await connectionsTo(program);
    const besideFirst = await Connection.to(program, first.worker);
    const refresh = (connection: Connection | Program, refreshToken: string) =>
      connection.call('POST', '/auth/token/refresh', {}, { refreshToken });

    const db = await openDatabase(databaseUrl(url), testKeys.auditChain);
    try {
      // The worker processes requests in the order in which they arrive, and the rotation waits for this transaction.
      await db.transaction(async (tx) => {
        await tx.run(touch);
        await first.leave('/auth/token/refresh', { refreshToken: lost }, () => besideFirst.call('GET', '/health/live'));
      });
    } finally {
      await db.close();
    }
    // This refresh is later than the lost one, so its grace period ends later.
    assert.equal((await refresh(second, control)).status, 200);
    await until('the grace period has ended', async () => (await refresh(program, control)).status === 401);

    const found = await refresh(second, lost);
    assert.equal(found.status, 200, found.text);
    const again = await refresh(besideFirst, lost);
    const successorOf = ({ json }: { json: unknown }) => (json as { refreshToken: string }).refreshToken;
    assert.equal(successorOf(again), successorOf(found));
    assert.notEqual(successorOf(found), lost);
    for (const it of [second, besideFirst]) it[Symbol.dispose]();
  }),
);

async function verify(connection: Connection, key: string, times: number): Promise<void> {
  for (let count = 0; count < times; count++) await connection.call('GET', '/auth/forward', bearer(key));
}

test('a connection closes after a fixed number of requests, with the response to the last one', async () => {
  await using program = await newProgram({ KEYREEVE_WORKERS: '2' });
  const { key } = await program.newKey();
  const [first, second] = await connectionsTo(program);
  // `Connection.to` has sent one request.
  await verify(first, key, limits.requestsPerSharedConnectionMax - 2);
  assert.equal(first.isOver, false);
  assert.equal((await first.call('GET', '/auth/forward', bearer(key))).status, 200);
  assert.equal(first.isOver, true);
  for (const it of [first, second]) it[Symbol.dispose]();
});
