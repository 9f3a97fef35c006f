/** Rights that were removed after a backup stay removed after a restore, and after a replay on an older database. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { hourMs } from '../../../foundation/clock.ts';
import { setEmailTx, setPasswordHash } from '../../accounts/credentials-store.ts';
import * as accounts from '../../accounts/store.ts';
import { recordAccountEventTx, type AccountEvent } from '../../audit/audit.ts';
import { confirmAccountEmail } from '../../accounts/unconfirmed-email-store.ts';
import { insertCodeTx } from '../../one-time-codes/store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { journalFiles, readPosition, writePosition } from '../../deletion-journal/files.ts';
import { changeKinds } from '../../deletion-journal/revocation.ts';
import { nothingReplayed } from '../replay.ts';
import * as enrolment from '../../second-factors/enrolment-store.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { insertJobTx } from '../../outbox/store.ts';
import { redeemProofTx } from '../../second-factors/second-factors.ts';
import { removeSecondFactorTx, replaceRecoveryCodesTx } from '../../second-factors/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import * as webhooks from '../../webhooks/store.ts';
import { backUp, journalIn, later, newBackupFolder, replay, restore } from './backup-kit.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addSession, hashOf, keys, now, operator } from '../../../../test-kit/rows.ts';
import { setAccountRole } from '../../../../test-kit/store-changes.ts';

const names = ['role', 'password', 'email', 'factor', 'codes', 'code', 'requirement', 'untouched'];
const endpoints = ['whe_disabled', 'whe_deleted', 'whe_moved', 'whe_widened', 'whe_untouched'];
const since = now + 10;
const codeOf = (name: string, number: number): Buffer => hashOf(`${name} ${number}`);

const insertFactor = sql(
  'test_insert_factor',
  `insert into second_factors (account_pk, secret, created_at, confirmed_at, last_step)
   select pk, $2, $3, $3, 0 from accounts where id = $1`,
);
const selectRights = sql<Record<string, unknown>>(
  'test_select_rights',
  `select a.id, a.role, a.password_hash as password, a.email_unconfirmed_since as unconfirmed,
     a.requires_second_factor as required,
     (select count(*) from second_factors f where f.account_pk = a.pk) as factors,
     (select count(*) from recovery_codes c where c.account_pk = a.pk) as codes
   from accounts a order by a.id`,
);
const selectEpochs = sql<{ epoch: number }>('test_epochs', `select session_epoch as epoch from accounts order by id`);
const rightsOf = async (db: Db) =>
  Object.fromEntries((await db.all(selectRights)).map(({ id, ...rights }) => [id, { ...rights }]));
const epochsOf = async (db: Db) => (await db.all(selectEpochs)).map(({ epoch }) => epoch);

const code = { purpose: 'reset_password', now, expiresAt: later + hourMs } as const;
const listCodes = sql<{ accountId: string }>(
  'test_list_codes',
  `select a.id as "accountId" from one_time_codes c join accounts a on a.pk = c.account_pk order by a.id`,
);

const full = { role: 'admin', password: 'phc', unconfirmed: null, required: 0, factors: 1, codes: 2 };

const listEndpointStates = sql<{ id: string; disabledAt: number | null }>(
  'test_endpoint_states',
  `select id, disabled_at as "disabledAt" from webhook_endpoints order by id`,
);
const countDeliveries = sql<{ count: number }>(
  'test_count_deliveries',
  `select count(*) as count from outbox where queue like 'webhook:%'`,
);
const endpointsOf = async (db: Db) =>
  Object.fromEntries((await db.all(listEndpointStates)).map(({ id, disabledAt }) => [id, disabledAt]));

/** Adds administrators with a password, a second factor and two recovery codes, and webhook endpoints. */
async function fillWithRights(db: Db): Promise<void> {
  for (const name of names) {
    const id = await addAccount(db, name, 'admin');
    await db.transaction(async (tx) => {
      await tx.run(insertFactor, [id, keys.secondFactorSeal.seal(id, 'SECRET'), now]);
      await replaceRecoveryCodesTx(tx, id, [codeOf(name, 1), codeOf(name, 2)], now);
    });
  }
  for (const id of endpoints) {
    const secret = keys.webhookSeal.seal(id, '{}');
    const endpoint = { id, url: 'https://example.com/', secret, events: 'account.created', now };
    await db.transaction((tx) => webhooks.createEndpointTx(tx, operator, endpoint, endpoints.length));
  }
}

const event = (action: AccountEvent['action'], id: string) => (db: Db) =>
  db.transaction((tx) => recordAccountEventTx(tx, { at: since, principal: operator, action, accountId: id }));

