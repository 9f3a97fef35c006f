/** `keyreeve audit export --then-forget` that is killed, or whose disk is full. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Db } from '../../src/foundation/database/db.ts';
import { listCuts } from '../../src/modules/audit/cut-store.ts';
import { listEventsAfter } from '../../src/modules/audit/store.ts';
import { killMidway } from './killed-command.ts';
import { skipWithoutDisks, SmallDisk } from './small-disk.ts';

import { until, type Installed, install, agesIn, assertFailed } from './audit-cut-kit.ts';

/** The ids of the events that the test removes. */
const oldIdsIn = async (db: Db): Promise<number[]> =>
  (await listEventsAfter(db, { since: 0, until: Date.parse(until) }, 0, 100_000)).map(({ id }) => id);

const idsIn = (path: string): number[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id);

test(
  'an export to a full disk fails with the reason, leaves no file and forgets nothing',
  { skip: skipWithoutDisks() },
  async () => {
    using disk = new SmallDisk();
    await using installed = await install([60, 50, 20]);
    disk.fill();
    const output = join(disk.path, 'old.jsonl');
    assertFailed(
      await installed.run(`audit export --until ${until} --then-forget --yes --output ${output}`),
      1,
      /ENOSPC: no space left on device.* The disk is full: free space on it/,
    );
    assert.deepEqual(readdirSync(disk.path), ['filler']);
    assert.deepEqual(await agesIn(installed.db), [60, 50, 20]);
  },
);

for (const [step, isMidway] of [
  ['between the file and the first batch', async () => true],
  ['between two batches', async ({ db }: Installed) => (await listCuts(db)).length > 0],
] as const)
  test(`an export that is killed ${step} loses no event, and a repetition to another file completes it`, async () => {
    await using installed = await install([...Array.from({ length: 20_000 }, () => 60), 20]);
    const { db, folder, environment, run } = installed;
    const [first, second] = [join(folder.path, 'first.jsonl'), join(folder.path, 'second.jsonl')];
    const forget = ['audit', 'export', '--until', until, '--then-forget', '--yes', '--output'];
    await killMidway([...forget, first], {
      folder: folder.path,
      environment,
      isMidway: async () => existsSync(first) && isMidway(installed),
    });
    const exported = idsIn(first);
    assert.equal(exported.length, 20_000);
    const left = await oldIdsIn(db);
    assert.ok(left.length > 0, `${left.length}`);
    // The database has the newest of the exported events, and the file has the others.
    assert.deepEqual(left, exported.slice(exported.length - left.length));
    assert.equal((await run('audit verify')).status, 0);

    assertFailed(await run([...forget, first].join(' ')), 64, /first\.jsonl exists/);
    const repeated = await run([...forget, second].join(' '));
    assert.equal(repeated.status, 0, repeated.stderr);
    assert.deepEqual(idsIn(second), left);
    assert.deepEqual(await agesIn(db), [20]);
    assert.equal((await run('audit verify')).status, 0);
  });
