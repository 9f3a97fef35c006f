/**
 * Compares the deletion journal with a database: which entries has the database lost? Reads only. A restore repeats the
 * lost changes (`backup/replay-changes.ts`).
 */
import type { DisabledReason } from '@keyreeve/contract';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Reader } from '../../foundation/database/db.ts';
import { cutTimeOf, listCuts } from '../audit/cut-store.ts';
import { onList, type DatedId } from '../../foundation/database/json-lists.ts';
import { sql, type Statement } from '../../foundation/database/sql.ts';
import type { ChangeKind, FinalKind } from './revocation.ts';

/** A row that still exists or is still in force, although the journal records its end. */
export interface Found {
  readonly accountId: string | null;
  /** Id of the key, account, signing key or webhook endpoint, for the audit event. */
  readonly target: string;
}

const findKeys = sql<Found>(
  'find_listed_keys',
  onList(`select a.id as "accountId", cast(k.id as text) as target
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in ({numbers})`),
);
const findAccounts = sql<Found>(
  'find_listed_accounts',
  onList(`select id as "accountId", id as target from accounts where id in ({ids})`),
);
const findEnabled = sql<Found>(
  'find_listed_enabled_accounts',
  onList(`select id as "accountId", id as target from accounts where disabled_at is null and id in ({ids})`),
);
const findSigningKeys = sql<Found>(
  'find_listed_signing_keys',
  onList(`select null as "accountId", kid as target from signing_keys where revoked_at is null and kid in ({ids})`),
);
const listed: Readonly<Record<FinalKind | 'account_disabled', Statement<Found>>> = {
  api_key: findKeys,
  account: findAccounts,
  account_disabled: findEnabled,
  signing_key: findSigningKeys,
};

/** @returns those that still work. Ids that name nothing are left out. */
export const findListed = (reader: Reader, kind: keyof typeof listed, ids: readonly string[]): Promise<Found[]> =>
  reader.all(listed[kind], [JSON.stringify(ids)]);

/** A change of an account or endpoint that the database has lost. */
export interface FoundChange extends Omit<Found, 'target'>, DatedId {
  readonly target: string | null;
  /** For `secret_leaked`: which secret of the key it is. */
  readonly secret?: 'current' | 'previous' | 'short_lived';
}

const foundIn = (where: string) =>
  onList(`select a.id as "accountId", a.id as target, given.id, given.at
    from {dated} join accounts a on a.id = given.id where ${where}`);
/** The audit log of the database records the change itself, or a later one that replaces it. */
const isRecorded = (actions: string): string =>
  `exists (select 1 from audit_events e where e.account_id = a.id and e.at >= given.at and e.action in (${actions}))`;
const roleActions = `'account.role_changed'`;
const passwordActions = `'account.password_set', 'account.password_voided', 'account.compromised', 'account.verified',
  'account.email_change_undone'`;
const emailActions = `'account.email_changed', 'account.email_confirmed', 'account.email_confirmation_required',
  'account.email_change_undone'`;
const requirementActions = `'account.second_factor_required', 'account.second_factor_waived'`;
const hasOldFactor = `exists (select 1 from second_factors f where f.account_pk = a.pk and f.created_at <= given.at)`;
const hasOldCodes = `exists (select 1 from recovery_codes c where c.account_pk = a.pk and c.created_at`;
const usedCodes = (hash: string) =>
  onList(`select a.id as "accountId", null as target, given.id, given.at
    from {dated} join recovery_codes c on c.code_hash = ${hash} join accounts a on a.pk = c.account_pk`);
const webhooksIn = (where: string) =>
  onList(`select null as "accountId", w.id as target, given.id, given.at
    from {dated} join webhook_endpoints w on w.id = given.id where ${where}`);

