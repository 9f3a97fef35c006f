/** A restore or a failover does not restore rights that were removed from API keys. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { hourMs } from '../../../foundation/clock.ts';
import { deleteEndedSecrets } from '../../api-keys/change-store.ts';
import { readJournal, readPosition, writePosition } from '../../deletion-journal/files.ts';
import { identityOf } from '../../deletion-journal/revocation.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { keys, now, operator } from '../../../../test-kit/rows.ts';
import { moveInstallation } from '../move.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, later, newBackupFolder, replay, restore } from './backup-kit.ts';
import { changesIn, narrowed, NarrowedKeys, ownerIn, since, verifiedAt, type Name } from './narrowed-keys.ts';

const disabled = { disabled: ['disabled'], scopes: ['disabled'], expiry: ['disabled'], addresses: ['disabled'] };
/** After a restore to the state before the changes. */
const afterRestore: Record<Name, string[]> = {
  ...disabled,
  kept: ['a b'],
  renamed: ['a b'],
  over: ['expired', 'a b'],
  overlap: ['disabled', 'not found'],
  replaced: ['disabled', 'not found'],
  older: ['not found', 'disabled', 'not found'],
  lost: ['not found', 'disabled', 'not found'],
  ended: ['not found', 'disabled'],
  enabled: ['disabled'],
  deleted: ['not found'],
  locked: ['disabled'],
};
const replayed = { ...nothingReplayed, apiKeys: 1, apiKeysDisabled: narrowed.length };
const selectReasons = sql<{ id: number; reason: string | null }>(
  'test_disabled_reasons',
  `select id, disabled_reason as reason from api_keys order by id`,
);

/** The owner enables every key that a restore has disabled, and first replaces the secret that may have been replaced. */
async function enableAll(db: Db, made: NarrowedKeys): Promise<void> {
  const owner = await ownerIn(db, 'again');
  const changes = changesIn(db, later + 1);
  const rotation = { overlapSeconds: 0, endPrevious: false };
  await changes.rotate(owner, 'acc_ada', made.idOf('replaced'), rotation);
  for (const name of narrowed) {
    const enabling = changes.change(owner, 'acc_ada', made.idOf(name), { disabled: false });
    if (name !== 'locked') assert.equal((await enabling).disabledAt, null);
    else await assert.rejects(enabling, (error) => codeOf(error) === 'administrator_required');
  }
}

onEachDatabase('a restore disables each key that was narrowed since the backup, and only these', async ({ db }) => {
  using temp = newBackupFolder();
  const made = await NarrowedKeys.create(db);
  await backUp(db, temp.backup);
  await made.narrow(db, journalIn(db, temp.folder));
  await using fresh = await databases[db.dialect]!();
  const restored = await restore(fresh.db, temp.backup, { journalFolders: [temp.folder], acceptsRevival: true });
  assert.deepEqual(restored.replayed, replayed);
  assert.deepEqual(await made.statesIn(fresh.db), afterRestore);
  const reasons = new Map((await fresh.db.all(selectReasons)).map(({ id, reason }) => [id, reason]));
  for (const name of narrowed)
    assert.equal(reasons.get(made.idOf(name)), name === 'locked' ? 'administrator' : 'restore', name);
  const events = (await listAuditEvents(fresh.db)).filter(({ details }) => details?.includes('deletion_journal'));
  assert.deepEqual(events.map(({ actor, action, details }) => `${actor} ${action} ${details}`).toSorted(), [
    'system api_key.deleted {"by":"deletion_journal"}',
    'system api_key.disabled {"by":"deletion_journal","reason":"administrator"}',
    ...narrowed.slice(1).map(() => 'system api_key.disabled {"by":"deletion_journal","reason":"restore"}'),
  ]);
  // The enabling is a later decision: neither a report nor a replay questions it.
  await enableAll(fresh.db, made);
  const enabled = await made.statesIn(fresh.db);
  assert.deepEqual(enabled.replaced, ['not found', 'not found']);
  assert.deepEqual([enabled.scopes, enabled.ended, enabled.older[0]], [['a b'], ['not found', 'a b'], 'not found']);
  assert.deepEqual(await journalIn(fresh.db, temp.folder).catchUp(), { working: 0, isBehind: false });
  assert.deepEqual(await replay(fresh.db, temp.folder, later + 2), nothingReplayed);
  assert.deepEqual(await made.statesIn(fresh.db), enabled);
});

