/**
 * Compares the deletion journal with a database: which entries has the database lost? Reads only. A restore repeats the
 * lost changes (`backup/replay-changes.ts`).
 */
import type { Reader } from '../../foundation/database/db.ts';
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
const findReplacedCodes = sql<FoundChange>('find_replaced_recovery_codes', foundIn(`${hasOldCodes} < given.at)`));
const findUsedCodes = sql<FoundChange>('find_used_recovery_codes', {
  sqlite: usedCodes('unhex(given.id)').sqlite,
  postgres: usedCodes(`decode(given.id, 'hex')`).postgres,
});
const findRequirements = sql<FoundChange>(
  'find_required_second_factors',
  foundIn(`a.requires_second_factor = 0 and not ${isRecorded(requirementActions)}`),
);
// Enabling an endpoint sets `updated_at`, so a later decision stands.
const findDisabledWebhooks = sql<FoundChange>(
  'find_disabled_webhooks',
  webhooksIn(`w.disabled_at is null and w.updated_at < given.at`),
);
const findDeletedWebhooks = sql<FoundChange>('find_deleted_webhooks', webhooksIn(`w.created_at <= given.at`));
// Every change of a key sets `updated_at`, so a later decision stands.
const findWidenedKeys = sql<FoundChange>(
  'find_widened_api_keys',
  onList(`select a.id as "accountId", given.id as target, given.id, given.at
    from {dated} join api_keys k on k.id = cast(given.id as bigint) join accounts a on a.pk = k.account_pk
    where k.disabled_at is null and k.updated_at < given.at`),
);
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
};

/** @returns the changes that the database has lost, each with its latest time */
export const findLostChanges = (
  reader: Reader,
  kind: ChangeKind,
  changes: readonly DatedId[],
): Promise<FoundChange[]> => reader.all(lost[kind], [JSON.stringify(latestOfEach(changes))]);

/** An id may occur several times, with different times. */
function latestOfEach(changes: readonly DatedId[]): DatedId[] {
  const latest = new Map<string, number>();
  for (const { id, at } of changes) latest.set(id, Math.max(at, latest.get(id) ?? at));
  return [...latest].map(([id, at]) => ({ id, at }));
}
