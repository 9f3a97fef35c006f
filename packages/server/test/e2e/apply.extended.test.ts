/** A kill while a file is applied, and simultaneous starts on SQLite. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { Client } from 'pg';
import { newPlace } from '../../test-kit/new-db.ts';
import { until } from '../../test-kit/until.ts';
import { assertAppliedOnce, newFolder } from './applied-starts.ts';
import { environmentFor, keyreeveBin, Program, runProcess } from './program.ts';

test('instances that start together apply a file once, and a start never brings a deleted key back (sqlite)', () =>
  assertAppliedOnce('sqlite'));

test('a process that is killed while it applies a file has applied nothing of it', async () => {
  using folder = newFolder();
  await using place = await newPlace('postgres', { isMigrated: true });
  const options = { folder: folder.path, environment: place.environment };
  assert.equal((await runProcess(['scope', 'list'], options)).status, 0);
  const blocker = new Client({ connectionString: place.url });
  await blocker.connect();
  try {
    const count = async (text: string): Promise<number> =>
      Number((await blocker.query<{ count: string }>(`select count(*) as count from ${text}`)).rows[0]?.count);
    // The webhook is the last entry.
    await blocker.query('begin');
    await blocker.query('lock table webhook_endpoints in share mode');
    const args = [keyreeveBin, 'apply', '-f', folder.file];
    const env = environmentFor(folder.path, place.environment);
    await using killed = new Program(spawn(process.execPath, args, { cwd: folder.path, env }), folder.path);
    await until('the process waits for the table', async () => {
      const waiting = `pg_locks where not granted and relation = 'webhook_endpoints'::regclass`;
      return (await count(waiting)) > 0;
    });
    killed.signal('SIGKILL');
    assert.equal((await killed.exited()).status, null);
    await blocker.query('rollback');
    await until(
      'the transaction has ended',
      async () => (await count(`pg_locks where mode = 'RowExclusiveLock'`)) === 0,
    );
    for (const table of ['applied_entries', 'applied_file', 'scopes', 'accounts', 'api_keys'])
      assert.equal(await count(table), 0, table);
  } finally {
    await blocker.end();
  }
  const { status, stdout, stderr } = await runProcess(['apply', '-f', folder.file], options);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Applied generation 1: 4 changes\./);
});
