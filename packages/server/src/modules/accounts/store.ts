/** Rows of accounts: creation, lookup, role, state and deletion. */
import type { Language } from '@keyreeve/contract';
import type { Act, Guard, Principal } from '../../foundation/principal.ts';
import { recordAccountEventTx, recordEventTx, type AccountEvent } from '../audit/audit.ts';
import { deleteCodesTx } from '../one-time-codes/store.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import { recordGivenKeysTx } from './given-keys-store.ts';
import { keepingAnAdministratorTx, prepareAdministratorTx } from './administrators-store.ts';
import { lastAdministratorPrincipal, rejectAccounts, type GuardedAct } from './guard.ts';
import { endSessionsTx } from './session-epoch-store.ts';
import { displaceSignUpTx } from './sign-up-store.ts';

export type Role = 'user' | 'admin';

export interface AccountRow {
  readonly id: string;
  readonly email: string;
  readonly canonicalEmail: string;
  readonly role: Role;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  /** Null once the email is verified. */
  readonly unverifiedSince: number | null;
  /** 1 when every sign-in requires a second factor. */
  readonly requiresSecondFactor: number;
  readonly kind: 'person' | 'service';
}

export interface ListedAccountRow extends AccountRow {
  /** Of a service account; null for a person. */
  readonly name: string | null;
}

export interface CredentialsRow extends AccountRow {
  /** Empty while the account has no password, for example before an invitation is accepted. No password matches it. */
  readonly passwordHash: string;
  readonly sessionEpoch: number;
  /** Language of its mail; null until the account has chosen one. */
  readonly language: Language | null;
  readonly emailUnconfirmedSince: number | null;
}

// `kind` is qualified, because `key_meters`, which some statements join, has such a column.
const columns = `id, email, email_key as "canonicalEmail", role, created_at as "createdAt", updated_at as "updatedAt",
  disabled_at as "disabledAt", unverified_since as "unverifiedSince",
  requires_second_factor as "requiresSecondFactor", accounts.kind`;
/** The columns of a {@link CredentialsRow}. */
export const credentialsColumns = `${columns}, language, password_hash as "passwordHash", session_epoch as "sessionEpoch",
  email_unconfirmed_since as "emailUnconfirmedSince"`;

const insert = sql(
  'insert_account',
  `insert into accounts (id, email, email_key, password_hash, role, session_epoch, created_at, updated_at, disabled_at, unverified_since, signed_up_at, language)
   values ($1, $2, $3, $4, $5, 0, $6, $6, null, $7, $8, $9) on conflict (email_key) do nothing`,
);
const selectByIdOrKey = sql<AccountRow>(
  'select_account',
  `select ${columns} from accounts where id = $1 or email_key = $2`,
);
const selectCredentials = sql<CredentialsRow>(
  'select_account_credentials',
  `select ${credentialsColumns} from accounts where email_key = $1`,
);
const selectCredentialsById = sql<CredentialsRow>(
  'select_account_credentials_by_id',
  `select ${credentialsColumns} from accounts where id = $1`,
);
const listPage = sql<ListedAccountRow>(
  'list_accounts',
  `select ${columns}, (select s.name from service_accounts s where s.account_pk = accounts.pk) as name from accounts
   where (created_at, id) > ($1, $2) order by created_at, id limit $3`,
);
const disable = sql(
  'disable_account',
  `update accounts set disabled_at = $2, updated_at = $2
   where id = $1 and disabled_at is null and ($3 < 0 or enabled_count = $3)`,
);
const selectEnabledCount = sql<{ count: number }>(
  'select_account_enabled_count',
  `select enabled_count as count from accounts where id = $1`,
);
// Counted also for an enabled account: a disabling of unknown outcome that was requested earlier is then not repeated.
const countEnabling = sql(
  'count_account_enabling',
  `update accounts set enabled_count = enabled_count + 1 where id = $1`,
);
const enable = sql(
  'enable_account',
  `update accounts set disabled_at = null, updated_at = $2 where id = $1 and disabled_at is not null`,
);
// The foreign keys of sessions and keys cascade.
const remove = sql<{ canonicalEmail: string }>(
  'delete_account',
  `delete from accounts where id = $1 returning email_key as "canonicalEmail"`,
);
const updateRole = sql(
  'update_account_role',
  `update accounts set role = $2, updated_at = $3
   where id = $1 and role <> $2 and ($2 = 'user' or unverified_since is null or (password_hash = '' and signed_up_at is null))`,
);
const updateSecondFactor = sql(
  'update_account_second_factor',
  `update accounts set requires_second_factor = $2, updated_at = $3 where id = $1 and requires_second_factor <> $2`,
);
const selectLanguage = sql<{ language: Language | null }>(
  'select_account_language',
  `select language from accounts where email_key = $1`,
);
const updateLanguage = sql(
  'update_account_language',
  `update accounts set language = $2, updated_at = $3 where id = $1 and (language is null or language <> $2)`,
);

