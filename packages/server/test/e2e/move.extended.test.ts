/** `keyreeve move` that is killed. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { databaseIn, runProgram } from './program.ts';
import { killMidway } from './killed-command.ts';
import { insertKeys } from './many-keys.ts';
import { newTargetDatabase } from './target-database.ts';

/** Keeps the issuer of tokens when the port changes. */
const fixedUrl = { KEYREEVE_PUBLIC_URL: 'http://localhost:8787' };

test('a killed move leaves the source unchanged and the target empty, and can be repeated', async () => {
  using folder = newTempFolder();
  await using database = await newTargetDatabase();
  const run = (...args: string[]) => runProgram(args, { folder: folder.path, environment: fixedUrl });
  const created = await run('account', 'create', 'you@example.com', '--generate');
  assert.equal(created.status, 0, created.stderr);
  const path = databaseIn(folder.path);
  insertKeys(path, 60_000);
  const bytes = statSync(path).size;
  const target = { ...fixedUrl, KEYREEVE_DATABASE_URL: database.url, KEYREEVE_MASTER_KEY_FILE: `${path}.master-key` };
  for (let round = 0; round < 3; round++) {
    const isMidway = database.isFilling;
    await killMidway(['move', '--to', database.url], { folder: folder.path, environment: fixedUrl, isMidway });
    assert.deepEqual([existsSync(path), existsSync(`${path}.moved`)], [true, false]);
    const empty = await runProgram(['account', 'list', '--json'], { folder: folder.path, environment: target });
    assert.deepEqual(JSON.parse(empty.stdout), [], empty.stderr);
  }
  assert.equal(statSync(path).size, bytes);
  const list = await run('account', 'list', '--json');
  assert.equal((JSON.parse(list.stdout) as unknown[]).length, 1);
  const moved = await run('move', '--to', database.url, '--json');
  assert.equal(moved.status, 0, moved.stderr);
  assert.equal((JSON.parse(moved.stdout) as { rows: Record<string, number> }).rows['api_keys'], 60_000);
});
