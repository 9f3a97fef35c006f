/** Reads and changes by administrators; each change is one transaction. Writes no table itself. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { limits, type ListTotal } from '@keyreeve/contract';
import { hasAdministrator, lockAdministrationTx } from '../accounts/administrators-store.ts';
import {
  createAccountTx,
  endAccountSessionsTx,
  type CredentialsRow,
  type NewAccount,
  type Role,
} from '../accounts/store.ts';
import { lockAccountTx } from '../accounts/credentials-store.ts';
import { changeLimitsTx as changeAccountLimitsTx, type LimitsText } from '../accounts/limits-store.ts';
import { endSignUpTx } from '../accounts/sign-up-store.ts';
import { deleteAccountKeysTx } from '../api-keys/store.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { recordAccountEventTx } from '../audit/audit.ts';
import {
  insertCodeTx,
  deleteCodesTx,
  deleteUnownedCodesTx,
  hasUnownedCodeTx,
  redeemCodeTx,
  type NewCode,
} from '../one-time-codes/store.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { onList } from '../../foundation/database/json-lists.ts';
import { readsOf } from '../../foundation/database/read-parts.ts';
import { countInParts } from '../../foundation/database/totals.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import { toLimits } from '../key-limits/definition.ts';
import { joinQuotaUse, quotaUseColumns, type QuotaUseRow } from '../key-limits/quota-use.ts';
import { queueMailTx } from '../mail/mail.ts';
import { removeSecondFactorTx } from '../second-factors/store.ts';
import { countManagedChangeTx, type ManagedChangeLimits } from '../rate-limits/key-change-limits.ts';
import { assertMayActForTx } from '../service-accounts/acting.ts';
import { assertSessionValidTx, endAccountSessionTx } from '../sessions/store.ts';

export interface AdministeredRow {
  readonly id: string;
  readonly kind: 'person' | 'service';
  readonly email: string;
  readonly canonicalEmail: string;
  readonly role: Role;
  readonly unverifiedSince: number | null;
  /** 0 until the account has set a password. */
  readonly hasPassword: number;
  readonly requiresSecondFactor: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  /** Of a service account; otherwise null. */
  readonly name: string | null;
  readonly externalId: string | null;
  readonly creatorId: string | null;
}

export interface DetailRow extends AdministeredRow, QuotaUseRow {
  readonly secondFactors: number;
  readonly authenticators: number;
  readonly passkeys: number;
  readonly apiKeys: number;
  readonly sessions: number;
  /** Separated by spaces; null: none. */
  readonly entitlements: string | null;
}

/** A mail job; undefined when mail is not configured. */
type Mail = Parameters<typeof queueMailTx>[1];

/** A one-time code and the mail that contains it. */
export interface CodeByMail {
  readonly code: NewCode;
  readonly mail: Mail;
}

/** Called with the email address as of the lock: a previous email address must get no code. */
export type CodeTo = (email: string) => CodeByMail;

const columns = `a.id, a.kind, a.email, a.email_key as "canonicalEmail", a.role, a.unverified_since as "unverifiedSince",
  case when a.password_hash = '' then 0 else 1 end as "hasPassword", a.requires_second_factor as "requiresSecondFactor",
  a.created_at as "createdAt", a.updated_at as "updatedAt", a.disabled_at as "disabledAt",
  v.name, v.external_id as "externalId", c.id as "creatorId"`;
const joinService = `left join service_accounts v on v.account_pk = a.pk left join accounts c on c.pk = v.creator_pk`;

const detail = (dialect: Dialect): string => `select ${columns}, a.entitlements, a.limits, ${quotaUseColumns(dialect)},
     (select count(*) from second_factors f where f.account_pk = a.pk and f.confirmed_at is not null) as "secondFactors",
     (select count(*) from second_factors f where f.account_pk = a.pk and f.confirmed_at is not null and f.secret is not null) as authenticators,
     (select count(*) from passkeys p where p.account_pk = a.pk) as passkeys,
     (select count(*) from api_keys k where k.account_pk = a.pk) as "apiKeys",
     (select count(*) from sessions s where s.account_pk = a.pk and s.account_epoch = a.session_epoch
        and s.idle_expires_at > $2 and s.expires_at > $2 and a.disabled_at is null) as sessions
   from accounts a ${joinService} ${joinQuotaUse('a')} where a.id = $1`;