export interface NewAccount {
  readonly id: string;
  readonly email: string;
  readonly canonicalEmail: string;
  readonly passwordHash: string;
  readonly role: Role;
  readonly now: number;
  /** Whether the email address is still to be verified. */
  readonly isUnverified?: boolean;
  readonly language?: Language | null;
  /** Whether a sign-up creates it. Until it is verified, any other account with its email address replaces it. */
  readonly isSignUp?: boolean;
}

/** @returns false when another account has the email address */
export const createAccount = (db: Db, principal: Principal, account: NewAccount): Promise<boolean> =>
  db.transaction((tx) => createAccountTx(tx, principal, account));

/** As {@link createAccount}. */
export async function createAccountTx(tx: Transaction, principal: Principal, account: NewAccount): Promise<boolean> {
  const { id, email, canonicalEmail, passwordHash, role, now, isUnverified = false, isSignUp = false } = account;
  const times = [now, isUnverified ? now : null, isSignUp ? now : null];
  const values = [id, email, canonicalEmail, passwordHash, role, ...times, account.language ?? null];
  if (role === 'admin') await prepareAdministratorTx(tx);
  if (!isSignUp) await displaceSignUpTx(tx, { principal, now }, canonicalEmail);
  if ((await tx.run(insert, values)) === 0) return false;
  await recordEventTx(tx, { at: now, principal, action: 'account.created', accountId: id, details: { role } });
  return true;
}

/** @returns the language of the account's mail; null when it has chosen none, undefined when there is no account */
export const findLanguage = async (db: Db, canonicalEmail: string): Promise<Language | null | undefined> =>
  (await db.get(selectLanguage, [canonicalEmail]))?.language;

/** @returns false when there is no such account, or it has the language already */
export const setLanguage = (
  db: Db,
  principal: Principal,
  id: string,
  { language, now, guard }: { readonly language: Language; readonly now: number; readonly guard: Guard },
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await guard(tx, { principal, now });
    if ((await tx.run(updateLanguage, [id, language, now])) === 0) return false;
    const event = { at: now, principal, action: 'account.language_changed', accountId: id } as const;
    await recordAccountEventTx(tx, { ...event, details: { language } });
    return true;
  });

export const findAccount = (db: Db, id: string, canonicalEmail: string): Promise<AccountRow | undefined> =>
  db.get(selectByIdOrKey, [id, canonicalEmail]);

export const findCredentials = (db: Db, canonicalEmail: string): Promise<CredentialsRow | undefined> =>
  db.get(selectCredentials, [canonicalEmail]);

export const findCredentialsById = (reader: Pick<Reader, 'get'>, id: string): Promise<CredentialsRow | undefined> =>
  reader.get(selectCredentialsById, [id]);

/** Oldest first. @param after the last account of the previous page; undefined for the first page */
export const listAccounts = (
  db: Db,
  after: Pick<AccountRow, 'createdAt' | 'id'> | undefined,
  rowsMax: number,
): Promise<ListedAccountRow[]> => db.all(listPage, [after?.createdAt ?? -1, after?.id ?? '', rowsMax]);

/**
 * Also ends every session.
 * @param enabledCount disables the account only if it has been enabled this many times; -1 disables it in any case
 * @returns false when it was disabled already, or has been enabled since
 * @throws DomainError `last_administrator`
 */
export async function disableAccountTx(
  tx: Transaction,
  { principal, now, guard = rejectAccounts }: GuardedAct,
  id: string,
  enabledCount = -1,
): Promise<boolean> {
  await guard(tx, { principal, now });
  const change = { at: now, principal, action: 'account.disabled', accountId: id, endsSessions: true } as const;
  return keepingAnAdministratorTx(tx, lastAdministratorPrincipal(principal, guard), id, () =>
    changeTx(tx, change, disable, [id, now, enabledCount]),
  );
}

/** How many times the account has been enabled, for {@link disableAccountTx}. @returns undefined when there is no account */
export const findEnabledCount = async (db: Db, id: string): Promise<number | undefined> =>
  (await db.get(selectEnabledCount, [id]))?.count;

