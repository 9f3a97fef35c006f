/** The lists in `docs/asvs.md` are complete: ways in, keys and stored data. The operational columns are listed here. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';
import { storedTables } from '../../src/modules/backup/store.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const page = read('docs/asvs.md');

/** The cells of each row of the last table below a heading. */
function rowsBelow(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = section.split(/^--- \|.*$/m).at(-1) ?? '';
  const lines = table.split('\n').filter((line) => line.includes(' | '));
  return lines.map((line) => line.split('|').map((cell) => cell.trim()));
}

const codesOf = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test(
  'every kind of credential of the contract is once in the list of ways in',
  { tags: ['asvs:6.1.3', 'asvs:6.3.4'] },
  () => {
    const listed = rowsBelow('Ways in').flatMap(([, cell]) => codesOf(cell));
    assert.deepEqual(listed.toSorted(), [...new Set(allRoutes.map(({ auth }) => auth))].toSorted());
  },
);

test('every purpose of the master key is once in the list of keys', { tags: ['asvs:11.1.1', 'asvs:11.1.2'] }, () => {
  const source = read('packages/server/src/foundation/crypto/master-key.ts');
  const purposes = [...source.matchAll(/\bderive\('([^']+)'\)/g)].map(([, purpose = '']) => purpose);
  assert.ok(purposes.length > 10, 'purposes are found');
  assert.deepEqual(
    rowsBelow('Keys')
      .flatMap(([cell]) => codesOf(cell))
      .toSorted(),
    purposes.toSorted(),
  );
});

/** By table. A new column is listed here if it is neither keyed nor sealed nor personal. */
const operational: Readonly<Record<string, string>> = {
  installation:
    'id created_at keys_imported_at unused_keys_checked_at unused_keys_counted_from first_environment last_backup_at restored_at usage_generation usage_commits',
  root_keys: 'version generation master_key_id created_at superseded_by',
  accounts:
    'pk id role session_epoch created_at updated_at disabled_at unverified_since requires_second_factor enabled_count signed_up_at language email_unconfirmed_since limits kind entitlements entitlements_revision',
  service_accounts: 'account_pk creator_pk created_at updated_at',
  service_account_managers: 'service_pk manager_pk created_at',
  scopes: 'name description needs_entitlement revision created_at updated_at deleted_at',
  second_factors: 'account_pk created_at confirmed_at last_step pending_at app_added_at',
  passkeys: 'id account_pk credential_id public_key counter rp_id transports backed_up created_at last_used_at',
  used_challenges: 'expires_at',
  recovery_codes: 'account_pk created_at',
  webhook_endpoints:
    'id url events created_at updated_at disabled_at last_delivered_at last_failed_at last_failure failing_since',
  webhook_progress: 'chain position',
  verification_minutes: 'minute instance counts',
  instances: 'id version started_at seen_at master_key_id',
  webhook_deliveries:
    'id endpoint_id type event_at chain position started_at tried_at delivered attempt_count attempts',
  signing_keys: 'kid alg public_jwk created_at activates_at revoked_at',
  sso_identities: 'id account_pk issuer provisioned created_at last_used_at',
  sso_sessions: 'session_id identity_id',
  api_keys:
    'rules id account_pk nickname folded scopes expires_at created_at updated_at scopes_need_role disabled_at disabled_reason hint revision limits environment leaked_at public_key trust issuer_id program',
  api_key_secrets: 'key_id expires_at last_used_at public_key trust issuer_id',
  leaked_secrets: 'leaked_at',
  short_lived_secrets: 'key_id issued_by assertion_id created_at expires_at issuer_id issuer_version',
  issuers:
    'id account_pk url preset algorithms lifetime_seconds replay id_claims list_claims jwks version refreshes created_at updated_at',
  used_tokens: 'issuer_id expires_at',
  key_tokens: 'key_id is_accepted slot at issuer reason',
  expiry_notices: 'days day account_pk key_id',
  key_meters: 'subject kind tat used period',
  quota_notices: 'subject period quantity',
  key_usage: 'step at key_id accepted refused',
  key_last_uses: 'key_id last_used_at changed_at previous_used_at previous_ends_at',
  key_prefixes: 'prefix environment',
  audit_events: 'id at actor action account_id target details chain position',
  audit_chains: 'chain events root_key_version',
  audit_cuts: 'chain position event_id events_before days cut_at',
  audit_key_changes: 'chain version position changed_at',
  audit_retention: 'id passed_at jumped_ms run_at blocked',
  deleted_keys: 'id',
  applied_entries: 'id kind target is_created applied_at',
  applied_file: 'id generation digest applied_at',
  sessions:
    'id account_pk account_epoch created_at generation rotated_at idle_expires_at expires_at kind authenticated_at',
  rate_limit_buckets: 'count window_started_at blocked_until touched_at',
  outbox: 'id kind queue created_at due_at attempts claimed_until last_error handed_over',
  email_changes: 'account_pk changed_at account_epoch',
  mail_log: 'id account_pk purpose created_at tried_at attempt_count delivered_at',
  one_time_codes: 'purpose account_pk target created_at expires_at',
  programs: 'id name scopes lifetime_seconds created_at updated_at',
  portal_sessions: 'id account_pk key_id created_at redeemed_at expires_at',
  approval_requests: 'id kind program_id state account_pk key_id used_at issued_at created_at expires_at',
};

test('every column of the database has one class of protection', { tags: ['asvs:14.1.1', 'asvs:14.1.2'] }, () => {
  const classified = rowsBelow('Stored data').flatMap(([table, ...cells]) =>
    cells.flatMap(codesOf).map((column) => `${table}.${column}`),
  );
  assert.ok(classified.length > 20);
  const others = Object.entries(operational).flatMap(([table, columns]) =>
    columns.split(' ').map((column) => `${table}.${column}`),
  );
  const listed = [...classified, ...others];
  const columns = storedTables.flatMap(({ name, columns: all }) =>
    Object.keys(all).map((column) => `${name}.${column}`),
  );
  assert.deepEqual(listed.toSorted(), columns.toSorted());
});
