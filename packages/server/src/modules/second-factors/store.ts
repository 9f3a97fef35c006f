/**
 * Rows of second factors and recovery codes. An account has at most one row: an authenticator app, passkeys, or both. The rows
 * of its passkeys refer to it (`passkeys/store.ts`), so its removal deletes them.
 */
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { withUse } from '../../foundation/database/used-from.ts';

export interface FactorRow {
  readonly accountId: string;
  /** `totp`: an authenticator app, perhaps with passkeys. `passkeys`: passkeys alone. */
  readonly kind: 'totp' | 'passkeys';
  /** Of the authenticator app, encrypted; the account id is authenticated with it. Null for passkeys alone. */
  readonly secret: Uint8Array | null;
  readonly createdAt: number;
  /** Null while it is being enrolled. */
  readonly confirmedAt: number | null;
  /** The time step of the last accepted code; 0 for passkeys alone. */
  readonly lastStep: number;
  /** The encrypted secret of an authenticator app that is being enrolled beside passkeys. */
  readonly pendingSecret: Uint8Array | null;
  readonly pendingAt: number | null;
  /** When the authenticator app was added beside passkeys. Null: it came with the row, or there is none. */
  readonly appAddedAt: number | null;
  /** Client IP ranges from which the authenticator app was used, separated by spaces. */
  readonly usedFrom: string | null;
}

const ofAccount = `account_pk = (select pk from accounts where id = $1)`;

const select = sql<FactorRow>(
  'select_second_factor',
  `select a.id as "accountId", case when f.secret is null then 'passkeys' else 'totp' end as kind, f.secret, f.created_at as "createdAt", f.confirmed_at as "confirmedAt",
     f.last_step as "lastStep", f.pending_secret as "pendingSecret", f.pending_at as "pendingAt",
     f.app_added_at as "appAddedAt", f.used_from as "usedFrom"
   from second_factors f join accounts a on a.pk = f.account_pk where a.id = $1`,
);
// Replaces an unfinished enrolment. Changes nothing when a second factor is in force.
const begin = sql(
  'begin_second_factor',
  `insert into second_factors (account_pk, secret, created_at, confirmed_at, last_step)
   select pk, $2, $3, null, 0 from accounts where id = $1
   on conflict (account_pk) do update set secret = $2, created_at = $3, last_step = 0
   where second_factors.confirmed_at is null`,
);
// Only for an account that the same transaction has created.
const insertConfirmed = sql(
  'import_second_factor',
  `insert into second_factors (account_pk, secret, created_at, confirmed_at, last_step)
   select pk, $2, $3, $3, $4 from accounts where id = $1`,
);
const beginBesidePasskeys = sql(
  'begin_authenticator_beside_passkeys',
  `update second_factors set pending_secret = $2, pending_at = $3
   where ${ofAccount} and confirmed_at is not null and secret is null`,
);
// Compares the secret too: of two concurrent enrolments, only a code of the later one confirms.
const confirm = sql(
  'confirm_second_factor',
  `update second_factors set confirmed_at = $4, last_step = $3
   where ${ofAccount} and confirmed_at is null and secret = $2 and last_step < $3`,
);
const confirmBesidePasskeys = sql(
  'confirm_authenticator_beside_passkeys',
  `update second_factors set secret = $2, last_step = $3, pending_secret = null, pending_at = null,
     app_added_at = $4, used_from = null
   where ${ofAccount} and secret is null and pending_secret = $2`,
);
// Replaces an unfinished enrolment of an authenticator app. Changes nothing when a second factor is in force.
const addForPasskeys = sql(
  'insert_second_factor_of_passkeys',
  `insert into second_factors (account_pk, secret, created_at, confirmed_at, last_step)
   select pk, null, $2, $2, 0 from accounts where id = $1
   on conflict (account_pk) do update set secret = null, created_at = $2, confirmed_at = $2, last_step = 0
   where second_factors.confirmed_at is null`,
);
const removedApp = `update second_factors set secret = null, last_step = 0, app_added_at = null, used_from = null
   where ${ofAccount} and secret is not null and confirmed_at is not null`;
const removeApp = sql(
  'delete_authenticator_beside_passkeys',
  `${removedApp} and exists (select 1 from passkeys p where p.account_pk = second_factors.account_pk)`,
);
const removeAnyApp = sql('delete_authenticator', removedApp);
// One statement decides: of several concurrent requests with one code, one finds the row unchanged. The app may have been removed
// after the code was checked.
const acceptStep = sql(
  'take_second_factor_step',
  `update second_factors set last_step = $2, used_from = ${withUse('used_from', 'cast($3 as text)')}
   where ${ofAccount} and confirmed_at is not null and secret is not null and last_step < $2`,
);
const remove = sql<{ confirmedAt: number | null }>(
  'delete_second_factor',
  `delete from second_factors where ${ofAccount} returning confirmed_at as "confirmedAt"`,
);
const insertCode = sql(
  'insert_recovery_code',
  `insert into recovery_codes (code_hash, account_pk, created_at) select $2, pk, $3 from accounts where id = $1`,
);
const selectCode = sql<{ held: number }>(
  'select_recovery_code',
  `select 1 as held from recovery_codes where code_hash = $2 and ${ofAccount}`,
);
const redeemCode = sql('take_recovery_code', `delete from recovery_codes where code_hash = $2 and ${ofAccount}`);
const deleteCodes = sql('delete_recovery_codes', `delete from recovery_codes where ${ofAccount}`);
const countCodes = sql<{ count: number; createdAt: number | null }>(
  'count_recovery_codes',
  `select count(*) as count, max(created_at) as "createdAt" from recovery_codes where ${ofAccount}`,
);

