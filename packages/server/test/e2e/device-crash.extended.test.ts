/**
 * SIGKILL between the approval of a program and its polls. KEYREEVE_TEST_ROUNDS is the number of kills for each database; 20 by
 * default.
 */
import { test } from 'node:test';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { assertOneKeyAfterKills } from './device-crash.ts';

const rounds = Number(process.env['KEYREEVE_TEST_ROUNDS'] ?? 20);

test(`after SIGKILL between an approval and its polls, there is one key, and no secret in a file (${rounds} kills, SQLite)`, () =>
  assertOneKeyAfterKills(rounds));

test(`after SIGKILL of one of two instances that poll, there is one key, and no secret in a file (${rounds} kills, PostgreSQL)`, async () => {
  await using postgres = await PostgresServer.start({ durable: true });
  await assertOneKeyAfterKills(rounds, postgres);
});