const findRoles = sql<FoundChange>(
  'find_removed_roles',
  foundIn(`a.role = 'admin' and not ${isRecorded(roleActions)}`),
);
const findPasswords = sql<FoundChange>(
  'find_changed_passwords',
  foundIn(`a.password_hash <> '' and not ${isRecorded(passwordActions)}`),
);
const findEmails = sql<FoundChange>('find_changed_emails', foundIn(`not ${isRecorded(emailActions)}`));
const findFactors = sql<FoundChange>(
  'find_removed_second_factors',
  foundIn(`(${hasOldFactor} or ${hasOldCodes} <= given.at))`),
);
const findApps = sql<FoundChange>(
  'find_removed_authenticators',
  foundIn(`exists (select 1 from second_factors f where f.account_pk = a.pk and f.secret is not null and f.created_at <= given.at)
    and not ${isRecorded(`'authenticator.removed'`)}`),
);
const findPasskeys = sql<FoundChange>(
  'find_removed_passkeys',
  onList(`select a.id as "accountId", given.id as target, given.id, given.at
    from {dated} join passkeys p on p.id = given.id join accounts a on a.pk = p.account_pk`),
);
const findIdentities = sql<FoundChange>(
  'find_unlinked_identities',
  onList(`select a.id as "accountId", given.id as target, given.id, given.at
    from {dated} join sso_identities i on i.id = given.id join accounts a on a.pk = i.account_pk`),
);
const findReplacedCodes = sql<FoundChange>('find_replaced_recovery_codes', foundIn(`${hasOldCodes} < given.at)`));
const findUsedCodes = sql<FoundChange>('find_used_recovery_codes', {
  sqlite: usedCodes('unhex(given.id)').sqlite,
  postgres: usedCodes(`decode(given.id, 'hex')`).postgres,
});
const findRequirements = sql<FoundChange>(
  'find_required_second_factors',
  foundIn(`a.requires_second_factor = 0 and not ${isRecorded(requirementActions)}`),
);
// Every change of an endpoint sets `updated_at`, so a later decision stands.
const findDisabledWebhooks = sql<FoundChange>(
  'find_disabled_webhooks',
  webhooksIn(`w.disabled_at is null and w.updated_at < given.at`),
);
const findDeletedWebhooks = sql<FoundChange>('find_deleted_webhooks', webhooksIn(`w.created_at <= given.at`));
// Each change of a key has a unique time, so the audit log shows whether the database has this change. A later change does
// not replace it, because its principal may not have known that this one was lost. Only a replay replaces it: it disables the
// key for the same reason. A JSON text escapes the quotes in a nickname. A key can have many events: each listed change is
// looked up by its time in `audit_events_key_changes`, whose condition the statement repeats. The lookup is a scalar
// subselect, because PostgreSQL turns `exists` into a join that may read all events.
const eventOfKey = (where: string): string => `(select e.id from audit_events e where e.target = given.id
      and e.action in ('api_key.disabled', 'api_key.rotated', 'api_key.previous_ended', 'api_key.updated')
      and ${where} order by e.at limit 1) is null`;
const narrows = `(e.action <> 'api_key.updated' or e.details not like '%"narrowed":[]%')`;
const lostOfKeys = (reason: DisabledReason) =>
  onList(`select a.id as "accountId", given.id as target, given.id, given.at
    from {dated} join api_keys k on k.id = cast(given.id as bigint) join accounts a on a.pk = k.account_pk
    where k.updated_at <> given.at and ${eventOfKey(`e.at = given.at and ${narrows}`)}
      and ${eventOfKey(`e.at > given.at and e.action = 'api_key.disabled' and e.details like '%"reason":"${reason}"%'`)}`);