/** Makes one change of each kind with its audit event, without a journal entry, as after a crash. */
async function removeRights(db: Db): Promise<void> {
  await setAccountRole(db, operator, { id: 'acc_role', role: 'user', now: since });
  await setPasswordHash(db, operator, { id: 'acc_password', hash: 'another', now: since });
  await db.transaction(async (tx) => {
    const email = { email: 'new@example.com', canonicalEmail: 'new@example.com' };
    assert.ok(await setEmailTx(tx, { principal: operator, now: since }, 'acc_email', email));
  });
  await event('account.email_changed', 'acc_email')(db);
  await db.transaction((tx) => removeSecondFactorTx(tx, 'acc_factor'));
  await event('second_factor.removed', 'acc_factor')(db);
  const codes = {
    kind: 'account',
    accountId: 'acc_codes',
    sessionId: (await addSession(db, 'acc_codes', 'own')).id,
  } as const;
  const proof = { kind: 'totp', step: 7 } as const;
  await enrolment.replaceCodes(db, codes, { proof, codeHashes: [codeOf('codes', 3)], now: since });
  const owner = { kind: 'account', accountId: 'acc_code', sessionId: 'ses_code' } as const;
  const used = { kind: 'recovery_code', hash: codeOf('code', 1) } as const;
  await db.transaction((tx) => redeemProofTx(tx, owner, used, { now: since, from: null }));
  await accounts.requireSecondFactor(db, { principal: operator, now: since }, 'acc_requirement', true);
  await webhooks.disableEndpoint(db, { principal: operator, now: since }, 'whe_disabled');
  await db.transaction((tx) => webhooks.deleteEndpointTx(tx, { principal: operator, now: since }, 'whe_deleted'));
  const secret = Buffer.from('another');
  for (const change of [
    { id: 'whe_moved', url: 'https://example.org/', secret },
    { id: 'whe_widened', events: 'account.created account.deleted', secret },
  ])
    await db.transaction((tx) => webhooks.changeEndpointTx(tx, { principal: operator, now: since }, change));
}

const replayed = {
  ...nothingReplayed,
  rolesRemoved: 1,
  passwordsVoided: 1,
  emailsToConfirm: 1,
  secondFactorsRemoved: 1,
  recoveryCodesReplaced: 1,
  recoveryCodesUsed: 1,
  secondFactorsRequired: 1,
  webhooksDisabled: 2,
  webhooksDeleted: 1,
};
const endpointsAfterwards = { whe_disabled: later, whe_moved: later, whe_untouched: null, whe_widened: null };
const afterwards = (at: number) => ({
  acc_code: { ...full, codes: 1 },
  acc_codes: { ...full, codes: 0 },
  acc_email: { ...full, unconfirmed: at },
  acc_factor: { ...full, factors: 0, codes: 0 },
  acc_password: { ...full, password: '' },
  acc_requirement: { ...full, required: 1 },
  acc_role: { ...full, role: 'user' },
  acc_untouched: full,
});

onEachDatabase(
  'a restore brings back no removed role, second factor, recovery code, password or email address',
  async ({ db }) => {
    using temp = newBackupFolder();
    await fillWithRights(db);
    await backUp(db, temp.backup);
    await removeRights(db);
    const journal = journalIn(db, temp.folder);
    await journal.catchUp();
    const emails = (await db.all(sql<{ email: string }>('test_emails', `select email from accounts`))).map(
      (row) => row.email,
    );
    await using fresh = await databases[db.dialect]!();
    const restored = await restore(fresh.db, temp.backup, { journalFolders: [temp.folder] });
    assert.deepEqual(restored.replayed, replayed);
    assert.deepEqual(restored.unconfirmed, ['acc_email']);
    assert.equal(restored.journalHasChanges, true);
    assert.deepEqual(await rightsOf(fresh.db), afterwards(later));
    assert.deepEqual(await endpointsOf(fresh.db), endpointsAfterwards);
    const events = (await listAuditEvents(fresh.db)).filter(({ details }) => details?.includes('deletion_journal'));
    assert.deepEqual(
      events.map(({ action, actor, accountId, target }) => `${accountId ?? target} ${actor} ${action}`).toSorted(),
      [
        'acc_code system recovery_code.used',
        'acc_codes system recovery_codes.replaced',
        'acc_email system account.email_confirmation_required',
        'acc_factor system second_factor.removed',
        'acc_password system account.password_voided',
        'acc_requirement system account.second_factor_required',
        'acc_role system account.role_changed',
        'whe_deleted system webhook.deleted',
        'whe_disabled system webhook.disabled',
        'whe_moved system webhook.disabled',
      ],
    );
    // The journal holds ids and kinds, and no email address.
    const text = (await journalFiles(temp.folder)).map((path) => readFileSync(path, 'utf8')).join('');
    assert.ok(text.includes('"kind":"email_changed","id":"acc_email"'));
    for (const email of emails) assert.ok(!text.includes(email), email);
  },
);