const selectDetail = sql<DetailRow>('select_account_detail', {
  sqlite: detail('sqlite'),
  postgres: detail('postgres'),
});
// A page searches a bounded part of the index on canonical emails. This is the last row of that part, if it is full.
const selectBound = sql<{ canonicalEmail: string }>(
  'select_account_page_bound',
  `select email_key as "canonicalEmail" from accounts where email_key > $1 order by email_key limit 1 offset $2`,
);
// No character of the text is a wildcard.
const matching = (position: string): string =>
  `($3 = '' or ${position}(a.email_key, $3) > 0) and ($4 = '' or a.role = $4) and ($5 = '' or a.kind = $5) and ($6 = '' or c.id = $6)
     and ($7 = '' or ($7 = 'enabled' and a.disabled_at is null) or ($7 = 'disabled' and a.disabled_at is not null)
       or ($7 = 'unverified' and a.unverified_since is not null))`;
const pageText = (position: string): string =>
  `select ${columns} from accounts a ${joinService}
   where a.email_key > $1 and a.email_key <= $2 and ${matching(position)} order by a.email_key limit $8`;
const selectPage = sql<AdministeredRow>('select_account_page', {
  sqlite: pageText('instr'),
  postgres: pageText('strpos'),
});
// Counts in the next part.
const countText = (position: string): string =>
  `select count(*) as rows, count(case when ${matching(position)} then 1 end) as matching, max(a.email_key) as last
   from (select pk, email_key, role, kind, disabled_at, unverified_since from accounts where email_key > $1
     order by email_key limit $2) a ${joinService}`;
const countPart = sql<{ rows: number; matching: number; last: string | null }>('count_account_part', {
  sqlite: countText('instr'),
  postgres: countText('strpos'),
});
const selectByIds = sql<AdministeredRow>(
  'select_accounts_by_id',
  onList(`select ${columns} from accounts a ${joinService} where a.id in ({ids}) order by a.email_key`),
);
// A confirmation is later than the session. The sign-in at the provider is not: `setAuthenticatedAtTx`.
const selectMailedAdministrators = sql<{ email: string }>(
  'list_mailed_administrators',
  `select email from accounts
   where role = 'admin' and kind = 'person' and disabled_at is null and unverified_since is null
     and email_unconfirmed_since is null
   order by case when id = $1 then 0 else 1 end, pk limit ${limits.administratorMailsMax}`,
);
const selectOnlySingleSignOn = sql<{ id: string }>(
  'select_only_sso_session',
  `select s.id from sso_sessions o join sessions s on s.id = o.session_id
   where o.session_id = $1 and coalesce(s.authenticated_at, s.created_at) <= s.created_at`,
);

export const findDetail = (db: Db, id: string, now: number): Promise<DetailRow | undefined> =>
  db.get(selectDetail, [id, now]);

export interface AccountFilter {
  /** Part of the canonical email; empty for any. */
  readonly text: string;
  readonly role: Role | '';
  readonly kind: 'person' | 'service' | '';
  /** Of a service account. */
  readonly creatorId?: string;
  readonly state: 'enabled' | 'disabled' | 'unverified' | '';
}

/** The greatest text: every canonical email comes before it. */
const last = '\u{10FFFF}';

/**
 * @param after only accounts whose canonical email comes after this one; they are returned in that order
 * @returns the canonical email up to which it searched; undefined at the end
 */
export async function findAccounts(
  db: Db,
  filter: AccountFilter,
  { after, limit, rowsMax }: { readonly after: string; readonly limit: number; readonly rowsMax: number },
): Promise<{ rows: AdministeredRow[]; scannedUntil: string | undefined }> {
  const rows: AdministeredRow[] = [];
  let position = after;
  for (const count of readsOf(db, limit, rowsMax)) {
    // SQLite reads synchronously: other requests run between two reads.
    if (position !== after) await nextTurn();
    const bound = (await db.get(selectBound, [position, count - 1]))?.canonicalEmail;
    const rest = limit - rows.length;
    rows.push(...(await db.all(selectPage, [position, bound ?? last, ...valuesOf(filter), rest])));
    if (rows.length === limit) return { rows, scannedUntil: rows.at(-1)?.canonicalEmail };
    if (bound === undefined) return { rows, scannedUntil: undefined };
    position = bound;
  }
  return { rows, scannedUntil: position };
}

const valuesOf = ({ text, role, kind, creatorId = '', state }: AccountFilter) => [text, role, kind, creatorId, state];

