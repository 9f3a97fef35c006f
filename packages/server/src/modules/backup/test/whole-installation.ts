/** An installation with rows in every table, for the tests of backup and move, and its contents for comparison. */
import assert from 'node:assert/strict';
import { addUsage, useKeys } from '../../../../test-kit/uses.ts';
import { storedTables } from '../store.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { insertRootKeyTx } from '../../../foundation/database/root-keys.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { chainOf } from '../../audit/chain.ts';
import { cutChainTx } from '../../audit/cut-store.ts';
import { sealOf } from '../../audit/cuts.ts';
import { putKeyChangeTx } from '../../audit/key-change-store.ts';
import { sealOfChange } from '../../audit/key-changes.ts';
import { listChain } from '../../audit/store.ts';
import { dayMs } from '../../../foundation/clock.ts';
import type { NewKey } from '../../api-keys/new-key.ts';
import { testRootKeys } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, addSession, addSigningKey, keys, now, operator } from '../../../../test-kit/rows.ts';
import { deleteAccount, deleteKey, disableAccount } from '../../../../test-kit/store-changes.ts';

const insertBucket = sql(
  'test_insert_bucket',
  `insert into rate_limit_buckets (bucket, count, window_started_at, blocked_until, touched_at) values ($1, 3, $2, $2, $2)`,
);
const pk = `(select pk from accounts where id = 'acc_ada')`;
/** Writes one row with every column set to each table that the stores in these tests do not fill. */
const insertRest = [
  sql(
    'test_fill_installation',
    `update installation set keys_imported_at = $1, unused_keys_checked_at = $1, unused_keys_counted_from = $1,
       restored_at = $1, first_environment = 'live'`,
  ),
  sql(
    'test_fill_account',
    `update accounts set unverified_since = $1, requires_second_factor = 1, limits = '{}', import_record = '{}',
       entitlements = 'reports:read', entitlements_revision = 2, kind = 'service' where id = 'acc_bob'`,
  ),
  sql(
    'test_insert_scope',
    `insert into scopes (name, description, needs_entitlement, created_at, updated_at, deleted_at, revision)
     values ('reports:read', 'Reports', 1, $1, $1, $1, 3)`,
  ),
  sql(
    'test_insert_service_account',
    `insert into service_accounts (account_pk, name, external_id, creator_pk, created_at, updated_at)
     values ((select pk from accounts where id = 'acc_bob'), 'Billing', 'tenant 7', ${pk}, $1, $1)`,
  ),
  sql(
    'test_insert_service_account_manager',
    `insert into service_account_managers (service_pk, manager_pk, created_at)
     values ((select pk from accounts where id = 'acc_bob'), ${pk}, $1)`,
  ),
  sql('test_fill_session', `update sessions set client_ip = '192.0.2.1', user_agent = 'curl' where created_at = $1`),
  sql(
    'test_insert_second_factor',
    `insert into second_factors (account_pk, secret, created_at, confirmed_at, last_step, pending_secret, pending_at,
       app_added_at, used_from)
     values (${pk}, $2, $1, $1, 58000000, $2, $1, $1, '192.0.2.0/24 2001:db8::/48')`,
  ),
  sql(
    'test_insert_passkey',
    `insert into passkeys (id, account_pk, credential_id, public_key, counter, rp_id, transports, backed_up, name,
       created_at, last_used_at, used_from)
     values ('pas_one', ${pk}, $2, $2, 4294967295, 'auth.example.com', 'internal,hybrid', 1, 'Ada’s phone', $1, $1, '192.0.2.0/24')`,
  ),
  sql(
    'test_insert_sso_identity',
    `insert into sso_identities (id, account_pk, issuer, subject, provisioned, created_at, last_used_at)
     values ('idn_one', ${pk}, 'https://id.example.com', 'person', 1, $1, $1)`,
  ),
  sql(
    'test_insert_sso_session',
    `insert into sso_sessions (session_id, identity_id, sid) select id, 'idn_one', 'sid' from sessions where created_at = $1`,
  ),
  sql('test_insert_used_challenge', `insert into used_challenges (mac, expires_at) values ($2, $1)`),
  sql(
    'test_insert_recovery_code',
    `insert into recovery_codes (code_hash, account_pk, created_at) values ($2, ${pk}, $1)`,
  ),
  sql(
    'test_insert_webhook_endpoint',
    `insert into webhook_endpoints (id, url, secret, events, created_at, updated_at, disabled_at, last_delivered_at,
       last_failed_at, last_failure)
     values ('whe_one', 'https://example.com/', $2, 'account.created api_key.created', $1, $1, $1, $1, $1, 'timed out')`,
  ),
  sql(
    'test_insert_key_meter',
    `insert into key_meters (subject, kind, tat, used, period)
     values ('acc_bob', 'quota', $1, 41, '2026-11')`,
  ),
  sql(
    'test_insert_quota_notice',
    `insert into quota_notices (subject, period, quantity) values ('acc_bob', '2026-11', $1)`,
  ),
  sql('test_insert_expiry_notice', `insert into expiry_notices (days, day, account_pk, key_id) values (14, $1, 1, 7)`),
  sql(
    'test_fill_key',
    `update api_keys set disabled_at = $1, disabled_reason = 'owner', addresses = '192.0.2.0/24', metadata = '{"team":7}',
       limits = '{}', revision = 3, environment = 'test',
       leaked_at = $1, public_key = '{"kty":"OKP"}', trust = '{"audience":"a"}', issuer_id = 71,
       program = 'acme-cli' where nickname = 'server'`,
  ),
  sql(
    'test_insert_program',
    `insert into programs (id, name, scopes, lifetime_seconds, created_at, updated_at)
     values ('acme-cli', 'Acme CLI', 'a b', 3600, $1, $1)`,
  ),
  sql(
    'test_insert_approval_request',
    `insert into approval_requests (id, kind, program_id, user_code_hash, device_code_hash, client_range, state, data,
       account_pk, key_id, used_at, issued_at, created_at, expires_at)
     values ('apr_one', 'device', 'acme-cli', $2, $2, '192.0.2.0/24', 'used', '{}', ${pk}, 7, $1, $1, $1, $1)`,
  ),
  sql(
    'test_insert_portal_session',
    `insert into portal_sessions (id, account_pk, key_id, key_lookup, token_hash, secret_hash, data, person, created_at,
       redeemed_at, expires_at)
     values ('por_one', ${pk}, 7, 7, $2, $2, '{}', 'u_7', $1, $1, $1)`,
  ),
  sql(
    'test_insert_previous_secret',
    `insert into api_key_secrets (lookup, key_hash, key_id, expires_at, last_used_at, public_key, trust, issuer_id)
     values (7, $2, (select max(id) from api_keys), $1, $1, '{"kty":"EC"}', '{"audience":"b"}', 71)`,
  ),
  sql('test_insert_leaked_secret', 'insert into leaked_secrets (lookup, leaked_at) values (8, $1)'),
  sql(
    'test_insert_short_lived_secret',
    `insert into short_lived_secrets (lookup, key_hash, key_id, issued_by, assertion_id, created_at, expires_at,
       issuer_id, issuer_version)
     values (9, $2, (select max(id) from api_keys), 7, 'assertion-0123456789', $1, $1, 71, 2)`,
  ),
  sql(
    'test_insert_issuer',
    `insert into issuers (id, account_pk, url, preset, algorithms, lifetime_seconds, replay, id_claims, list_claims, jwks,
       version, refreshes, created_at, updated_at)
     values (71, ${pk}, 'https://id.example.com', 'gitlab', 'RS256', 3600, 'once', '["/sub"]', '["/groups"]', '{"keys":[]}', 2, 3,
       $1, $1)`,
  ),
  sql('test_insert_used_token', 'insert into used_tokens (issuer_id, token, expires_at) values (71, $2, $1)'),
  sql(
    'test_insert_key_token',
    `insert into key_tokens (key_id, is_accepted, slot, at, issuer, subject, reason, claims)
     values ((select max(id) from api_keys), 0, 1, $1, 'https://id.example.com', 'job', 'claims', '{}')`,
  ),
  sql(
    'test_insert_key_prefix',
    `insert into key_prefixes (prefix, environment) select 'acme_test', 'test' where cast($1 as bigint) > 0`,
  ),
  sql('test_insert_webhook_progress', `insert into webhook_progress (chain, position) values (3, $1)`),
  sql(
    'test_insert_webhook_delivery',
    `insert into webhook_deliveries (id, endpoint_id, type, event_at, chain, position, started_at, tried_at, delivered,
       attempt_count, attempts)
     values ('msg_one', 'whe_one', 'account.created', $1, 3, 1, $1, $1, 1, 1, '[]')`,
  ),
  sql('test_insert_minute', `insert into verification_minutes (minute, instance, counts) values ($1, 'ins_one', '{}')`),
  sql(
    'test_insert_instance',
    `insert into instances (id, version, started_at, seen_at, master_key_id, settings)
     values ('ins_one', '0.2.0', $1, $1, '0123456789abcdef', '{}')`,
  ),
  sql(
    'test_insert_retention',
    `insert into audit_retention (id, passed_at, jumped_ms, run_at, blocked) values (1, $1, $1, $1, 'clock')`,
  ),
  sql('test_insert_deleted_key', `insert into deleted_keys (id) values ($1)`),
  sql(
    'test_insert_applied_entry',
    `insert into applied_entries (id, kind, target, is_created, applied_at) values ('scope a', 'scope', 'a', 1, $1)`,
  ),
  sql(
    'test_insert_applied_file',
    `insert into applied_file (id, generation, digest, applied_at) values (1, 7, 'digest', $1)`,
  ),
  sql(
    'test_insert_outbox',
    `insert into outbox (id, kind, queue, payload, created_at, due_at, attempts, claimed_until, last_error)
     values ('out_one', 'mail', 'example.com', $2, $1, $1, 1, $1, 'it was busy')`,
  ),
  sql(
    'test_insert_one_time_code',
    `insert into one_time_codes
       (code_hash, purpose, account_pk, email, email_key, password_hash, target, created_at, expires_at)
     values ($2, 'email_change', ${pk}, 'Ada@example.org', 'ada@example.org', 'phc', '7', $1, $1)`,
  ),
  sql(
    'test_insert_email_change',
    `insert into email_changes (account_pk, email, email_key, changed_at, account_epoch)
     values (${pk}, 'Ada@example.org', 'ada@example.org', $1, 2)`,
  ),
  sql(
    'test_insert_mail',
    `insert into mail_log (id, account_pk, email, email_key, purpose, created_at, tried_at, attempt_count, delivered_at, failure)
     values ('msg_one', ${pk}, 'Ada@example.org', 'ada@example.org', 'password_changed', $1, $1, 2, $1, 'it was busy')`,
  ),
];