onEachDatabase(
  'a process that dies between a commit and its entry loses none: the audit log has the same entries',
  async ({ db }) => {
    using temp = newTempFolder();
    const [backup, folder, caughtUp] = ['backup', 'journal', 'caught-up'].map((name) => join(temp.path, name));
    const made = await NarrowedKeys.create(db);
    await backUp(db, backup!);
    await made.narrow(db, journalIn(db, folder!));
    const entriesOf = async (path: string): Promise<Set<string>> =>
      new Set((await Array.fromAsync(readJournal(path, keys))).map(identityOf));
    const recorded = await entriesOf(folder!);
    const journal = journalIn(db, caughtUp!);
    await journal.catchUp();
    const added = await entriesOf(caughtUp!);
    // The journal also has the rotations before the backup.
    assert.deepEqual(recorded.difference(added), new Set());
    assert.deepEqual(await journal.catchUp(), { working: 0, isBehind: false });
    assert.deepEqual(await entriesOf(caughtUp!), added);
    // The position of a program that knows fewer kinds does not hide any.
    const behind = join(temp.path, 'behind');
    await writePosition(behind, keys, { event: 10_000, mark: '', at: later, changeKinds: 0 });
    await journalIn(db, behind).catchUp();
    assert.deepEqual(await entriesOf(behind), added);
    assert.ok(((await readPosition(behind, keys))?.changeKinds ?? 0) > 0);
    // A restore that replaces the database reads its audit log.
    const { replayed: done } = await restore(db, backup!, { mayReplace: true, acceptsRevival: true });
    assert.deepEqual(done, replayed);
    assert.deepEqual(await made.statesIn(db), afterRestore);
  },
);

onEachDatabase('after a failover, a replay finds each lost change, whatever was changed since', async ({ db }) => {
  using temp = newBackupFolder();
  const made = await NarrowedKeys.create(db);
  await backUp(db, temp.backup);
  await using reverted = await databases[db.dialect]!();
  await restore(reverted.db, temp.backup, { acceptsRevival: true });
  await made.narrow(db, journalIn(db, temp.folder));
  // The owner does not know that the changes are lost.
  const owner = await ownerIn(reverted.db, 'unaware');
  const changes = changesIn(reverted.db, later);
  for (const name of narrowed) await changes.change(owner, 'acc_ada', made.idOf(name), { nickname: `new ${name}` });
  const addressed = made.idOf('addresses');
  await changes.change(owner, 'acc_ada', addressed, { disabled: true });
  await changes.change(owner, 'acc_ada', addressed, { disabled: false, scopes: ['a'] });
  const { working } = await journalIn(reverted.db, temp.folder).catchUp();
  // The deleted key counts twice.
  assert.equal(working, narrowed.length + 2);
  assert.deepEqual(await replay(reverted.db, temp.folder, later + 1), replayed);
  assert.deepEqual(await made.statesIn(reverted.db), afterRestore);
  assert.deepEqual(await replay(reverted.db, temp.folder, later + 2), nothingReplayed);
});

