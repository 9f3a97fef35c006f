/**
 * Rows that an account's life changes together. Whatever rests on an account locks its row first, and its codes and keys
 * under that lock: of any number of rivals each sees what the one before it has left.
 */
import { lockAccountTx } from '../accounts/credentials-store.ts';
import { parseEmail } from '../accounts/email.ts';
import { credentialsColumns, type CredentialsRow } from '../accounts/store.ts';
import { joinQuotaUse, quotaUseColumns, type QuotaUseRow } from '../key-limits/quota-use.ts';
import { findCode, redeemCodeTx, type CodePurpose, type CodeRow } from '../one-time-codes/store.ts';
import type { Db, Reader, Transaction } from '../../foundation/database/db.ts';
import { sql, type Dialect } from '../../foundation/database/sql.ts';
import { isUniqueViolation } from '../../foundation/database/unavailable.ts';
import { DomainError } from '../../foundation/errors.ts';

/** An account with the members that only its owner may read. */
export interface OwnRow extends CredentialsRow, QuotaUseRow {
  readonly hasSecondFactor: number;
  readonly hasAuthenticator: number;
  readonly passkeys: number;
}

const own = (
  dialect: Dialect,
): string => `select ${credentialsColumns}, accounts.limits, ${quotaUseColumns(dialect)}, (select count(*) from second_factors f
     where f.account_pk = accounts.pk and f.confirmed_at is not null) as "hasSecondFactor",
     (select count(*) from second_factors f
     where f.account_pk = accounts.pk and f.confirmed_at is not null and f.secret is not null) as "hasAuthenticator",
     (select count(*) from passkeys p where p.account_pk = accounts.pk) as passkeys
   from accounts ${joinQuotaUse('accounts')} where id = $1`;
const selectOwn = sql<OwnRow>('select_own_account', { sqlite: own('sqlite'), postgres: own('postgres') });
const selectSignUp = sql<{ passwordHash: string }>(
  'select_newest_sign_up',
  `select password_hash as "passwordHash" from one_time_codes
   where account_pk = (select pk from accounts where id = $1) and purpose = 'verify_email' and password_hash is not null
   order by created_at desc, code_hash limit 1`,
);
export const findOwnAccount = (reader: Pick<Reader, 'get'>, id: string): Promise<OwnRow | undefined> =>
  reader.get(selectOwn, [id]);

/** The password of the newest sign-up whose code is still kept. */
export const newestSignUpHash = async (tx: Transaction, accountId: string): Promise<string | undefined> =>
  (await tx.get(selectSignUp, [accountId]))?.passwordHash;

/** A code that was valid for its purpose when it was read, and its account. */
export interface KnownCode {
  readonly hash: Buffer;
  readonly row: CodeRow;
  readonly account: CredentialsRow;
}

/** Looks at it and leaves it. @throws DomainError `code_invalid` */
export async function findKnownCode(
  db: Db,
  hash: Buffer | undefined,
  purpose: CodePurpose,
  now: number,
): Promise<KnownCode> {
  const row = hash && (await findCode(db, hash, purpose, now));
  const account = row?.accountId ? await db.get(selectOwn, [row.accountId]) : undefined;
  if (!hash || !row || !account || !mayUse(account, purpose)) throw new DomainError('code_invalid');
  return { hash, row, account };
}

/** An administrator may disable an account while its owner confirms another email address. */
const mayUse = ({ disabledAt }: CredentialsRow, purpose: CodePurpose): boolean =>
  disabledAt === null || purpose === 'set_email';

/**
 * Takes a code under the lock of its account: of any number of rivals one gets it.
 * @throws DomainError `code_invalid` when it was used meanwhile, or the account has gone or was disabled
 */
export async function takeKnownCode(
  tx: Transaction,
  { hash, account }: KnownCode,
  purpose: CodePurpose,
  now: number,
): Promise<CredentialsRow> {
  const locked = await lockAccountTx(tx, account.id);
  const taken = locked && (await redeemCodeTx(tx, hash, purpose, now));
  if (!locked || !taken || !mayUse(locked, purpose)) throw new DomainError('code_invalid');
  return locked;
}

/**
 * Asserts that the user typed one of these email addresses. Scanners of mail gateways open links and press buttons, but fill
 * in no email address, so a link that needs no password asks for one.
 * @throws DomainError `email_wrong`
 */
export function assertTyped(text: string, ...expected: readonly Pick<CredentialsRow, 'canonicalEmail'>[]): void {
  const typed = parseEmail(text.trim())?.canonicalEmail;
  if (!expected.some(({ canonicalEmail }) => canonicalEmail === typed)) throw new DomainError('email_wrong');
}

/** Of two that take the same address at once, the unique index refuses one. */
export function refuseTaken(error: unknown): never {
  throw isUniqueViolation(error) ? new DomainError('account_exists') : error;
}
