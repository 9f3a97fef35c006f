/**
 * What the journal says, done to a database that doesn't know it. Each change has its audit row, by the service itself.
 * Ids come as a JSON array; those that name nothing, or nothing that still works, count for nothing.
 */
import { recordEvents, type AuditAction } from '../audit/audit.ts';
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import type { ChangeKind } from './revocation.ts';
import { sql, type Dialect, type Statement } from '../../foundation/database/sql.ts';

const listed = {
  sqlite: 'select value from json_each($1)',
  postgres: 'select value from json_array_elements_text($1::json)',
};
const numbers = {
  sqlite: 'select cast(value as integer) from json_each($1)',
  postgres: 'select value::bigint from json_array_elements_text($1::json)',
};
/** What works and is to stop, by its id and whose it is. */
interface Found {
  readonly accountId: string | null;
  readonly target: string;
}

const findKeys = sql<Found>('find_listed_keys', {
  sqlite: `select a.id as "accountId", cast(k.id as text) as target
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in (${numbers.sqlite})`,
  postgres: `select a.id as "accountId", cast(k.id as text) as target
    from api_keys k join accounts a on a.pk = k.account_pk where k.id in (${numbers.postgres})`,
});
const deleteKeys = sql('replay_deleted_keys', {
  sqlite: `delete from api_keys where id in (${numbers.sqlite})`,
  postgres: `delete from api_keys where id in (${numbers.postgres})`,
});
const findAccounts = sql<Found>('find_listed_accounts', {
  sqlite: `select id as "accountId", id as target from accounts where id in (${listed.sqlite})`,
  postgres: `select id as "accountId", id as target from accounts where id in (${listed.postgres})`,
});
const deleteAccounts = sql('replay_deleted_accounts', {
  sqlite: `delete from accounts where id in (${listed.sqlite})`,
  postgres: `delete from accounts where id in (${listed.postgres})`,
});
const findEnabled = sql<Found>('find_listed_enabled_accounts', {
  sqlite: `select id as "accountId", id as target
    from accounts where disabled_at is null and id in (${listed.sqlite})`,
  postgres: `select id as "accountId", id as target
    from accounts where disabled_at is null and id in (${listed.postgres})`,
});
const disableAccounts = sql('replay_disabled_accounts', {
  sqlite: `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
    where disabled_at is null and id in (${listed.sqlite})`,
  postgres: `update accounts set disabled_at = $2, session_epoch = session_epoch + 1, updated_at = $2
    where disabled_at is null and id in (${listed.postgres})`,
});
const findSigningKeys = sql<Found>('find_listed_signing_keys', {
  sqlite: `select null as "accountId", kid as target
    from signing_keys where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `select null as "accountId", kid as target
    from signing_keys where revoked_at is null and kid in (${listed.postgres})`,
});
const revokeSigningKeys = sql('replay_revoked_signing_keys', {
  sqlite: `update signing_keys set revoked_at = $2 where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `update signing_keys set revoked_at = $2 where revoked_at is null and kid in (${listed.postgres})`,
});

const countKeys = sql<{ count: number }>('count_listed_keys', {
  sqlite: `select count(*) as count from api_keys where id in (${numbers.sqlite})`,
  postgres: `select count(*) as count from api_keys where id in (${numbers.postgres})`,
});
const countAccounts = sql<{ count: number }>('count_listed_accounts', {
  sqlite: `select count(*) as count from accounts where id in (${listed.sqlite})`,
  postgres: `select count(*) as count from accounts where id in (${listed.postgres})`,
});
const countSigningKeys = sql<{ count: number }>('count_listed_signing_keys', {
  sqlite: `select count(*) as count from signing_keys where revoked_at is null and kid in (${listed.sqlite})`,
  postgres: `select count(*) as count from signing_keys where revoked_at is null and kid in (${listed.postgres})`,
});
const counts = { api_key: countKeys, account: countAccounts, signing_key: countSigningKeys };

