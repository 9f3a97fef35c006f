/** `keyreeve backup --keep`: killed at each step. */
import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, utimesSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { resultOf, Installation } from './kept-backups.ts';

suite('killed', () => {
  const preload = new URL('./kill-at-call.ts', import.meta.url).href;
  let installation: Installation;
  let old: readonly string[];

  before(async () => {
    installation = await Installation.create();
    for (let count = 0; count < 2; ++count) resultOf(await installation.run('backup --to backups --keep 2 --json'));
    old = installation.files;
  });
  after(() => installation[Symbol.dispose]());

  // The first call of `rm` removes the draft.
  for (const step of ['link 1 before', 'link 1 after', 'rm 1 after', 'rm 2 before', 'rm 2 after', 'rm 3 after'])
    test(`at “${step}”, the command leaves complete backups, and the next one finishes its work`, async () => {
      using folder = newTempFolder();
      for (const name of old) copyFileSync(join(installation.backups, name), join(folder.path, name));
      const line = `backup --to ${folder.path} --keep 1 --json`;
      const killed = await installation.run(line, { NODE_OPTIONS: `--import ${preload}`, KILL_AT: step });
      assert.deepEqual([killed.status, killed.stdout], [null, '']);
      const left = readdirSync(folder.path).toSorted();
      const complete = left.filter((name) => name.endsWith('.gz'));
      // Nothing is deleted before the new backup is complete.
      if (complete.every((name) => old.includes(name))) assert.deepEqual(complete, old);
      for (const name of left.filter((one) => one.endsWith('.partial'))) utimesSync(join(folder.path, name), 0, 0);
      const last = resultOf(await installation.run(line));
      assert.deepEqual(
        last.deleted,
        complete.map((name) => join(folder.path, name)),
      );
      assert.deepEqual(readdirSync(folder.path), [basename(last.path)]);
    });
});