/** @returns false when it was not disabled */
export const enableAccount = (db: Db, act: GuardedAct, id: string): Promise<boolean> =>
  change(db, act, async (tx, { principal, now }) => {
    // First, because it locks the row: a concurrent disabling runs before both statements or after both.
    await tx.run(countEnabling, [id]);
    return changeTx(tx, { at: now, principal, action: 'account.enabled', accountId: id }, enable, [id, now]);
  });

/** Runs in the transaction that deletes an account. */
export type OnDeleted = (tx: Transaction, canonicalEmail: string) => Promise<void>;

/**
 * Deletes everything that belongs to the account too.
 * @returns the ids of the keys whose deletions have events of their own; undefined if the account did not exist
 * @throws DomainError `last_administrator`
 */
export async function deleteAccountTx(
  tx: Transaction,
  { principal, now, guard = rejectAccounts }: GuardedAct,
  id: string,
  onDeleted?: OnDeleted,
): Promise<readonly number[] | undefined> {
  await guard(tx, { principal, now });
  return keepingAnAdministratorTx(tx, lastAdministratorPrincipal(principal, guard), id, async () => {
    const keyIds = await recordGivenKeysTx(tx, { principal, now }, id);
    const deleted = await tx.get(remove, [id]);
    if (!deleted) return undefined;
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.deleted', accountId: id });
    await onDeleted?.(tx, deleted.canonicalEmail);
    return keyIds;
  });
}

export interface RoleChange {
  readonly id: string;
  readonly role: Role;
  readonly now: number;
  readonly endsSessions?: boolean;
}

/**
 * @returns false when the account has the role already, or may not become an administrator because its password was chosen
 *   before its email address was verified
 * @throws DomainError `last_administrator`
 */
export async function setAccountRoleTx(
  tx: Transaction,
  principal: Principal,
  { id, role, now, endsSessions = false }: RoleChange,
  guard = rejectAccounts,
): Promise<boolean> {
  await guard(tx, { principal, now });
  await assertPersonTx(tx, id);
  if (role === 'admin') await prepareAdministratorTx(tx);
  // An administrator may not set the email address of another one.
  if (role === 'admin') await deleteCodesTx(tx, id, 'set_email');
  const event = { at: now, principal, action: 'account.role_changed', accountId: id, details: { role } } as const;
  return keepingAnAdministratorTx(tx, principal, id, () =>
    changeTx(tx, { ...event, endsSessions }, updateRole, [id, role, now]),
  );
}

/** @returns whether the account exists */
export async function endAccountSessionsTx(tx: Transaction, { principal, now }: Act, id: string): Promise<boolean> {
  if (!(await endSessionsTx(tx, id))) return false;
  await recordAccountEventTx(tx, { at: now, principal, action: 'account.sessions_ended', accountId: id });
  return true;
}

export const endAccountSessions = (db: Db, act: GuardedAct, id: string): Promise<boolean> =>
  change(db, act, async (tx) => {
    await assertPersonTx(tx, id);
    return endAccountSessionsTx(tx, act, id);
  });

export const requireSecondFactor = (db: Db, act: GuardedAct, id: string, isRequired: boolean): Promise<boolean> =>
  change(db, act, async (tx, { principal, now }) => {
    await assertPersonTx(tx, id);
    const action = isRequired ? 'account.second_factor_required' : 'account.second_factor_waived';
    const values = [id, isRequired ? 1 : 0, now];
    return changeTx(tx, { at: now, principal, action, accountId: id }, updateSecondFactor, values);
  });

/** @throws DomainError `service_account` for an account that has no password, session, second factor and role */
async function assertPersonTx(tx: Transaction, id: string): Promise<void> {
  if ((await tx.get(selectByIdOrKey, [id, '']))?.kind === 'service') throw new DomainError('service_account');
}

const change = (
  db: Db,
  { principal, now, guard = rejectAccounts }: GuardedAct,
  apply: (tx: Transaction, act: Act) => Promise<boolean>,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    await guard(tx, { principal, now });
    return apply(tx, { principal, now });
  });

async function changeTx(
  tx: Transaction,
  { endsSessions = false, ...event }: AccountEvent & { readonly endsSessions?: boolean },
  statement: typeof disable,
  values: readonly (string | number)[],
): Promise<boolean> {
  if ((await tx.run(statement, values)) === 0) return false;
  if (endsSessions) await endSessionsTx(tx, event.accountId);
  await recordAccountEventTx(tx, event);
  return true;
}