/** How many of them are there, and not revoked. */
export const countListed = async (reader: Reader, kind: keyof typeof counts, ids: readonly string[]): Promise<number> =>
  (await reader.get(counts[kind], [JSON.stringify(ids)]))?.count ?? 0;

interface Change {
  readonly find: Statement<Found>;
  readonly change: Statement<never>;
  readonly action: AuditAction;
}

async function apply(
  tx: Transaction,
  { find, change, action }: Change,
  values: readonly [ids: string, now?: number],
  at: number,
): Promise<number> {
  const found = await tx.all(find, [values[0]]);
  if (found.length === 0) return 0;
  const details = { by: 'deletion_journal' };
  const events = found.map(({ accountId, target }) => ({
    at,
    principal: { kind: 'system' } as const,
    action,
    ...(accountId === null ? {} : { accountId }),
    target,
    details,
  }));
  await recordEvents(tx, events);
  return tx.run(change, values as readonly (string | number)[]);
}

const keys: Change = { find: findKeys, change: deleteKeys, action: 'api_key.deleted' };
const accounts: Change = { find: findAccounts, change: deleteAccounts, action: 'account.deleted' };
const disabled: Change = { find: findEnabled, change: disableAccounts, action: 'account.disabled' };
const signingKeys: Change = { find: findSigningKeys, change: revokeSigningKeys, action: 'signing_key.revoked' };

/** @returns how many there were */
export const deleteListedKeys = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, keys, [JSON.stringify(ids)], now);

/** With all that belongs to them. */
export const deleteListedAccounts = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, accounts, [JSON.stringify(ids)], now);

export const disableListedAccounts = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, disabled, [JSON.stringify(ids), now], now);

export const revokeListedSigningKeys = (tx: Transaction, ids: readonly string[], now: number): Promise<number> =>
  apply(tx, signingKeys, [JSON.stringify(ids), now], now);

/** A change and its time, in milliseconds. */
export interface DatedId {
  readonly id: string;
  readonly at: number;
}

const given = {
  sqlite: `(select value ->> '$.id' as id, value ->> '$.at' as at from json_each($1)) given`,
  postgres: `json_to_recordset($1::json) as given (id text, at bigint)`,
};
interface FoundChange extends Found, DatedId {}
/** What a change of this time takes away and the database still has: the account, and what the event is about. */
const foundIn = (where: string): Record<Dialect, string> => {
  const of = (dialect: Dialect): string => `select a.id as "accountId", a.id as target, given.id, given.at
    from ${given[dialect]} join accounts a on a.id = given.id where ${where}`;
  return { sqlite: of('sqlite'), postgres: of('postgres') };
};
/** @param change with the found rows as `{found}` */
const changeOf = (change: string): Record<Dialect, string> => ({
  sqlite: change.replace('{found}', () => given.sqlite),
  postgres: change.replace('{found}', () => given.postgres),
});
/** The audit log of the database records the change itself, or a later one that stands in its place. */
const isKnown = (actions: string): string =>
  `exists (select 1 from audit_events e where e.account_id = a.id and e.at >= given.at and e.action in (${actions}))`;
const roleActions = `'account.role_changed'`;
const passwordActions = `'account.password_set', 'account.password_voided', 'account.compromised', 'account.verified',
  'account.email_change_undone'`;
const emailActions = `'account.email_changed', 'account.email_confirmed', 'account.email_confirmation_required',
  'account.email_change_undone'`;
const requirementActions = `'account.second_factor_required', 'account.second_factor_waived'`;
const hasOldFactor = `exists (select 1 from second_factors f where f.account_pk = a.pk and f.created_at <= given.at)`;
const hasOldCodes = `exists (select 1 from recovery_codes c where c.account_pk = a.pk and c.created_at`;
const codesOf = `delete from recovery_codes where exists (select 1 from {found} join accounts a on a.id = given.id
  where a.pk = recovery_codes.account_pk and recovery_codes.created_at`;

