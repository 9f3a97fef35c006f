/** The usage of keys of a service, after it has stopped. */
import assert from 'node:assert/strict';
import type { UsageEntry } from '@keyreeve/contract';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, startProgram, type Program } from './program.ts';

const perRun = 40;

async function verify(program: Program, key: string): Promise<void> {
  for (let count = 0; count < perRun; count++)
    assert.equal((await program.call('GET', '/auth/forward', bearer(key))).status, 200);
}

testOnEach('the usage is exact after an orderly stop, and never too high after SIGKILL', async () => {
  await using place = await newPlace();
  using folder = newTempFolder();
  const start = () => startProgram(folder.path, place.environment);
  const accepted = async (program: Program, id: number): Promise<number> => {
    const { status, stdout, stderr } = await program.command(['key', 'usage', String(id), '--json']);
    assert.equal(status, 0, stderr);
    return (JSON.parse(stdout) as UsageEntry[]).reduce((sum, entry) => sum + entry.accepted, 0);
  };
  await using first = await start();
  const { id, key } = await first.newKey();
  await verify(first, key);
  assert.equal((await first.stop()).status, 0);
  assert.equal(await accepted(first, id), perRun);
  await using second = await start();
  await verify(second, key);
  second.signal('SIGKILL');
  await second.exited();
  const afterKill = await accepted(second, id);
  assert.ok(afterKill >= perRun && afterKill <= 2 * perRun, String(afterKill));
});