/** How many accounts {@link findAccounts} finds on all pages, counted up to a bound. */
export const countAccounts = (db: Db, filter: AccountFilter): Promise<ListTotal> =>
  countInParts(db, '', async (after, rows) => {
    const part = await db.get(countPart, [after, rows, ...valuesOf(filter)]);
    return { matching: part?.matching ?? 0, last: part?.rows === rows ? (part.last ?? undefined) : undefined };
  });

/** In the order of their canonical emails. Unknown ids are ignored. */
export const listAccountsById = (db: Db, ids: readonly string[]): Promise<AdministeredRow[]> =>
  db.all(selectByIds, [JSON.stringify(ids)]);

/** @returns false when the email is taken. @throws DomainError `invalid_access_token` */
export async function inviteAccountTx(
  tx: Transaction,
  principal: Principal,
  account: NewAccount,
  { code, mail }: CodeByMail,
): Promise<boolean> {
  await assertSessionValidTx(tx, { principal, now: account.now });
  if (!(await createAccountTx(tx, principal, account))) return false;
  await insertCodeTx(tx, code);
  await recordAccountEventTx(tx, { at: account.now, principal, action: 'account.invited', accountId: account.id });
  await queueMailTx(tx, mail);
  return true;
}

/**
 * Voids earlier codes.
 * @throws DomainError `account_not_found`, `account_has_password`, `email_unconfirmed`, `invalid_access_token`
 */
export const inviteAgain = (
  db: Db,
  { principal, now }: Act,
  id: string,
  invitationOf: (account: CredentialsRow) => CodeByMail,
): Promise<void> =>
  db.transaction(async (tx) => {
    const account = await lockPerson(tx, { principal, now }, id);
    if (account.passwordHash !== '') throw new DomainError('account_has_password');
    assertConfirmed(account);
    const { code, mail } = invitationOf(account);
    await deleteCodesTx(tx, id, 'accept_invitation');
    // A pending sign-up becomes this invitation. Its passwords were chosen before the email address was verified.
    await deleteCodesTx(tx, id, 'verify_email');
    await endSignUpTx(tx, id);
    await insertCodeTx(tx, code);
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.invited', accountId: id });
    await queueMailTx(tx, mail);
  });

/** Voids earlier codes. @throws DomainError `account_not_found`, `email_unconfirmed`, `invalid_access_token` */
export const sendReset = (db: Db, { principal, now }: Act, id: string, codeTo: CodeTo): Promise<void> =>
  db.transaction(async (tx) => {
    const account = await lockPerson(tx, { principal, now }, id);
    assertConfirmed(account);
    const { code, mail } = codeTo(account.email);
    await deleteCodesTx(tx, id, 'reset_password');
    await insertCodeTx(tx, code);
    await recordAccountEventTx(tx, { at: now, principal, action: 'account.password_reset_requested', accountId: id });
    await queueMailTx(tx, mail);
  });

/** As {@link changeLimitsTx}. */
export const changeLimits = (
  { db, managedChanges }: { readonly db: Db; readonly managedChanges?: ManagedChangeLimits | undefined },
  act: Act,
  id: string,
  change: (before: LimitsText) => LimitsText,
): Promise<boolean> => db.transaction((tx) => changeLimitsTx(tx, managedChanges, act, { id, change }));

/**
 * @param managedChanges counts the changes of management keys; undefined: they are not counted
 * @returns whether anything changed
 * @throws DomainError `account_not_found`, `invalid_access_token`, `invalid_management_key`, `too_many_changes`, and the
 *   errors of `change`
 */
export async function changeLimitsTx(
  tx: Transaction,
  managedChanges: ManagedChangeLimits | undefined,
  { principal, now }: Act,
  { id, change }: { readonly id: string; readonly change: (before: LimitsText) => LimitsText },
): Promise<boolean> {
  await assertMayActForTx(tx, principal, id, now);
  await countManagedChangeTx(tx, managedChanges, principal, now);
  if (!(await lockAccountTx(tx, id))) throw new DomainError('account_not_found');
  const { before, after } = await changeAccountLimitsTx(tx, id, change, now);
  if (before === after) return false;
  const details = { limitsBefore: toLimits(before), limits: toLimits(after) };
  await recordAccountEventTx(tx, { at: now, principal, action: 'account.limits_set', accountId: id, details });
  return true;
}

