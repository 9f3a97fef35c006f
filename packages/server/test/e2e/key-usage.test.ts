/** The usage of keys of a service with several workers, after it has stopped. */
import assert from 'node:assert/strict';
import type { UsageEntry } from '@keyreeve/contract';
import { test as testOnEach } from '../../test-kit/app-on-each-database.ts';
import { newPlace } from '../../test-kit/new-db.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { bearer, startProgram, type Program } from './program.ts';
import { connectionsTo } from './worker-pool.ts';

const perWorker = 40;

async function verifyOnEachWorker(program: Program, key: string): Promise<void> {
  for (const connection of await connectionsTo(program)) {
    using open = connection;
    for (let count = 0; count < perWorker; count++)
      assert.equal((await open.call('GET', '/auth/forward', bearer(key))).status, 200);
  }
}

testOnEach('the usage is exact after an orderly stop, and never too high after SIGKILL', async () => {
  await using place = await newPlace();
  using folder = newTempFolder();
  const environment = { ...place.environment, KEYREEVE_WORKERS: '2' };
  const start = () => startProgram(folder.path, environment);
  const accepted = async (program: Program, id: number): Promise<number> => {
    const { status, stdout, stderr } = await program.command(['key', 'usage', String(id), '--json']);
    assert.equal(status, 0, stderr);
    return (JSON.parse(stdout) as UsageEntry[]).reduce((sum, entry) => sum + entry.accepted, 0);
  };
  await using first = await start();
  const { id, key } = await first.newKey();
  await verifyOnEachWorker(first, key);
  assert.equal((await first.stop()).status, 0);
  assert.equal(await accepted(first, id), 2 * perWorker);
  await using second = await start();
  await verifyOnEachWorker(second, key);
  second.signal('SIGKILL');
  await second.exited();
  const afterKill = await accepted(second, id);
  assert.ok(afterKill >= 2 * perWorker && afterKill <= 4 * perWorker, String(afterKill));
});
