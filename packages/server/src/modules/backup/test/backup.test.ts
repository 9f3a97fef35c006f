/** Backup and restore on each database, and from each database to each other. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as accounts from '../../accounts/store.ts';
import { BackupError } from '../format.ts';
import type { RestoreOptions } from '../restore.ts';
import { storedTables } from '../store.ts';
import { toInstant } from '../../../foundation/clock.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { JournalError } from '../../deletion-journal/files.ts';
import { replaceSigningKeys } from '../../signing-keys/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databaseKinds, databases } from '../../../../test-kit/new-db.ts';
import { nothingReplayed } from '../replay.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { backUp, journalIn, later, restore } from './backup-kit.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, keys, newSigningKey, now, operator } from '../../../../test-kit/rows.ts';
import { contentsOf, countOf, fill } from './whole-installation.ts';
import { deleteAccount, deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const listColumns = sql<{ table: string; column: string }>('test_list_columns', {
  sqlite: `select m.name as "table", c.name as "column" from sqlite_schema m, pragma_table_info(m.name) c
    where m.type = 'table' and m.name not like 'sqlite_%' and m.name not like 'api_key_names%'`,
  postgres: `select table_name as "table", column_name as "column" from information_schema.columns
    where table_schema = current_schema()`,
});

// Triggers fill the index of nicknames of SQLite, also during a restore.
onEachDatabase('every column of the schema is backed up and moved', async ({ db }) => {
  const files = db.usageFile ? [db, db.usageFile] : [db];
  const rows = (await Promise.all(files.map((file) => file.all(listColumns)))).flat();
  const known = storedTables.flatMap(({ name, columns }) => Object.keys(columns).map((column) => `${name}.${column}`));
  const own = ['schema_migrations', 'usage_file'];
  const found = rows.filter(({ table }) => !own.includes(table)).map((row) => `${row.table}.${row.column}`);
  assert.deepEqual(known.toSorted(), found.toSorted());
});

for (const from of databaseKinds) {
  for (const to of databaseKinds) {
    test(`a restore brings back everything except sessions, rate limits, mail and links (${from} to ${to})`, async () => {
      using temp = newTempFolder();
      await using source = await databases[from]!();
      await using target = await databases[to]!();
      await fill(source.db);
      const path = join(temp.path, 'backup.gz');
      const counts = await backUp(source.db, path);
      const { audit_chains: chains, ...others } = counts;
      assert.equal(chains, await countOf(source.db, 'audit_chains'));
      assert.deepEqual(others, {
        installation: 1,
        accounts: 2,
        second_factors: 1,
        passkeys: 1,
        sso_identities: 1,
        recovery_codes: 1,
        signing_keys: 1,
        programs: 1,
        api_keys: 2,
        api_key_secrets: 1,
        leaked_secrets: 1,
        issuers: 1,
        expiry_notices: 1,
        key_usage: 1,
        key_last_uses: 2,
        key_meters: 1,
        quota_notices: 1,
        webhook_endpoints: 1,
        key_prefixes: 1,
        scopes: 1,
        service_account_managers: 1,
        service_accounts: 1,
        webhook_progress: 1,
        audit_events: 10,
        audit_cuts: 1,
        audit_key_changes: 1,
        deleted_keys: 1,
        applied_entries: 1,
        applied_file: 1,
      });
      assert.equal(statSync(path).mode & 0o777, 0o600);
      assert.deepEqual(await readdir(temp.path), ['backup.gz']);

      const { rows } = await restore(target.db, path, { acceptsRevival: true });
      assert.deepEqual(rows, counts);
      const expected = await contentsOf(source.db);
      const found = await contentsOf(target.db);
      const raised = (text: string) =>
        text.replace(/"session_epoch":(\d+)/, (_, epoch) => `"session_epoch":${Number(epoch) + 1}`);
      assert.deepEqual(found['accounts'], expected['accounts']?.map(raised));
      const asTheyWere = [
        'second_factors',
        'recovery_codes',
        'signing_keys',
        'programs',
        'api_keys',
        'api_key_secrets',
        'leaked_secrets',
        'issuers',
        'expiry_notices',
        'key_usage',
        'key_last_uses',
        'key_meters',
        'quota_notices',
        'webhook_endpoints',
        'webhook_progress',
      ];
      // The time without a use starts again.
      const counting = (text: string) => text.replaceAll(/("unused_keys_\w+"|"restored_at"):\d+/g, `$1:${later}`);
      assert.deepEqual(found['installation'], expected['installation']?.map(counting));
      for (const name of asTheyWere) assert.deepEqual(found[name], expected[name]);
      const ended = [
        'sessions',
        'portal_sessions',
        'rate_limit_buckets',
        'outbox',
        'one_time_codes',
        'approval_requests',
      ];
      for (const name of ended) {
        assert.deepEqual([found[name], expected[name]?.length], [[], 1], name);
      }
      const trail = await listAuditEvents(target.db);
      assert.deepEqual(
        trail.slice(0, -1).map((row) => ({ ...row })),
        (await listAuditEvents(source.db)).map((row) => ({ ...row })),
      );
      assert.equal(trail.at(-1)?.action, 'installation.restored');
      // New rows get ids above the restored ones.
      await addKey(target.db, await addAccount(target.db, 'new'), 'first');
      assert.equal(await countOf(target.db, 'api_keys'), 3);
    });
  }
}

onEachDatabase('a restore of an older backup revives no deleted key or account, and keeps others', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  const folder = join(temp.path, 'journal');
  const { laptop, server } = await fill(db);
  await accounts.enableAccount(db, { principal: operator, now }, 'acc_bob');
  await addAccount(db, 'eve');
  await addKey(db, 'acc_eve', 'hers');
  await backUp(db, path);
  await deleteKey(db, { principal: operator, now: later }, 'acc_ada', laptop.id);
  await disableAccount(db, { principal: operator, now: later }, 'acc_ada');
  await accounts.enableAccount(db, { principal: operator, now: later }, 'acc_ada');
  await disableAccount(db, { principal: operator, now: later }, 'acc_bob');
  await deleteAccount(db, { principal: operator, now: later }, 'acc_eve');
  await replaceSigningKeys(db, operator, newSigningKey('kid2', { createdAt: later }));
  await journalIn(db, folder).catchUp();

  await using fresh = await databases[db.dialect]!();
  const { replayed, warnings } = await restore(fresh.db, path, { journalFolders: [folder] });
  assert.deepEqual(replayed, { ...nothingReplayed, apiKeys: 1, accounts: 1, signingKeys: 1, accountsDisabled: 1 });
  assert.deepEqual(warnings, []);
  const { api_keys: left = [], accounts: people = [], signing_keys: signing = [] } = await contentsOf(fresh.db);
  assert.deepEqual(
    left.map((text) => (JSON.parse(text) as { id: number }).id),
    [server.id],
  );
  const disabled = people.map((text) => JSON.parse(text) as { id: string; disabled_at: number | null });
  assert.deepEqual(Object.fromEntries(disabled.map((row) => [row.id, row.disabled_at])), {
    acc_ada: null,
    acc_bob: later,
  });
  assert.match(signing.join(), /"kid":"kid".*"revoked_at":\d/);
  // The service records an audit event for each.
  const recorded = (await listAuditEvents(fresh.db)).filter(({ details }) => details?.includes('deletion_journal'));
  assert.deepEqual(
    recorded.map(({ actor, action, accountId, target, at }) => [actor, action, accountId, target, at]),
    [
      ['system', 'api_key.deleted', 'acc_ada', String(laptop.id), later],
      ['system', 'account.deleted', 'acc_eve', 'acc_eve', later],
      ['system', 'signing_key.revoked', null, 'kid', later],
      ['system', 'account.disabled', 'acc_bob', 'acc_bob', later],
    ],
  );
});

onEachDatabase(
  'a restore is rejected without a journal that is complete up to the backup, unless revival is accepted',
  async ({ db }) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'backup');
    const stale = join(temp.path, 'stale');
    await fill(db);
    await new DeletionJournal({ folder: stale, db, clock: new FakeClock(now - 1_000), keys }).catchUp();
    await backUp(db, path);
    await using fresh = await databases[db.dialect]!();
    const refused = async (more: Partial<RestoreOptions>, reason: RegExp) =>
      assert.rejects(
        restore(fresh.db, path, more),
        (error) => error instanceof BackupError && reason.test(error.message),
      );
    await refused({}, /there is no deletion journal, so keys/);
    await refused({ journalFolders: [join(temp.path, 'nowhere')] }, /no deletion journal in .*nowhere/);
    await refused({ journalFolders: [stale] }, /known to be complete until 2026.*, and the backup was made/);
    // A newer line of one instance proves nothing about the deletions of other instances.
    await journalIn(db, stale).record([{ kind: 'api_key', id: '1', at: later }]);
    await refused({ journalFolders: [stale] }, /known to be complete until 2026.*, and the backup was made/);
    assert.equal(await countOf(fresh.db, 'accounts'), 0);
    const { journalCompleteUntil } = await restore(fresh.db, path, { journalFolders: [stale], acceptsRevival: true });
    assert.equal(journalCompleteUntil, toInstant(now - 1_000));
    assert.equal(await countOf(fresh.db, 'accounts'), 2);
  },
);

onEachDatabase(
  'an edited journal or one of another installation is rejected, or left out if revival is accepted',
  async ({ db }) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'backup');
    const folder = join(temp.path, 'journal');
    const { laptop } = await fill(db);
    await backUp(db, path);
    await deleteKey(db, { principal: operator, now: later }, 'acc_ada', laptop.id);
    const otherKeys = deriveKeys(Buffer.alloc(32, 8));
    await new DeletionJournal({ folder, db, clock: new FakeClock(later), keys: otherKeys }).catchUp();
    await using fresh = await databases[db.dialect]!();
    await assert.rejects(
      restore(fresh.db, path, { journalFolders: [folder] }),
      (error) => error instanceof JournalError,
    );
    assert.equal(await countOf(fresh.db, 'accounts'), 0);
    const { warnings } = await restore(fresh.db, path, { journalFolders: [folder], acceptsRevival: true });
    assert.equal(warnings.length, 2, warnings.join());
    assert.match(warnings.join(), /another installation/);
  },
);

onEachDatabase(
  'a database with rows is replaced only with --replace, and the deletions in its audit log are repeated',
  async ({ db }) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'backup');
    const { laptop } = await fill(db);
    await backUp(db, path);
    // As after a crash before the line was written.
    await deleteKey(db, { principal: operator, now: later }, 'acc_ada', laptop.id);
    const journal = journalIn(db, join(temp.path, 'journal'));
    const before = await contentsOf(db);
    await assert.rejects(restore(db, path, { journal }), /not empty/);
    assert.deepEqual(await contentsOf(db), before);
    const { replayed } = await restore(db, path, { journal, mayReplace: true });
    assert.equal(replayed.apiKeys, 1);
    assert.equal(await countOf(db, 'api_keys'), 1);
    // The audit log also counts without a journal.
    await disableAccount(db, { principal: operator, now: later }, 'acc_ada');
    assert.equal((await restore(db, path, { mayReplace: true })).replayed.accountsDisabled, 1);
    // Into another database, from the journal that the first restore has completed.
    await using fresh = await databases[db.dialect]!();
    assert.equal((await restore(fresh.db, path, { journalFolders: [journal.folder] })).replayed.apiKeys, 1);
  },
);

onEachDatabase(
  'events after a restore get higher ids than those in the journal, so the latest decision stays in force',
  async ({ db }) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'backup');
    await fill(db);
    await backUp(db, path);
    const journal = journalIn(db, join(temp.path, 'journal'));
    for (let round = 0; round < 5; round++) {
      await disableAccount(db, { principal: operator, now: later }, 'acc_ada');
      await accounts.enableAccount(db, { principal: operator, now: later }, 'acc_ada');
    }
    await disableAccount(db, { principal: operator, now: later }, 'acc_ada');
    await journal.catchUp();
    await using fresh = await databases[db.dialect]!();
    const there = journalIn(fresh.db, journal.folder);
    assert.equal((await restore(fresh.db, path, { journal: there })).replayed.accountsDisabled, 1);
    await accounts.enableAccount(fresh.db, { principal: operator, now: later }, 'acc_ada');
    await there.catchUp();
    assert.equal((await restore(fresh.db, path, { journal: there, mayReplace: true })).replayed.accountsDisabled, 0);
  },
);

onEachDatabase('a backup during writes is a snapshot of one moment', async ({ db, connect }) => {
  using temp = newTempFolder();
  const writer = await connect();
  await fill(db);
  // More rows than one page, so writes happen during the backup.
  for (let id = 0; id < 700; id++) await addKey(db, 'acc_ada', `k${id}`, { id: 10_000 + id });
  const progress = { isRunning: true };
  const write = async (): Promise<void> => {
    for (let id = 0; progress.isRunning; id++) {
      await addKey(writer, 'acc_ada', `w${id}`, { id: 100_000 + id });
      // When the first keys are deleted, those that were added meanwhile: a backup on a slow disk takes long.
      await deleteKey(writer, { principal: operator, now }, 'acc_ada', id < 700 ? 10_000 + id : 100_000 + id - 700);
      // Writes of SQLite end within their turn of the event loop, which the backup needs too.
      await setImmediate();
    }
  };
  const paths = [join(temp.path, 'one'), join(temp.path, 'two.gz'), join(temp.path, 'three')];
  const backUpAll = async (): Promise<void> => {
    try {
      for (const path of paths) await backUp(db, path);
    } finally {
      progress.isRunning = false;
    }
  };
  await Promise.all([write(), backUpAll()]);
  for (const path of paths) {
    await using fresh = await databases[db.dialect]!();
    await restore(fresh.db, path, { acceptsRevival: true });
    const trail = await listAuditEvents(fresh.db);
    const targets = (action: string) =>
      new Set(trail.filter((row) => row.action === action).map(({ target }) => target));
    const { api_keys: rows = [] } = await contentsOf(fresh.db);
    const ids = new Set(rows.map((text) => String((JSON.parse(text) as { id: number }).id)));
    assert.deepEqual(ids, targets('api_key.created').difference(targets('api_key.deleted')));
  }
});
