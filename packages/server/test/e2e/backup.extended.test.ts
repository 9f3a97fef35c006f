/** `keyreeve restore` that is killed, with many keys. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { suite, test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { killMidway } from './killed-command.ts';
import { insertKeys } from './many-keys.ts';
import { databaseIn, runProgram, type Environment, type Exit } from './program.ts';

const running = (folder: string, environment: Environment) => (line: string) =>
  runProgram(line.split(' '), { folder, environment });

suite('with 200,000 keys', () => {
  const environment = { KEYREEVE_MASTER_KEY: Buffer.alloc(32, 3).toString('base64url') };

  test('a killed restore changes nothing and can be repeated, in constant memory', async () => {
    using folder = newTempFolder();
    const run = running(folder.path, environment);
    await run('account create you@example.com --generate');
    const path = databaseIn(folder.path);
    insertKeys(path, 200_000);
    assert.equal((await run('backup --to many.gz')).status, 0);
    const rowsIn = ({ stdout, stderr }: Exit) => {
      assert.equal(stderr, '');
      return (JSON.parse(stdout) as { rows: Record<string, number> }).rows['api_keys'];
    };
    await run('account create other@example.com --generate');
    const accounts = (await run('account list --json')).stdout;
    const line = 'restore --from many.gz --replace --yes --json';
    await killMidway(line.split(' '), {
      folder: folder.path,
      environment,
      // Some rows are written, but not committed.
      isMidway: () => (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 8 * 2 ** 20,
    });
    assert.equal((await run('account list --json')).stdout, accounts);
    assert.equal(rowsIn(await run('backup --to after.gz --json')), 200_000);
    const bounded = await runProgram(line.split(' '), {
      folder: folder.path,
      environment: { ...environment, NODE_OPTIONS: '--max-old-space-size=64' },
    });
    assert.equal(rowsIn(bounded), 200_000);
    assert.equal((JSON.parse((await run('account list --json')).stdout) as unknown[]).length, 1);
  });
});
