/**
 * SIGKILL between the approval of a program and its polls. KEYREEVE_TEST_ROUNDS is the number of kills for each database; 20 by
 * default.
 */
import { test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { assertOneKeyAfterKills } from './device-crash.ts';

const rounds = Number(process.env['KEYREEVE_TEST_ROUNDS'] ?? 20);
/** Of one installation: the watchdog ends a test after 15 minutes. */
const roundsPerTest = 100;

for (let before = 0; before < rounds; before += roundsPerTest) {
  const count = Math.min(roundsPerTest, rounds - before);
  const kills = `kills ${before + 1} to ${before + count}`;
  test(`after SIGKILL between an approval and its polls, there is one key, and no secret in a file (SQLite, ${kills})`, () =>
    assertOneKeyAfterKills(count));

  test(`after SIGKILL of one of two instances that poll, there is one key, and no secret in a file (PostgreSQL, ${kills})`, async () => {
    await using postgres = await PostgresServer.start({ durable: true });
    await assertOneKeyAfterKills(count, postgres);
  });
}