onEachDatabase('a decision after a restore stays in force after the next restore', async ({ db }) => {
  using temp = newBackupFolder();
  await fillWithRights(db);
  await backUp(db, temp.backup);
  await removeRights(db);
  const journal = journalIn(db, temp.folder);
  await restore(db, temp.backup, { journal, mayReplace: true });
  const at = later + 1;
  await setAccountRole(db, operator, { id: 'acc_role', role: 'admin', now: at });
  await setPasswordHash(db, operator, { id: 'acc_password', hash: 'chosen anew', now: at });
  await confirmAccountEmail(db, operator, 'acc_email', at);
  await db.transaction((tx) =>
    tx.run(insertFactor, ['acc_factor', keys.secondFactorSeal.seal('acc_factor', 'NEW'), at]),
  );
  await accounts.requireSecondFactor(db, { principal: operator, now: at }, 'acc_requirement', false);
  await webhooks.enableEndpoint(db, operator, 'whe_disabled', at);
  const before = [await rightsOf(db), await endpointsOf(db)];
  assert.deepEqual(await journal.catchUp(), { working: 0, isBehind: false });
  assert.deepEqual(await replay(db, temp.folder, at + 1), nothingReplayed);
  assert.deepEqual([await rightsOf(db), await endpointsOf(db)], before);
});

onEachDatabase(
  'a database that has lost such changes is reported, and a replay repeats them and ends sessions',
  async ({ db }) => {
    using temp = newBackupFolder();
    await fillWithRights(db);
    await backUp(db, temp.backup);
    await using reverted = await databases[db.dialect]!();
    await restore(reverted.db, temp.backup, { acceptsRevival: true });
    const outbox = new Outbox({ db: reverted.db, clock: new FakeClock(), seal: keys.outboxSeal });
    await reverted.db.transaction(async (tx) => {
      for (const [place, name] of names.entries())
        await insertCodeTx(tx, { ...code, hash: Buffer.alloc(32, place), accountId: `acc_${name}` });
      for (const id of endpoints) await insertJobTx(tx, outbox.prepare('webhook', webhooks.queueOf(id), {}));
    });
    await removeRights(db);
    await journalIn(db, temp.folder).catchUp();
    const journal = journalIn(reverted.db, temp.folder);
    assert.deepEqual(await journal.catchUp(), { working: 10, isBehind: false });
    const epochs = await epochsOf(reverted.db);
    assert.deepEqual(await replay(reverted.db, temp.folder, later, true), replayed);
    assert.deepEqual(await epochsOf(reverted.db), epochs);
    assert.deepEqual(await replay(reverted.db, temp.folder), replayed);
    assert.deepEqual(await rightsOf(reverted.db), afterwards(later));
    assert.deepEqual(await endpointsOf(reverted.db), endpointsAfterwards);
    assert.equal((await reverted.db.get(countDeliveries))?.count, 2);
    assert.deepEqual(await reverted.db.all(listCodes), []);
    for (const [index, epoch] of (await epochsOf(reverted.db)).entries()) assert.ok(epoch > (epochs[index] ?? 0));
    assert.deepEqual(await journal.catchUp(), { working: 0, isBehind: false });
    assert.deepEqual(await replay(reverted.db, temp.folder), nothingReplayed);
  },
);

onEachDatabase(
  'a journal by a program that knows fewer kinds is completed from the audit log, and a restore before that reports what is missing',
  async ({ db }) => {
    using temp = newBackupFolder();
    await fillWithRights(db);
    await removeRights(db);
    await writePosition(temp.folder, keys, { event: 10_000, mark: '', at: later, changeKinds: changeKinds.length - 1 });
    await backUp(db, temp.backup);
    await using fresh = await databases[db.dialect]!();
    assert.equal((await restore(fresh.db, temp.backup, { journalFolders: [temp.folder] })).journalHasChanges, false);
    const journal = new DeletionJournal({ folder: temp.folder, db, clock: new FakeClock(later), keys });
    await journal.catchUp();
    assert.equal((await readPosition(temp.folder, keys))?.changeKinds, changeKinds.length);
    assert.equal((await journalFiles(temp.folder)).length, 1);
  },
);