const findRoles = sql<FoundChange>('find_removed_roles', foundIn(`a.role = 'admin' and not ${isKnown(roleActions)}`));
const removeRoles = sql(
  'replay_removed_roles',
  changeOf(`update accounts set role = 'user', session_epoch = session_epoch + 1, updated_at = $2
    where id in (select id from {found})`),
);
const findPasswords = sql<FoundChange>(
  'find_changed_passwords',
  foundIn(`a.password_hash <> '' and not ${isKnown(passwordActions)}`),
);
const voidPasswords = sql(
  'replay_changed_passwords',
  changeOf(`update accounts set password_hash = '', session_epoch = session_epoch + 1, updated_at = $2
    where id in (select id from {found})`),
);
const findEmails = sql<FoundChange>('find_changed_emails', foundIn(`not ${isKnown(emailActions)}`));
const unconfirmEmails = sql(
  'replay_changed_emails',
  changeOf(`update accounts set email_unconfirmed_since = $2, updated_at = $2 where id in (select id from {found})`),
);
const findFactors = sql<FoundChange>(
  'find_removed_second_factors',
  foundIn(`(${hasOldFactor} or ${hasOldCodes} <= given.at))`),
);
const removeFactors = sql(
  'replay_removed_second_factors',
  changeOf(`delete from second_factors where exists (select 1 from {found} join accounts a on a.id = given.id
    where a.pk = second_factors.account_pk and second_factors.created_at <= given.at)`),
);
const removeCodesOfFactors = sql('replay_codes_of_removed_factors', changeOf(`${codesOf} <= given.at)`));
const findReplacedCodes = sql<FoundChange>('find_replaced_recovery_codes', foundIn(`${hasOldCodes} < given.at)`));
const removeReplacedCodes = sql('replay_replaced_recovery_codes', changeOf(`${codesOf} < given.at)`));
const usedCodes = (
  hash: string,
  from: string,
): string => `select a.id as "accountId", null as target, given.id, given.at
  from ${from} join recovery_codes c on c.code_hash = ${hash} join accounts a on a.pk = c.account_pk`;
const findUsedCodes = sql<FoundChange>('find_used_recovery_codes', {
  sqlite: usedCodes('unhex(given.id)', given.sqlite),
  postgres: usedCodes(`decode(given.id, 'hex')`, given.postgres),
});
const removeUsedCodes = sql('replay_used_recovery_codes', {
  sqlite: `delete from recovery_codes where code_hash in (select unhex(given.id) from ${given.sqlite})`,
  postgres: `delete from recovery_codes where code_hash in (select decode(given.id, 'hex') from ${given.postgres})`,
});

const findRequirements = sql<FoundChange>(
  'find_required_second_factors',
  foundIn(`a.requires_second_factor = 0 and not ${isKnown(requirementActions)}`),
);
const requireFactors = sql(
  'replay_required_second_factors',
  changeOf(`update accounts set requires_second_factor = 1, updated_at = $2 where id in (select id from {found})`),
);
const webhooksIn = (where: string): Record<Dialect, string> => {
  const of = (dialect: Dialect): string => `select null as "accountId", w.id as target, given.id, given.at
    from ${given[dialect]} join webhook_endpoints w on w.id = given.id where ${where}`;
  return { sqlite: of('sqlite'), postgres: of('postgres') };
};
// Enabling an endpoint sets `updated_at`, so a later decision stands.
const findDisabledWebhooks = sql<FoundChange>(
  'find_disabled_webhooks',
  webhooksIn(`w.disabled_at is null and w.updated_at < given.at`),
);
const disableWebhooks = sql(
  'replay_disabled_webhooks',
  changeOf(`update webhook_endpoints set disabled_at = $2, updated_at = $2 where id in (select id from {found})`),
);
const findDeletedWebhooks = sql<FoundChange>('find_deleted_webhooks', webhooksIn(`w.created_at <= given.at`));
const deleteWebhooks = sql(
  'replay_deleted_webhooks',
  changeOf(`delete from webhook_endpoints where id in (select id from {found})`),
);
const removeDeliveries = sql(
  'replay_removed_deliveries',
  changeOf(`delete from outbox where queue in (select 'webhook:' || id from {found})`),
);
// As the change itself did: a link that was sent before it must not work again.
const removeSentCodes = sql(
  'replay_voided_codes',
  changeOf(`delete from one_time_codes where purpose <> 'set_email'
    and account_pk in (select pk from accounts where id in (select id from {found}))`),
);