/** In force or being enrolled. */
export const findFactor = (db: Pick<Db, 'get'> | Transaction, accountId: string): Promise<FactorRow | undefined> =>
  db.get(select, [accountId]);

export interface ProvenFactor {
  readonly sealed: Uint8Array;
  /** Codes of this time step and earlier ones are rejected. */
  readonly step: number;
}

/**
 * An authenticator app of another system, in force at once. For a new account; it gets no recovery codes.
 * @param factor.step the current one: the other system may have accepted its code
 */
export const insertImportedFactorTx = (
  tx: Transaction,
  accountId: string,
  { sealed, step }: ProvenFactor,
  now: number,
): void => tx.enqueue(insertConfirmed, [accountId, sealed, now, step]);

/** Begins the enrolment of an authenticator app. @returns false when one is in force, or there is no account */
export const beginFactorTx = async (
  tx: Transaction,
  accountId: string,
  sealed: Uint8Array,
  now: number,
): Promise<boolean> =>
  (await tx.run(begin, [accountId, sealed, now])) === 1 ||
  (await tx.run(beginBesidePasskeys, [accountId, sealed, now])) === 1;

/**
 * @param factor.step of the confirming code
 * @returns `first`: it is the account's first factor; `beside`: the account has passkeys; undefined when the enrolment has
 *   been confirmed or replaced since
 */
export async function confirmFactorTx(
  tx: Transaction,
  accountId: string,
  { sealed, step }: ProvenFactor,
  now: number,
): Promise<'first' | 'beside' | undefined> {
  if ((await tx.run(confirm, [accountId, sealed, step, now])) === 1) return 'first';
  return (await tx.run(confirmBesidePasskeys, [accountId, sealed, step, now])) === 1 ? 'beside' : undefined;
}

/** For the first passkey of an account. @returns false when a second factor is in force */
export const addFactorOfPasskeysTx = async (tx: Transaction, accountId: string, now: number): Promise<boolean> =>
  (await tx.run(addForPasskeys, [accountId, now])) === 1;

/**
 * Removes the authenticator app of an account that also has passkeys. They and the recovery codes stay.
 * @returns false when the account has no passkeys
 */
export const removeAppBesidePasskeysTx = async (tx: Transaction, accountId: string): Promise<boolean> =>
  (await tx.run(removeApp, [accountId])) === 1;

/** The second factor stays in force: with passkeys, with recovery codes alone, or without either. */
export const removeAppTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.run(removeAnyApp, [accountId]));

/**
 * @param from the client IP range; null if it is not known
 * @returns false when a code of this step or a later one was accepted before
 */
export const acceptStepTx = async (
  tx: Transaction,
  accountId: string,
  step: number,
  from: string | null,
): Promise<boolean> => (await tx.run(acceptStep, [accountId, step, from])) === 1;

/** Also deletes the recovery codes and the passkeys. The caller has locked the account's row. @returns whether a second factor was in force */
export async function removeSecondFactorTx(tx: Transaction, accountId: string): Promise<boolean> {
  await tx.run(deleteCodes, [accountId]);
  const removed = await tx.get(remove, [accountId]);
  return removed !== undefined && removed.confirmedAt !== null;
}

/** Deletes the previous recovery codes. */
export async function replaceRecoveryCodesTx(
  tx: Transaction,
  accountId: string,
  hashes: readonly Uint8Array[],
  now: number,
): Promise<void> {
  await tx.run(deleteCodes, [accountId]);
  for (const hash of hashes) await tx.run(insertCode, [accountId, hash, now]);
}

export const hasRecoveryCode = async (db: Db, accountId: string, hash: Uint8Array): Promise<boolean> =>
  (await db.get(selectCode, [accountId, hash])) !== undefined;

/** @returns whether the account had the code */
export const redeemRecoveryCodeTx = async (tx: Transaction, accountId: string, hash: Uint8Array): Promise<boolean> =>
  (await tx.run(redeemCode, [accountId, hash])) === 1;

/** Without codes, the account keeps its second factor. */
export const deleteRecoveryCodesTx = async (tx: Transaction, accountId: string): Promise<void> =>
  void (await tx.run(deleteCodes, [accountId]));

/** @returns when the recovery codes of an account were made, in milliseconds; undefined without codes */
export const recoveryCodesMadeAtTx = async (tx: Transaction, accountId: string): Promise<number | undefined> =>
  (await tx.get(countCodes, [accountId]))?.createdAt ?? undefined;

export const countRecoveryCodesTx = async (tx: Pick<Transaction, 'get'>, accountId: string): Promise<number> =>
  (await tx.get(countCodes, [accountId]))?.count ?? 0;