export interface Filled {
  readonly laptop: NewKey;
  readonly server: NewKey;
}

/**
 * Adds Ada with two keys, a session and a second factor, Bob who is a disabled service account, a deleted account, and a row in each
 * other table.
 */
export async function fill(db: Db): Promise<Filled> {
  assert.equal(await claimInstallation(db, keys.check, now), true);
  await db.transaction(async (tx) => {
    for (const row of testRootKeys.rows) await insertRootKeyTx(tx, row);
  });
  const ada = await addAccount(db, 'ada', 'admin');
  await addAccount(db, 'bob');
  await addAccount(db, 'gone');
  const laptop = await addKey(db, ada, 'laptop – 👩‍🚀 "\'', { id: Number.MAX_SAFE_INTEGER, scopes: ['a', 'b'] });
  const server = await addKey(db, ada, 'server', { expiresAt: now + 1_000 });
  const old = await addKey(db, ada, 'old');
  await deleteKey(db, { principal: operator, now }, ada, old.id);
  await disableAccount(db, { principal: operator, now }, 'acc_bob');
  await deleteAccount(db, { principal: operator, now }, 'acc_gone');
  await addSession(db, ada, 'one');
  await addSigningKey(db, 'kid');
  await db.transaction((tx) => tx.run(insertBucket, [keys.rateLimitBucket.mac('ada'), now]));
  await db.transaction(async (tx) => {
    for (const statement of insertRest) {
      const values = statement.text.postgres.includes('$2') ? [now, Uint8Array.of(0, 1, 255)] : [now];
      assert.equal(await tx.run(statement, values), 1, statement.name);
    }
  });
  await addUsage(db, [{ keyId: 7, at: now, accepted: 12, refused: 3 }]);
  await useKeys(db, [
    { id: 7, at: now, from: '192.0.2.0/24', changedAt: now - 1 },
    { id: 8, at: now, previousEndsAt: now },
  ]);
  await cutChain(db);
  const change = { chain: 40, version: 2, position: 0, mac: Uint8Array.of(0, 1, 255), changedAt: now };
  await db.transaction((tx) => putKeyChangeTx(tx, { ...change, seal: sealOfChange(keys.auditCut, change) }));
  return { laptop, server };
}

