/** A disk that does not respond is reported, and delays neither requests nor other scrapes for long. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Registry } from '@prometheus-io/client';
import { databases } from '../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { testConfig } from '../../../test-kit/test-config.ts';
import type { Config } from '../configuration/config.ts';
import { checkDisks, freeMibMin, readDisks, type DiskState, type ReadDisk } from '../installation/disk-check.ts';
import { collectGrowth } from '../metrics/growth-metrics.ts';

const free: DiskState = { device: 1, isReadOnly: false, freeBytes: freeMibMin * 2 ** 20 };

/** With a deletion journal in a new folder, which is on the disk of the database. */
function newConfig(folder: string): Config {
  const deletionJournal = join(folder, 'journal');
  mkdirSync(deletionJournal);
  return { ...testConfig(), database: { kind: 'sqlite', path: join(folder, 'keyreeve.db') }, deletionJournal };
}

/** A deletion journal whose disk does not respond until `resume`. */
function newHungJournal({ deletionJournal }: Config) {
  const { promise, resolve } = Promise.withResolvers<DiskState>();
  const calls: string[] = [];
  const read: ReadDisk = (folder) => {
    calls.push(folder);
    return folder === deletionJournal ? promise : Promise.resolve(free);
  };
  return { read, calls, resume: () => resolve({ ...free, device: 2 }) };
}

test('each disk has one entry, and a folder that does not exist has none', async () => {
  using folder = newTempFolder();
  const config = newConfig(folder.path);
  const [disk, ...others] = await readDisks(config);
  assert.deepEqual(
    [disk?.content, disk?.folder, disk?.state?.isReadOnly, others],
    ['database', folder.path, false, []],
  );
  assert.ok((disk?.state?.freeBytes ?? 0) > 0);
  const missing = join(folder.path, 'missing');
  const database = { kind: 'sqlite', path: join(missing, 'keyreeve.db') } as const;
  assert.deepEqual(await readDisks({ database, deletionJournal: missing }), []);
  assert.deepEqual(await checkDisks({ database, deletionJournal: missing }), []);
});

test('a disk that does not respond is a failed check, and has one call at a time', async () => {
  using folder = newTempFolder();
  const config = newConfig(folder.path);
  const { read, calls, resume } = newHungJournal(config);
  const detail = `the disk of ${config.deletionJournal} does not respond. Check its mount and, for a network file system, its server`;
  for (const found of await Promise.all([checkDisks(config, read), checkDisks(config, read), checkDisks(config, read)]))
    assert.deepEqual(found, [{ name: 'disk', state: 'failed', detail }]);
  assert.deepEqual(await checkDisks(config, read), [{ name: 'disk', state: 'failed', detail }]);
  assert.equal(calls.filter((path) => path === config.deletionJournal).length, 1);
  resume();
  assert.deepEqual(await checkDisks(config, read), []);
  assert.deepEqual(await checkDisks(config, read), []);
  assert.equal(calls.filter((path) => path === config.deletionJournal).length, 2);
});

test('a disk that does not respond has no metric, and the other disks have theirs', async () => {
  await using opened = await databases['sqlite']!();
  using folder = newTempFolder();
  const config = newConfig(folder.path);
  const { read, resume } = newHungJournal(config);
  const registry = new Registry();
  collectGrowth(registry, { db: opened.db, config });
  // The scrape joins this call.
  const hung = readDisks(config, read);
  const text = await registry.metrics();
  assert.match(text, /^keyreeve_disk_free_bytes\{content="database"\} \d+$/m);
  assert.doesNotMatch(text, /content="deletion_journal"/);
  resume();
  await hung;
  assert.match(await registry.metrics(), /^keyreeve_disk_free_bytes\{content="database"\} \d+$/m);
});

test('a full disk and a read-only one are reported', async () => {
  using folder = newTempFolder();
  const config = newConfig(folder.path);
  const of = async (state: DiskState) =>
    (await checkDisks(config, () => Promise.resolve(state))).map(({ detail }) => detail);
  assert.deepEqual(await of(free), []);
  assert.deepEqual(await of({ ...free, freeBytes: free.freeBytes - 1 }), [
    `the disk of ${folder.path} has only ${freeMibMin - 1} MiB free`,
  ]);
  assert.deepEqual(await of({ ...free, isReadOnly: true }), [
    `the disk of ${folder.path} is read-only, so no change can be committed. Read the kernel log, and mount it writable`,
  ]);
});
