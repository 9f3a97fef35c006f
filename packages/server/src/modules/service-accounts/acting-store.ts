/** The rows on which it depends whether a principal may act for an account. */
import type { Reader, Transaction } from '../../foundation/database/db.ts';
import { mayJudge } from '../../foundation/database/key-rules.ts';
import { databaseTime, sql, type Dialect } from '../../foundation/database/sql.ts';
import { aheadMsMax } from '../../foundation/clock.ts';
import type { CanaryPrincipal, KeyPrincipal, PortalPrincipal } from '../../foundation/principal.ts';

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
/** The expressions of {@link isKeyValid}. */
export interface KeyValidity {
  readonly dialect: Dialect;
  /** The time of the process. */
  readonly now: string;
  readonly scope: string;
  /** The lookup of the secret that was presented. */
  readonly lookup: string;
}

/**
 * SQL: whether a key `k` of the account `a` is valid by this secret, and has the scope. The later of two clocks decides on the expiry. IP
 * ranges are not considered.
 */
export function isKeyValid({ dialect, now: ofProcess, scope, lookup }: KeyValidity): string {
  const now = dialect === 'sqlite' ? ofProcess : `greatest(${ofProcess}, ${databaseTime.postgres})`;
  return `a.disabled_at is null and k.disabled_at is null
     and (k.expires_at is null or k.expires_at > ${now}) and ${hasScope(dialect, 'k.scopes', scope)}
     and (k.scopes_need_role = 0 or a.role = 'admin') and ${mayJudge}
     and (k.lookup = ${lookup} or exists (
       select 1 from api_key_secrets p where p.key_id = k.id and p.lookup = ${lookup} and p.expires_at > ${now}))`;
}

// The account is locked before its key, as by a deletion of the account. The locks are shared: a backend changes the keys of
// several service accounts at the same time.
const lockKeyText = (scope: string, addresses: string): Record<Dialect, string> => {
  const text = (dialect: Dialect): string => `select a.id from accounts a join api_keys k on k.account_pk = a.pk
   where k.id = $1 and a.id = $2 and ${isKeyValid({ dialect, now: '$3', scope, lookup: '$4' })}${addresses}`;
  return { sqlite: text('sqlite'), postgres: `${text('postgres')} for share of a, k` };
};
const hasSameAddresses = ' and k.addresses is not distinct from $5';
const lockManagementKey = sql<{ id: string }>('lock_management_key', lockKeyText(manageScope, hasSameAddresses));
const lockCanaryCredential = sql<{ id: string }>('lock_canary_credential', lockKeyText(canaryScope, hasSameAddresses));
const lockCallingKey = { key: lockManagementKey, canary: lockCanaryCredential } as const;
// The IP ranges of the key are those of a backend, and its portal sessions are in browsers.
const lockKeyOfPortal = sql<{ id: string }>('lock_management_key_of_portal', lockKeyText(manageScope, ''));
/** SQL: whether a portal session `s` has not ended by its times. One that began while a clock was ahead has. @param now the time */
export const isPortalInTime = (now: string): string =>
  `s.expires_at > ${now} and s.created_at - ${aheadMsMax} <= ${now}`;
const lockPortalText = `select s.id from portal_sessions s join accounts a on a.pk = s.account_pk
   where s.id = $1 and a.id = $2 and s.redeemed_at is not null and a.disabled_at is null and ${isPortalInTime('$3')}`;
const lockPortal = sql<{ id: string }>('lock_portal_session', {
  sqlite: lockPortalText,
  postgres: `${lockPortalText} for share of s`,
});

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

/** As {@link lockCallingKeyTx}, for the management key that created a portal session. Its IP ranges do not apply. */
export const lockKeyOfPortalTx = async (
  tx: Transaction,
  { keyId, accountId, lookup }: PortalPrincipal,
  now: number,
): Promise<boolean> => (await tx.get(lockKeyOfPortal, [keyId, accountId, now, lookup])) !== undefined;

/**
 * Locks a portal session until the end of the transaction, if it has not ended. After the lock of its service account, as by a deletion
 * of that account.
 */
export const lockPortalTx = async (
  tx: Transaction,
  { sessionId, serviceAccountId }: PortalPrincipal,
  now: number,
): Promise<boolean> => (await tx.get(lockPortal, [sessionId, serviceAccountId, now])) !== undefined;