/** @returns the ids of the keys. @throws DomainError `account_not_found`, `invalid_access_token` */
export async function revokeKeysTx(tx: Transaction, act: Act, id: string): Promise<number[]> {
  await lock(tx, act, id);
  return deleteAccountKeysTx(tx, act, id);
}

/**
 * Also deletes the recovery codes and the passkeys, and ends the account's sessions.
 * @throws DomainError `account_not_found`, `second_factor_not_enrolled`, `invalid_access_token`
 */
export const removeSecondFactor = (
  db: Db,
  { principal, now }: Act,
  id: string,
  mailTo: (email: string) => Mail,
): Promise<void> =>
  db.transaction(async (tx) => {
    const { email } = await lockPerson(tx, { principal, now }, id);
    if (!(await removeSecondFactorTx(tx, id))) throw new DomainError('second_factor_not_enrolled');
    await recordAccountEventTx(tx, { at: now, principal, action: 'second_factor.removed', accountId: id });
    await endAccountSessionsTx(tx, { principal, now }, id);
    await queueMailTx(tx, mailTo(email));
  });

/** @returns whether the account had the session, and it was valid @throws DomainError `account_not_found`, `invalid_access_token` */
export const endSession = (db: Db, act: Act, accountId: string, sessionId: string): Promise<boolean> =>
  db.transaction(async (tx) => {
    await lockPerson(tx, act, accountId);
    return endAccountSessionTx(tx, act, accountId, sessionId);
  });

/** Voids earlier codes. @throws DomainError `administrator_exists` */
export const insertFirstCode = (db: Db, code: NewCode): Promise<void> =>
  db.transaction(async (tx) => {
    await lockAdministrationTx(tx);
    if (await hasAdministrator(tx)) throw new DomainError('administrator_exists');
    await deleteUnownedCodesTx(tx, 'first_administrator');
    await insertCodeTx(tx, code);
  });

/** Unlike {@link insertFirstCode}, it keeps a valid code. @returns false if an administrator or a valid code exists */
export const insertOnlyFirstCode = (db: Db, code: NewCode): Promise<boolean> =>
  db.transaction(async (tx) => {
    await lockAdministrationTx(tx);
    if (await hasAdministrator(tx)) return false;
    if (await hasUnownedCodeTx(tx, 'first_administrator', code.now)) return false;
    await insertCodeTx(tx, code);
    return true;
  });

/**
 * Redeems the code and creates the account, or does neither.
 * @returns false when an administrator exists, or the code is not valid any more
 * @throws DomainError `account_exists`
 */
export const createFirst = (db: Db, principal: Principal, codeHash: Buffer, account: NewAccount): Promise<boolean> =>
  db.transaction(async (tx) => {
    await lockAdministrationTx(tx);
    if (await hasAdministrator(tx)) return false;
    if (!(await redeemCodeTx(tx, codeHash, 'first_administrator', account.now))) return false;
    if (!(await createAccountTx(tx, principal, account))) throw new DomainError('account_exists');
    return true;
  });

/** Those who get mail about a management key: enabled, with a verified email address; first the one who created it. */
export const listMailedAdministrators = (
  reader: Pick<Reader, 'all'>,
  creatorId: string,
): Promise<{ email: string }[]> => reader.all(selectMailedAdministrators, [creatorId]);

/** Whether the session began with single sign-on, and was not confirmed since with a credential of Keyreeve. */
export const isOnlySingleSignOnTx = async (tx: Transaction, sessionId: string): Promise<boolean> =>
  (await tx.get(selectOnlySingleSignOn, [sessionId])) !== undefined;

/**
 * Call before a link is sent: after a restore, the email address may be a previous one, which must get no link.
 * @throws DomainError `email_unconfirmed`
 */
export function assertConfirmed({ emailUnconfirmedSince }: CredentialsRow): void {
  if (emailUnconfirmedSince !== null) throw new DomainError('email_unconfirmed');
}

/** Locks the principal first, then the account. @throws DomainError `account_not_found`, `invalid_access_token` */
export async function lock(tx: Transaction, act: Act, id: string): Promise<CredentialsRow> {
  await assertSessionValidTx(tx, act);
  const account = await lockAccountTx(tx, id);
  if (!account) throw new DomainError('account_not_found');
  return account;
}

/** As {@link lock}. @throws DomainError `service_account` too */
export async function lockPerson(tx: Transaction, act: Act, id: string): Promise<CredentialsRow> {
  const account = await lock(tx, act, id);
  if (account.kind === 'service') throw new DomainError('service_account');
  return account;
}
