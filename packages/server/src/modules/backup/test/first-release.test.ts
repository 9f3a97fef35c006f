/** A backup in the schema of the first release. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyLog } from '../../audit/verify-log.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { backUp, later, restore } from './backup-kit.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys } from '../../../../test-kit/rows.ts';
import { NarrowedKeys } from './narrowed-keys.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { contentsOf, fill } from './whole-installation.ts';

/** Converts a backup to the schema of the first release. */
function asOfFirstSchema(text: string): string {
  const added = [
    'second_factors',
    'recovery_codes',
    'webhook_endpoints',
    'audit_chains',
    'audit_cuts',
    'deleted_keys',
    'key_prefixes',
    'api_key_secrets',
    'key_usage',
    'key_meters',
    'quota_notices',
    'expiry_notices',
    'scopes',
    'leaked_secrets',
    'audit_key_changes',
    'passkeys',
  ];
  const columns = [
    'keys_imported_at',
    'unused_keys_checked_at',
    'unused_keys_counted_from',
    'unverified_since',
    'requires_second_factor',
    'enabled_count',
    'signed_up_at',
    'email_unconfirmed_since',
    'language',
    'scopes_need_role',
    'disabled_reason',
    'addresses',
    'metadata',
    'limits',
    'hint',
    'last_used_from',
    'used_from',
    'app_added_at',
    'revision',
    'environment',
    'public_key',
    'leaked_at',
    'first_environment',
    'last_backup_at',
    'entitlements',
    'entitlements_revision',
    'import_record',
    'chain',
    'position',
    'mac',
  ];
  const [header = '', ...rest] = text.split('\n').filter((line) => line !== '');
  const kept = rest
    .map((line) => JSON.parse(line) as { table?: string; rows?: object[]; counts?: Record<string, number> })
    .filter(({ table }) => table === undefined || !(added.includes(table) || table.startsWith('webhook_')));
  const known = kept.flatMap(({ table, rows = [] }) =>
    table === undefined
      ? []
      : [
          {
            table,
            rows: rows.map((row) =>
              Object.fromEntries(
                Object.entries(row).filter(
                  ([name]) => !columns.includes(name) && `${table}.${name}` !== 'api_keys.disabled_at',
                ),
              ),
            ),
          },
        ],
  );
  const body = [header.replace(/"schema":\d+/, '"schema":1'), ...known.map((line) => JSON.stringify(line))];
  const counts: Record<string, number> = {};
  for (const { table, rows } of known) counts[table] = (counts[table] ?? 0) + rows.length;
  const digest = createHash('sha256').update(body.map((line) => `${line}\n`).join(''));
  digest.update(JSON.stringify({ counts }));
  return [...body, JSON.stringify({ counts, mac: keys.backup.mac(digest.digest()).toString('hex') }), ''].join('\n');
}

onEachDatabase(
  'a backup that an earlier program made lacks restrictions: a restricted key is disabled, not valid without them',
  async ({ db }) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'backup');
    const made = await NarrowedKeys.create(db);
    await made.narrow(db);
    await backUp(db, path);
    writeFileSync(path, asOfFirstSchema(readFileSync(path, 'utf8')));
    const { replayed } = await restore(db, path, { mayReplace: true, acceptsRevival: true });
    assert.equal(replayed.apiKeysDisabled, 3);
    const states = await made.statesIn(db);
    for (const name of ['disabled', 'addresses', 'locked'] as const) assert.deepEqual(states[name], ['disabled'], name);
    // It lacks previous secrets too, which are therefore rejected.
    assert.deepEqual([states.overlap, states.kept], [['not found', 'a b'], ['a b']]);
    const events = (await listAuditEvents(db)).filter(({ details }) => details?.includes('"by":"restore"'));
    assert.deepEqual(events.map(({ action, details }) => `${action} ${details}`).toSorted(), [
      'api_key.disabled {"by":"restore","reason":"administrator"}',
      'api_key.disabled {"by":"restore","reason":"restore"}',
      'api_key.disabled {"by":"restore","reason":"restore"}',
    ]);
  },
);

onEachDatabase('a backup in the schema of the first release is restored', async ({ db }) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'backup');
  await fill(db);
  await backUp(db, path);
  const text = asOfFirstSchema(readFileSync(path, 'utf8'));
  for (const name of ['requires_second_factor', 'audit_chains', 'expiry_notices', '"position"'])
    assert.ok(!text.includes(name), name);
  writeFileSync(path, text);
  const { rows } = await restore(db, path, { mayReplace: true, acceptsRevival: true });
  assert.deepEqual([rows['accounts'], rows['api_keys'], rows['second_factors']], [2, 2, 0]);
  const { accounts: people = [], api_keys: kept = [], key_meters: meters } = await contentsOf(db);
  for (const person of people)
    assert.match(person, /"limits":null.*"requires_second_factor":0.*"unverified_since":null/);
  // It lacks limits and their use. A key is not disabled for that.
  for (const key of kept) assert.match(key, /"disabled_at":null.*"limits":null/);
  assert.deepEqual(meters, []);
  // The restored events predate the chains; only the event of the restore is chained.
  const verified = await db.snapshot((reader) => verifyLog(reader, keys, { now: later }));
  assert.deepEqual([verified.findings, verified.eventsBefore, verified.events], [[], 10, 1]);
});
