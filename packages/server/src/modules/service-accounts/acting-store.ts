/** The rows on which it depends whether a principal may act for an account. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';
import { databaseTime, sql, type Dialect } from '../../foundation/database/sql.ts';
import type { CanaryPrincipal, KeyPrincipal } from '../../foundation/principal.ts';

/** The scope of management keys. Only operators grant it. */
export const manageScope = 'keyreeve:keys';

/** The scope of the credentials of a revocation check from outside. Only `modules/canary-keys` grants it. */
export const canaryScope = 'keyreeve:canary';

const position = { sqlite: 'instr', postgres: 'strpos' } as const;
/** SQL: whether a key has the scope. Case matters, which `like` ignores on SQLite. */
const hasScope = (dialect: Dialect, scopes: string, scope: string): string =>
  `${position[dialect]}(' ' || ${scopes} || ' ', ' ${scope} ') > 0`;
export const hasManageScope = (dialect: Dialect, scopes: string): string => hasScope(dialect, scopes, manageScope);

const lockText = `select id from accounts where id = $1`;
const lockAccount = sql<{ id: string }>('lock_managed_account', {
  sqlite: lockText,
  postgres: `${lockText} for update`,
});
// The order of all locks of several accounts, against deadlocks: persons first, then by id. Neither ever changes.
const lockSeveralText = `select id from accounts where id in ($1, $2, $3)`;
const lockSeveral = sql<{ id: string }>('lock_accounts_in_order', {
  sqlite: lockSeveralText,
  postgres: `${lockSeveralText} order by kind, id for update`,
});
const lockPersonText = `select id from accounts where id = $1 and kind = 'person'`;
const lockPerson = sql<{ id: string }>('lock_person_shared', {
  sqlite: lockPersonText,
  postgres: `${lockPersonText} for share`,
});
const selectManaged = sql<{ id: string }>(
  'select_managed_account',
  `select s.id from service_account_managers m join accounts s on s.pk = m.service_pk join accounts a on a.pk = m.manager_pk
   where s.id = $1 and a.id = $2`,
);
// The later of two clocks decides on the expiry. The account is locked before its key, as by a deletion of the account.
// The locks are shared: a backend changes the keys of several service accounts at the same time.
const validKey = (
  dialect: Dialect,
  now: string,
  scope: string,
): string => `select a.id from accounts a join api_keys k on k.account_pk = a.pk
   where k.id = $1 and a.id = $2 and a.disabled_at is null and k.disabled_at is null
     and (k.expires_at is null or k.expires_at > ${now}) and ${hasScope(dialect, 'k.scopes', scope)}
     and (k.scopes_need_role = 0 or a.role = 'admin') and ${mayJudge}
     and (k.lookup = $4 or exists (
       select 1 from api_key_secrets s where s.key_id = k.id and s.lookup = $4 and s.expires_at > ${now}))
     and k.addresses is not distinct from $5`;
const lockKeyText = (scope: string): Record<Dialect, string> => ({
  sqlite: validKey('sqlite', '$3', scope),
  postgres: `${validKey('postgres', `greatest($3, ${databaseTime.postgres})`, scope)} for share of a, k`,
});
const lockManagementKey = sql<{ id: string }>('lock_management_key', lockKeyText(manageScope));
const lockCanaryCredential = sql<{ id: string }>('lock_canary_credential', lockKeyText(canaryScope));
const lockCallingKey = { key: lockManagementKey, canary: lockCanaryCredential } as const;

/**
 * On PostgreSQL, locks an account until the end of the transaction. Changes of its managers lock it too: a later statement
 * sees all earlier changes, and no other change commits before this transaction ends.
 */
export const lockAccountTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.get(lockAccount, [accountId]));

/**
 * Locks up to three accounts in the order of all locks: persons first, then by id. Others are ignored. First in a transaction
 * that locks more than {@link assertMayActForTx} does.
 */
export const lockAccountsTx = async (
  tx: Transaction,
  [first = '', second = '', third = '']: readonly string[],
): Promise<void> => void (await tx.all(lockSeveral, [first, second, third]));

/** Locks the account against changes if it is a person. */
export const lockPersonTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.get(lockPerson, [accountId]));

/** @returns false also if there is no such account */
export const isManagedBy = async (
  reader: Pick<Reader, 'get'>,
  accountId: string,
  managerId: string,
): Promise<boolean> => (await reader.get(selectManaged, [accountId, managerId])) !== undefined;

/**
 * Locks a management key or a canary credential, and its account, if the key is still valid. It is not if the secret that was
 * presented has ended, or if the key has other IP ranges than at its verification.
 * @returns whether it is valid
 */
export const lockCallingKeyTx = async (
  tx: Transaction,
  { kind, keyId, accountId, lookup, addresses }: KeyPrincipal | CanaryPrincipal,
  now: number,
): Promise<boolean> => (await tx.get(lockCallingKey[kind], [keyId, accountId, now, lookup, addresses])) !== undefined;