onEachDatabase(
  'a restore on a machine whose clock is behind disables the keys, and an enabling there stays in force',
  async ({ db }) => {
    using temp = newBackupFolder();
    const made = await NarrowedKeys.create(db);
    // An instance whose clock is ahead makes a change that widens; then one with a slow clock removes rights.
    const owner = await ownerIn(db, 'fast');
    for (const name of narrowed)
      await changesIn(db, since).change(owner, 'acc_ada', made.idOf(name), { metadata: { seen: true } });
    await backUp(db, temp.backup);
    const slow = now - hourMs;
    await made.narrow(db, journalIn(db, temp.folder), slow + 1);
    const clock = new FakeClock(slow);
    await restore(db, temp.backup, {
      journal: journalIn(db, temp.folder),
      mayReplace: true,
      acceptsRevival: true,
      clock,
    });
    for (const name of narrowed)
      assert.ok(
        (await made.statesIn(db))[name].every((state) => state === 'disabled' || state === 'not found'),
        name,
      );
    await enableAll(db, made);
    assert.deepEqual(await journalIn(db, temp.folder).catchUp(), { working: 0, isBehind: false });
    assert.deepEqual(await replay(db, temp.folder, slow), nothingReplayed);
  },
);

onEachDatabase('a previous secret that ended long ago is deleted, and no other', async ({ db }) => {
  const made = await NarrowedKeys.create(db);
  await made.narrow(db);
  const states = await made.statesIn(db);
  assert.deepEqual(states.over, ['expired', 'a b']);
  assert.equal(await deleteEndedSecrets(db, now + 10_000, 100), 0);
  assert.equal(await deleteEndedSecrets(db, now + 10_001, 100), 1);
  assert.deepEqual(await made.statesIn(db), { ...states, over: ['not found', 'a b'] });
});

onEachDatabase('a key that its owner disabled before the backup is not enabled with lost rights', async ({ db }) => {
  using temp = newBackupFolder();
  const made = await NarrowedKeys.create(db);
  const owner = await ownerIn(db, 'early');
  const id = made.idOf('scopes');
  await changesIn(db, now + 1).change(owner, 'acc_ada', id, { disabled: true });
  await changesIn(db, now + 1).change(operator, 'acc_ada', made.idOf('expiry'), { disabled: true });
  await backUp(db, temp.backup);
  const journal = journalIn(db, temp.folder);
  await changesIn(db, since, journal).change(owner, 'acc_ada', id, { disabled: false, scopes: ['a'] });
  await changesIn(db, since, journal).change(operator, 'acc_ada', made.idOf('expiry'), {
    disabled: false,
    scopes: [],
  });
  const { replayed: done } = await restore(db, temp.backup, { journal, mayReplace: true, acceptsRevival: true });
  assert.equal(done.apiKeysDisabled, 2);
  const reasons = new Map((await db.all(selectReasons)).map(({ id: key, reason }) => [key, reason]));
  // The reason shows the owner that changes are lost. It does not replace the decision of an administrator.
  assert.deepEqual([reasons.get(id), reasons.get(made.idOf('expiry'))], ['restore', 'administrator']);
});

for (const [from, to] of [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
] as const) {
  test(`narrowed keys keep their state in a move and in a restore (${from} to ${to})`, async () => {
    using temp = newTempFolder();
    await using source = await databases[from]!();
    await claimInstallation(source.db, keys.check, now);
    const made = await NarrowedKeys.create(source.db);
    await made.narrow(source.db);
    const states = await made.statesIn(source.db);
    assert.deepEqual([states.disabled, states.older], [['disabled'], ['not found', 'a b', 'a b']]);
    assert.deepEqual(states.lost, ['a b', 'not found', 'a b']);
    await using target = await databases[to]!();
    await moveInstallation(operator, source.db, target.db, {
      keys,
      clock: new FakeClock(verifiedAt),
    });
    assert.deepEqual(await made.statesIn(target.db), states);
    const backup = join(temp.path, 'backup');
    await backUp(source.db, backup);
    await using restored = await databases[to]!();
    const done = await restore(restored.db, backup, { acceptsRevival: true });
    assert.deepEqual(done.replayed, nothingReplayed);
    assert.deepEqual(await made.statesIn(restored.db), states);
  });
}