const findWidenedKeys = sql<FoundChange>('find_widened_api_keys', lostOfKeys('restore'));
const findUnlockedKeys = sql<FoundChange>('find_unlocked_api_keys', lostOfKeys('administrator'));
// Other changes of the account set its `updated_at` by the clock of their instance. A removal can therefore have an earlier
// time than an older change, so only its own event, or a later replay, shows that the database has it. The events are read
// once for all listed changes.
const findEntitlements = sql<FoundChange>(
  'find_removed_entitlements',
  onList(`with events as (select e.account_id, e.at, e.details from audit_events e
      where e.account_id in (select given.id from {dated}) and e.action = 'account.entitlements_set')
    select a.id as "accountId", a.id as target, given.id, given.at from {dated} join accounts a on a.id = given.id
      left join (select account_id, max(at) as at from events where details like '%"by":"deletion_journal"%'
        group by account_id) replayed on replayed.account_id = a.id
    where a.entitlements is not null and coalesce(replayed.at, given.at) <= given.at
      and (a.id, given.at) not in (select account_id, at from events where details not like '%"removed":[]%')`),
);
// Each change of a scope sets `updated_at` and replaces all values. A deleted scope is in force on no key, so a mark does not
// matter.
// Only repetitions of a mark and of a deletion may have the same time.
const scopesUnless = (isNarrow: string) =>
  onList(`select null as "accountId", given.id as target, given.id, given.at from {dated}
    where not exists (select 1 from scopes s where s.name = given.id and (s.updated_at > given.at or ${isNarrow}))`);
const findUnmarked = sql<FoundChange>(
  'find_unmarked_scopes',
  scopesUnless('s.deleted_at is not null or s.needs_entitlement = 1'),
);
const findUndeleted = sql<FoundChange>('find_undeleted_scopes', scopesUnless('s.deleted_at is not null'));
// Each change of the managers has a later time than the previous one, so a manager with a later time was added again.
const managersIn = (service: string, manager: string) =>
  onList(`select s.id as "accountId", given.id as target, given.id, given.at from {dated}
    join accounts s on s.id = ${service} join accounts a on a.id = ${manager}
    join service_account_managers m on m.service_pk = s.pk and m.manager_pk = a.pk
    where m.created_at < given.at`);
const findManagers = sql<FoundChange>('find_removed_managers', {
  sqlite: managersIn(`substr(given.id, 1, instr(given.id, '/') - 1)`, `substr(given.id, instr(given.id, '/') + 1)`)
    .sqlite,
  postgres: managersIn(`split_part(given.id, '/', 1)`, `split_part(given.id, '/', 2)`).postgres,
});
const filesIn = (generation: string) =>
  onList(`select null as "accountId", given.id as target, given.id, given.at from {dated}
    where not exists (select 1 from applied_file f where f.generation >= cast(${generation} as bigint))`);
const findFiles = sql<FoundChange>('find_forgotten_applied_files', {
  sqlite: filesIn(`substr(given.id, 1, instr(given.id, '/') - 1)`).sqlite,
  postgres: filesIn(`split_part(given.id, '/', 1)`).postgres,
});
// Each change of an issuer has a later time than the previous one, so a later change stands.
const issuersIn = (where: string) =>
  onList(`select ia.id as "accountId", given.id as target, given.id, given.at
    from {dated} join issuers i on i.id = cast(given.id as bigint) left join accounts ia on ia.pk = i.account_pk ${where}`);
const findNarrowedIssuers = sql<FoundChange>('find_narrowed_issuers', issuersIn('where i.updated_at < given.at'));
const findRemovedIssuers = sql<FoundChange>('find_removed_issuers', issuersIn(''));
// The lookup is that of the hash.
const leakedOf = (secret: NonNullable<FoundChange['secret']>, isSame: string, joins: string, where = 'true'): string =>
  `select a.id as "accountId", cast(k.id as text) as target, leaked.id, leaked.at, '${secret}' as secret
    from leaked ${joins.replace('{same}', isSame)} join accounts a on a.pk = k.account_pk
    where ${where}`;
