/** A restore or a failover never makes a leaked secret valid again. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertWebhookMessage } from '../../../../test-kit/declared-answers.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import type { AuditRow } from '../../audit/chain.ts';
import { readJournal } from '../../deletion-journal/files.ts';
import { identityOf } from '../../deletion-journal/revocation.ts';
import { describe } from '../../webhooks/events.ts';
import { moveInstallation } from '../move.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, later, newBackupFolder, replay, restore } from './backup-kit.ts';

const overlap = { overlapSeconds: 86_400, endPrevious: false } as const;
const report = (services: Services, ...texts: string[]) =>
  services.leaks.report(
    operator,
    texts.map((text) => ({ text })),
  );

const wireTo = (db: Db, folder: string, at = now + 20_000): Services =>
  wireOn(db, { config: { ...testConfig(), deletionJournal: folder }, clock: new FakeClock(at) });

const outcomeOf = ({ verifier }: Services, key: string): Promise<unknown> =>
  verifier.verify(key).then((result) => (result.valid ? 'valid' : result.code), codeOf);

/** Asserts that the webhook message of an event has the published form. */
function assertPublished(event: AuditRow): void {
  const { type, data } = describe({ ...event, chain: 0, position: 0, mac: new Uint8Array() })!;
  const message = { id: 'msg_1', type, timestamp: new Date(event.at).toISOString(), data };
  assertWebhookMessage(message);
  assert.equal(data['reportedBy'], 'deletion_journal');
}

/** Keys before a backup: all valid. */
async function newKeys(services: Services) {
  const { apiKeys, keyChanges } = services;
  const ids: number[] = [];
  const texts: string[] = [];
  for (const nickname of ['leaked', 'kept', 'disabled', 'rotated']) {
    const { id, secret } = await apiKeys.create(operator, 'acc_ada', { nickname });
    ids.push(id);
    texts.push(secret.reveal());
  }
  const [leaked, kept, disabled, old] = texts as [string, string, string, string];
  await keyChanges.change(operator, 'acc_ada', ids[2]!, { disabled: true });
  const current = (await keyChanges.rotate(operator, 'acc_ada', ids[3]!, overlap)).secret.reveal();
  return { ids, leaked, kept, disabled, old, current };
}

