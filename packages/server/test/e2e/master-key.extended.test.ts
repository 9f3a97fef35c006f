/** `keyreeve master-key rotate` that is killed at each of its steps. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { type Environment, type Exit } from './program.ts';

import { keyOf, succeeds, newBeside } from './master-key-kit.ts';

/** Of the service, if root runs the tests and its commands. */
const serviceUid = process.getuid?.() === 0 ? 65_534 : process.getuid?.();

const hook = new URL('./kill-at-step.ts', import.meta.url).href;

suite('kill -9 at each step of a rotation loses nothing, and the command can be repeated', () => {
  const killing = (step: number): Environment => ({ NODE_OPTIONS: `--import=${hook}`, TEST_KILL_AT: String(step) });
  /** @returns whether the command was killed before the step */
  const wasKilled = async (exit: Promise<Exit>): Promise<boolean> => {
    const { status, stderr } = await exit;
    assert.ok(status === null || status === 0, `${status}: ${stderr}`);
    return status === null;
  };
  const paths: Readonly<Record<string, (step: number) => Promise<boolean>>> = {
    'rotate, then finish': async (step) => {
      using beside = await newBeside();
      const { folder, run, file, text, files } = beside;
      const old = text();
      const isKilled = await wasKilled(run('master-key rotate', killing(step)));
      await succeeds(run('account list'));
      const isInPlace = text() !== old;
      if (!isInPlace) await succeeds(run('master-key rotate'));
      // The service can read it.
      assert.deepEqual([statSync(file).uid, statSync(file).mode & 0o777], [serviceUid, 0o600]);
      await succeeds(run('master-key rotate --finish'));
      const [inPlace, kept = '', ...others] = files();
      assert.deepEqual([inPlace, others, text() !== old], ['keyreeve.db.master-key', [], true]);
      assert.equal(readFileSync(join(folder, 'data', kept), 'utf8'), old);
      await succeeds(run('account list'));
      return isKilled;
    },
    finish: async (step) => {
      using beside = await newBeside();
      const { run, files, file, text } = beside;
      const old = text();
      await succeeds(run('master-key rotate'));
      // A file that is not in use, which the step removes.
      writeFileSync(`${file}.next`, keyOf(1), { mode: 0o600 });
      const isKilled = await wasKilled(run('master-key rotate --finish', killing(step)));
      await succeeds(run('account list'));
      await succeeds(run('master-key rotate --finish'));
      const [inPlace, kept = '', ...others] = files();
      assert.deepEqual([inPlace, others], ['keyreeve.db.master-key', []]);
      assert.equal(readFileSync(join(dirname(file), kept), 'utf8'), old);
      assert.match(await succeeds(run('doctor')), /master key id +ok/);
      return isKilled;
    },
    cancel: async (step) => {
      using beside = await newBeside();
      const { run, text, files } = beside;
      const old = text();
      await succeeds(run('master-key rotate'));
      const isKilled = await wasKilled(run('master-key rotate --cancel', killing(step)));
      await succeeds(run('account list'));
      await succeeds(run('master-key rotate --cancel'));
      assert.deepEqual([files(), text()], [['keyreeve.db.master-key'], old]);
      assert.match(await succeeds(run('doctor')), /master key id +ok/);
      return isKilled;
    },
  };
  for (const [name, attempt] of Object.entries(paths))
    test(name, async () => {
      let step = 0;
      while (await attempt(step)) assert.ok(step++ < 10);
      assert.ok(step > 0, 'the command was never killed');
    });
});
