/** The deletion journal contains every deletion that the audit log records, also after crashes. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hourMs } from '../../../foundation/clock.ts';
import * as accounts from '../../accounts/store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { DeletionJournal } from '../deletion-journal.ts';
import { JournalError, journalFiles, readJournal, readPosition } from '../files.ts';
import type { Revocation } from '../revocation.ts';
import { replaceSigningKeys } from '../../signing-keys/store.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, addSigningKey, keys, newSigningKey, now, operator } from '../../../../test-kit/rows.ts';
import { deleteAccount, deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const newJournal = (db: Db, folder: string, at = now): DeletionJournal =>
  new DeletionJournal({ folder, db, clock: new FakeClock(at), keys });

const entriesOf = async (folder: string): Promise<string[]> =>
  (await Array.fromAsync(readJournal(folder, keys))).map(({ kind, id }: Revocation) => `${kind} ${id}`).toSorted();

/** Makes every kind of revocation without a journal entry, as after a crash. */
async function revokeEverything(db: Db): Promise<string[]> {
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  const { id } = await addKey(db, ada, 'laptop');
  await addKey(db, ada, 'kept');
  await addSigningKey(db, 'old');
  await deleteKey(db, { principal: operator, now }, ada, id);
  await disableAccount(db, { principal: operator, now }, ada);
  await accounts.enableAccount(db, { principal: operator, now }, ada);
  await deleteAccount(db, { principal: operator, now }, bob);
  await replaceSigningKeys(db, operator, newSigningKey('new'));
  return ['account acc_bob', 'account_disabled acc_ada', 'account_enabled acc_ada', `api_key ${id}`, 'signing_key old'];
}

onEachDatabase('entries that are missing after a crash are added from the audit log', async ({ db }) => {
  using temp = newTempFolder();
  const revoked = await revokeEverything(db);
  await newJournal(db, temp.path).catchUp();
  assert.deepEqual(await entriesOf(temp.path), revoked);
});

onEachDatabase('an entry in the journal is not added again, by any process', async ({ db }) => {
  using temp = newTempFolder();
  const journal = newJournal(db, temp.path);
  const revoked = await revokeEverything(db);
  await journal.catchUp();
  await journal.catchUp();
  await newJournal(db, temp.path).catchUp();
  assert.deepEqual(await entriesOf(temp.path), revoked);
});

onEachDatabase('the position stays before events that an open transaction may still precede', async ({ db }) => {
  using temp = newTempFolder();
  await revokeEverything(db);
  await newJournal(db, temp.path, now + 60_000).catchUp();
  assert.equal((await readPosition(temp.path, keys))?.event, 0);
  await newJournal(db, temp.path, now + hourMs).catchUp();
  const settled = (await readPosition(temp.path, keys))?.event ?? 0;
  assert.ok(settled > 0);
  // The position never goes back, also for a restored backup that is older than the journal.
  await newJournal(db, temp.path, now - hourMs).catchUp();
  assert.equal((await readPosition(temp.path, keys))?.event, settled);
});

onEachDatabase(
  'entries that failed to be written are added by the next catching up, which ends the lag',
  async ({ db }) => {
    using temp = newTempFolder();
    const folder = join(temp.path, 'journal');
    writeFileSync(folder, 'in the way');
    const journal = newJournal(db, folder);
    const revoked = await revokeEverything(db);
    await assert.rejects(
      journal.record([{ kind: 'api_key', id: '1', at: now }]),
      (error) => codeOf(error) === 'unavailable',
    );
    const { lagMs } = journal;
    assert.ok(lagMs > 0);
    await assert.rejects(journal.catchUp());
    assert.ok(journal.lagMs >= lagMs);
    rmSync(folder);
    mkdirSync(folder);
    await journal.record([{ kind: 'api_key', id: '2', at: now }]);
    assert.ok(journal.lagMs >= lagMs);
    await journal.catchUp();
    assert.equal(journal.lagMs, 0);
    assert.deepEqual(await entriesOf(folder), [...revoked, 'api_key 2'].toSorted());
  },
);

onEachDatabase('concurrent records are each written once', async ({ db }) => {
  using temp = newTempFolder();
  const journal = newJournal(db, temp.path);
  const ids = Array.from({ length: 200 }, (_, id) => String(1_000 + id));
  await Promise.all(ids.map((id) => journal.record([{ kind: 'api_key', id, at: now }])));
  assert.deepEqual(
    await entriesOf(temp.path),
    ids.map((id) => `api_key ${id}`),
  );
});

onEachDatabase('a file ends after 50,000 lines, and no entry is lost', async ({ db }) => {
  using temp = newTempFolder();
  const journal = newJournal(db, temp.path);
  const many = Array.from({ length: 50_000 }, (_, id): Revocation => ({ kind: 'api_key', id: String(id), at: now }));
  await journal.record(many);
  await journal.record([{ kind: 'api_key', id: 'last', at: now }]);
  assert.equal((await journalFiles(temp.path)).length, 2);
  assert.equal((await entriesOf(temp.path)).length, 50_001);
});

onEachDatabase('the folder of another installation is rejected', async ({ db }) => {
  using temp = newTempFolder();
  const others = deriveKeys(Buffer.alloc(32, 8));
  await new DeletionJournal({ folder: temp.path, db, clock: new FakeClock(now), keys: others }).catchUp();
  await assert.rejects(newJournal(db, temp.path).catchUp(), (error) => error instanceof JournalError);
});

onEachDatabase('the entries of a damaged file are written again, so the file can be moved away', async ({ db }) => {
  using temp = newTempFolder();
  const revoked = await revokeEverything(db);
  const later = now + hourMs;
  await newJournal(db, temp.path, later).catchUp();
  const [path = ''] = await journalFiles(temp.path);
  // According to the position, the files have all entries.
  assert.ok(((await readPosition(temp.path, keys))?.event ?? 0) > 0);
  const copy = join(temp.path, 'copy.journal');
  copyFileSync(path, copy);
  writeFileSync(path, readFileSync(path, 'utf8').replace('"kind":"signing_key"', '"kind":"signing_kex"'));
  const damage: string[] = [];
  const journal = newJournal(db, temp.path, later);
  await journal.catchUp((error) => damage.push(error.path));
  assert.deepEqual(damage.toSorted(), [copy, path].toSorted());
  rmSync(path);
  rmSync(copy);
  assert.deepEqual(await entriesOf(temp.path), revoked);
  // The damage is reported each time, but its entries are written again only once.
  await journal.catchUp((error) => assert.fail(error));
  assert.deepEqual(await entriesOf(temp.path), revoked);
});