/** The retention has removed the first event of the deleted account. */
async function cutChain(db: Db): Promise<void> {
  const [first] = await listChain(db, chainOf('acc_gone'), 0, 1);
  assert.ok(first?.mac);
  const { chain, position, mac, id: eventId } = first;
  const cut = { chain, position, mac, eventId, eventsBefore: now - 50 * dayMs, days: 30, cutAt: now };
  await db.transaction((tx) => cutChainTx(tx, 0, { ...cut, seal: sealOf(keys.auditCut, cut) }));
}

const everything = (name: string) => sql<object>(`test_every_${name}`, `select * from ${name}`);

/** @returns by table: its rows as sorted text, with bytes in hexadecimal; without what belongs to the second file of SQLite */
export async function contentsOf(db: Db): Promise<Record<string, string[]>> {
  const entries = storedTables.map(async ({ name, isUsage = false }) => {
    const rows = await (isUsage ? db.usage : db).all(everything(name));
    const texts = rows.map((row) =>
      JSON.stringify(Object.fromEntries(Object.entries(row).filter(isContent).map(plain).toSorted(byName))),
    );
    return [name, texts.toSorted()] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const isContent = ([name]: [string, unknown]): boolean => !name.startsWith('usage_');
const byName = ([one]: [string, unknown], [other]: [string, unknown]): number => (one < other ? -1 : 1);
const plain = ([name, value]: [string, unknown]): [string, unknown] => [
  name,
  value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
];

export const countOf = async (db: Db, table: string): Promise<number> => (await contentsOf(db))[table]?.length ?? 0;