const leakedIn = (isSame: (row: string) => string): string =>
  [
    leakedOf('current', isSame('k'), 'join api_keys k on {same}'),
    leakedOf('previous', isSame('s'), 'join api_key_secrets s on {same} join api_keys k on k.id = s.key_id'),
    leakedOf(
      'short_lived',
      isSame('s'),
      'join short_lived_secrets s on {same} join api_keys k on k.id = s.key_id',
      's.expires_at > 0',
    ),
  ].join(' union all ');
const isLeaked = (row: string): string => `${row}.lookup = leaked.lookup and ${row}.key_hash = leaked.hash`;
const findLeaked = sql<FoundChange>('find_leaked_api_key_secrets', {
  sqlite: `with leaked as materialized (select value ->> '$.id' as id, value ->> '$.at' as at, unhex(value ->> '$.id') as hash,
     value ->> '$.lookup' as lookup from json_each($1)) ${leakedIn(isLeaked)}`,
  postgres: `with leaked as materialized (select id, at, decode(id, 'hex') as hash, lookup
     from json_to_recordset($1::json) as listed (id text, at bigint, lookup bigint)) ${leakedIn(isLeaked)}`,
});
const lost: Readonly<Record<ChangeKind, Statement<FoundChange>>> = {
  role_removed: findRoles,
  password_changed: findPasswords,
  email_changed: findEmails,
  second_factor_removed: findFactors,
  recovery_codes_replaced: findReplacedCodes,
  recovery_code_used: findUsedCodes,
  second_factor_required: findRequirements,
  webhook_disabled: findDisabledWebhooks,
  webhook_deleted: findDeletedWebhooks,
  api_key_narrowed: findWidenedKeys,
  api_key_disabled_by_administrator: findUnlockedKeys,
  entitlements_removed: findEntitlements,
  scope_entitled: findUnmarked,
  scope_deleted: findUndeleted,
  manager_removed: findManagers,
  secret_leaked: findLeaked,
  authenticator_removed: findApps,
  passkey_removed: findPasskeys,
  identity_unlinked: findIdentities,
  file_applied: findFiles,
  issuer_narrowed: findNarrowedIssuers,
  issuer_removed: findRemovedIssuers,
};
/** A change of these kinds with a later time does not replace one with an earlier time. */
const independentKinds: readonly ChangeKind[] = [
  'api_key_narrowed',
  'api_key_disabled_by_administrator',
  'entitlements_removed',
];

/** Only the audit log shows whether the database has these changes. */
const auditedKinds: readonly ChangeKind[] = [
  'role_removed',
  'password_changed',
  'email_changed',
  'second_factor_required',
  'api_key_narrowed',
  'api_key_disabled_by_administrator',
  'entitlements_removed',
  'authenticator_removed',
];

/** @returns the changes that the database has lost, each with its latest time */
export async function findLostChanges(
  reader: Reader,
  kind: ChangeKind,
  changes: readonly DatedId[],
): Promise<FoundChange[]> {
  const recorded = auditedKinds.includes(kind) ? await withoutRemoved(reader, changes) : changes;
  const given = independentKinds.includes(kind) ? recorded : latestOfEach(recorded);
  const items = kind === 'secret_leaked' ? given.map(withLookup) : given;
  return latestOfEach(await reader.all(lost[kind], [JSON.stringify(items)]));
}

/** The retention has removed events only of a database that had all changes from before the cut. */
async function withoutRemoved(reader: Reader, changes: readonly DatedId[]): Promise<readonly DatedId[]> {
  const removedBefore = cutTimeOf(await listCuts(reader));
  return changes.filter(({ at }) => at >= removedBefore);
}

const withLookup = (change: DatedId) => ({ ...change, lookup: lookupOf(Buffer.from(change.id, 'hex')) });

/** An id may occur several times, with different times. */
function latestOfEach<T extends DatedId>(changes: readonly T[]): T[] {
  const latest = new Map<string, T>();
  for (const change of changes)
    if (change.at >= (latest.get(change.id)?.at ?? -Infinity)) latest.set(change.id, change);
  return [...latest.values()];
}