const datedChanges: Readonly<Record<ChangeKind, DatedChange>> = {
  role_removed: { find: findRoles, change: removeRoles, action: 'account.role_changed', details: { role: 'user' } },
  password_changed: {
    find: findPasswords,
    change: voidPasswords,
    alsoChange: removeSentCodes,
    action: 'account.password_voided',
  },
  email_changed: {
    find: findEmails,
    change: unconfirmEmails,
    alsoChange: removeSentCodes,
    action: 'account.email_confirmation_required',
  },
  second_factor_removed: {
    find: findFactors,
    change: removeFactors,
    alsoChange: removeCodesOfFactors,
    action: 'second_factor.removed',
  },
  recovery_codes_replaced: { find: findReplacedCodes, change: removeReplacedCodes, action: 'recovery_codes.replaced' },
  recovery_code_used: { find: findUsedCodes, change: removeUsedCodes, action: 'recovery_code.used' },
  second_factor_required: {
    find: findRequirements,
    change: requireFactors,
    action: 'account.second_factor_required',
  },
  webhook_disabled: {
    find: findDisabledWebhooks,
    change: disableWebhooks,
    alsoChange: removeDeliveries,
    action: 'webhook.disabled',
  },
  webhook_deleted: {
    find: findDeletedWebhooks,
    change: deleteWebhooks,
    alsoChange: removeDeliveries,
    action: 'webhook.deleted',
  },
};

interface DatedChange {
  readonly find: Statement<FoundChange>;
  /** Its values: the found rows as JSON, and the time where it says $2. */
  readonly change: Statement<never>;
  /** With the found rows. */
  readonly alsoChange?: Statement<never>;
  readonly action: AuditAction;
  readonly details?: Readonly<Record<string, string>>;
}

const findUnknown = (reader: Reader, kind: ChangeKind, dated: readonly DatedId[]) =>
  reader.all(datedChanges[kind].find, [JSON.stringify(newestOfEach(dated))]);

/** How many of these changes the database doesn't know. */
export const countUnknownChanges = async (reader: Reader, kind: ChangeKind, dated: readonly DatedId[]) =>
  (await findUnknown(reader, kind, dated)).length;

/** One id may be dated with several times. */
function newestOfEach(dated: readonly DatedId[]): DatedId[] {
  const newest = new Map<string, number>();
  for (const { id, at } of dated) newest.set(id, Math.max(at, newest.get(id) ?? at));
  return [...newest].map(([id, at]) => ({ id, at }));
}

/** @returns the ids of the accounts, or of the webhook endpoints */
export async function repeatChanges(
  tx: Transaction,
  kind: ChangeKind,
  dated: readonly DatedId[],
  now: number,
): Promise<string[]> {
  const found = await findUnknown(tx, kind, dated);
  if (found.length === 0) return [];
  const { change, alsoChange, action, details } = datedChanges[kind];
  const ids = JSON.stringify(found.map(({ id, at }) => ({ id, at })));
  await tx.run(change, change.text.postgres.includes('$2') ? [ids, now] : [ids]);
  if (alsoChange) await tx.run(alsoChange, [ids]);
  await recordEvents(
    tx,
    found.map(({ accountId, target, id }) => ({
      at: now,
      principal: { kind: 'system' } as const,
      action,
      ...(accountId === null ? {} : { accountId }),
      ...(target === null ? {} : { target }),
      details: { by: 'deletion_journal', ...(kind === 'recovery_code_used' ? { code: id } : {}), ...details },
    })),
  );
  return found.flatMap(({ accountId, target }) => accountId ?? target ?? []);
}