onEachDatabase('a restore ends the secrets that leaked since the backup, and only these', async ({ db }) => {
  using temp = newTempFolder();
  const [backup, folder, caughtUp] = ['backup', 'journal', 'caught-up'].map((name) => join(temp.path, name));
  const services = wireTo(db, folder!);
  await addAccount(db, 'ada');
  const made = await newKeys(services);
  await backUp(db, backup!);
  const afterBackup = await services.apiKeys.create(operator, 'acc_ada', { nickname: 'later' });
  const results = await report(services, made.leaked, made.disabled, made.old, afterBackup.secret.reveal());
  assert.deepEqual(results, ['current', 'current', 'previous', 'current']);

  // The audit log yields the same entries, after a crash between a commit and its entry.
  const entriesOf = async (path: string): Promise<string[]> =>
    (await Array.fromAsync(readJournal(path, keys))).map(identityOf).filter((text) => text.startsWith('secret_leaked'));
  await journalIn(db, caughtUp!).catchUp();
  assert.deepEqual((await entriesOf(caughtUp!)).toSorted(), (await entriesOf(folder!)).toSorted());
  assert.deepEqual(await journalIn(db, folder!).catchUp(), { working: 0, isBehind: false });

  await using fresh = await databases[db.dialect]!();
  const restored = await restore(fresh.db, backup!, { journalFolders: [folder!], acceptsRevival: true });
  assert.deepEqual(restored.replayed, { ...nothingReplayed, secretsLeaked: 3 });
  const again = wireTo(fresh.db, folder!, later);
  const outcomes = await Promise.all(
    [made.leaked, made.kept, made.disabled, made.old, made.current].map((text) => outcomeOf(again, text)),
  );
  assert.deepEqual(outcomes, ['not_found', 'valid', 'not_found', 'not_found', 'valid']);
  const shown = await Promise.all(made.ids.map((id) => again.keyChanges.read('acc_ada', id)));
  assert.deepEqual(
    shown.map(({ disabledReason, leakedAt, previousExpiresAt }) => [
      disabledReason,
      leakedAt !== null,
      previousExpiresAt,
    ]),
    [
      ['leaked', true, null],
      [null, false, null],
      ['administrator', true, null],
      [null, false, null],
    ],
  );
  // No key gets one of the secrets again, not even the one that the backup lacks.
  for (const text of [made.leaked, made.old, afterBackup.secret.reveal()]) {
    const sha256 = createHash('sha256').update(text).digest('hex');
    const creating = again.apiKeys.createWithHash(operator, 'acc_ada', { nickname: 'again' }, sha256);
    await assert.rejects(creating, (error) => codeOf(error) === 'secret_taken');
  }
  const events = (await listAuditEvents(fresh.db)).filter(({ action }) => action === 'api_key.leaked');
  const secrets = events.map(
    ({ actor, details }) => `${actor} ${(JSON.parse(details ?? '') as { secret: string }).secret}`,
  );
  assert.deepEqual(secrets.toSorted(), ['system current', 'system current', 'system previous']);
  for (const event of events) assertPublished(event);
  assert.match(events[0]?.details ?? '', /^\{"by":"deletion_journal","secret":"\w+","hash":"01[0-9a-f]{64}"\}$/);

  // The owner enables the key by a rotation. Neither a report nor a replay questions it.
  const enabling = again.keyChanges.change(operator, 'acc_ada', made.ids[0]!, { disabled: false });
  await assert.rejects(enabling, (error) => codeOf(error) === 'key_leaked');
  const next = (await again.keyChanges.rotate(operator, 'acc_ada', made.ids[0]!, overlap)).secret.reveal();
  assert.deepEqual(await journalIn(fresh.db, folder!).catchUp(), { working: 0, isBehind: false });
  assert.deepEqual(await replay(fresh.db, folder!, later + 2), nothingReplayed);
  assert.equal(await outcomeOf(again, next), 'valid');
});

onEachDatabase('a database that has lost a leak is found and repaired', async ({ db }) => {
  using temp = newBackupFolder();
  const services = wireTo(db, temp.folder);
  await addAccount(db, 'ada');
  const { leaked, old } = await newKeys(services);
  await backUp(db, temp.backup);
  await report(services, leaked, old);
  // As after a failover: the state before the leak, without a replay.
  await using fresh = await databases[db.dialect]!();
  await restore(fresh.db, temp.backup, { acceptsRevival: true });
  const again = wireTo(fresh.db, temp.folder, later);
  assert.equal(await outcomeOf(again, leaked), 'valid');
  assert.equal((await journalIn(fresh.db, temp.folder).catchUp()).working, 2);
  assert.equal((await replay(fresh.db, temp.folder)).secretsLeaked, 2);
  assert.deepEqual([await outcomeOf(again, leaked), await outcomeOf(again, old)], ['not_found', 'not_found']);
});

onEachDatabase('a backup or a move of a leaked key keeps its state', async ({ db }) => {
  using temp = newBackupFolder();
  const services = wireTo(db, temp.folder);
  await addAccount(db, 'ada');
  const { ids, leaked } = await newKeys(services);
  await report(services, leaked);
  const stateIn = async (of: Db) => {
    const { disabledReason, disabledAt, leakedAt, hint } = await wireTo(of, temp.folder).keyChanges.read(
      'acc_ada',
      ids[0]!,
    );
    return { disabledReason, disabledAt, leakedAt, hint };
  };
  const state = await stateIn(db);
  await backUp(db, temp.backup);
  await using restored = await databases[db.dialect]!();
  const { replayed } = await restore(restored.db, temp.backup, { journalFolders: [temp.folder], acceptsRevival: true });
  assert.deepEqual([replayed, await stateIn(restored.db)], [nothingReplayed, state]);
  await using moved = await databases[db.dialect]!();
  await claimInstallation(db, keys.check, now);
  await moveInstallation(operator, db, moved.db, { keys, clock: new FakeClock(later) });
  assert.deepEqual(await stateIn(moved.db), state);
});
