/** Changes of an account's own second factor: each commits with the ended sessions, its audit event and its mail. */
import type { AccountPrincipal } from '../../foundation/principal.ts';
import { recordEventTx } from '../audit/audit.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { sql } from '../../foundation/database/sql.ts';
import { DomainError } from '../../foundation/errors.ts';
import { queueMailTx } from '../mail/mail.ts';
import type { NewJobRow } from '../outbox/store.ts';
import { redeemOwnProofTx, type OwnProof } from './owner-proofs.ts';
import * as factors from './store.ts';
import { assertSessionValidTx, endOtherSessionsTx } from '../sessions/store.ts';

// The account's row is locked already.
const selectRequired = sql<{ isRequired: number }>(
  'select_second_factor_required',
  `select requires_second_factor as "isRequired" from accounts where id = $1`,
);

/** @returns false when a second factor is in force @throws DomainError `invalid_access_token` */
export const beginEnrolment = (
  db: Db,
  principal: AccountPrincipal,
  sealed: Uint8Array,
  now: number,
): Promise<boolean> =>
  db.transaction(async (tx) => {
    const { accountId } = principal;
    await assertSessionValidTx(tx, { principal, now });
    if (!(await factors.beginFactorTx(tx, accountId, sealed, now))) return false;
    await recordEventTx(tx, { at: now, principal, action: 'second_factor.begun', accountId, target: accountId });
    return true;
  });

export interface Confirmed extends factors.ProvenFactor {
  readonly codeHashes: readonly Uint8Array[];
  readonly mail: NewJobRow | undefined;
  readonly now: number;
}

/**
 * Beside passkeys, the account keeps its recovery codes.
 * @returns as {@link factors.confirmFactorTx} @throws DomainError `invalid_access_token`
 */
export const confirmEnrolment = (
  db: Db,
  principal: AccountPrincipal,
  confirmed: Confirmed,
): Promise<'first' | 'beside' | undefined> =>
  db.transaction(async (tx) => {
    const { codeHashes, mail, now } = confirmed;
    const { accountId } = principal;
    await assertSessionValidTx(tx, { principal, now });
    const result = await factors.confirmFactorTx(tx, accountId, confirmed, now);
    if (result === undefined) return undefined;
    if (result === 'first') await factors.replaceRecoveryCodesTx(tx, accountId, codeHashes, now);
    await recordEventTx(tx, { at: now, principal, action: 'second_factor.added', accountId, target: accountId });
    await endOtherSessionsTx(tx, principal, now);
    await queueMailTx(tx, mail);
    return result;
  });

/** The account's row is locked. @throws DomainError `second_factor_required_by_policy` */
export async function assertMayLackFactorTx(tx: Transaction, accountId: string): Promise<void> {
  if ((await tx.get(selectRequired, [accountId]))?.isRequired === 1)
    throw new DomainError('second_factor_required_by_policy');
}

export interface OwnRemoval {
  readonly proof: OwnProof;
  readonly mailAbout: (keepsPasskeys: boolean) => NewJobRow | undefined;
  readonly now: number;
}

/**
 * Removes the authenticator app. Without passkeys, the account then has no second factor.
 * @throws DomainError `second_factor_required_by_policy`, `second_factor_wrong` when the code has been used since, `invalid_access_token`
 */
export const removeOwnFactor = (db: Db, principal: AccountPrincipal, removal: OwnRemoval): Promise<void> =>
  db.transaction(async (tx) => {
    const { proof, mailAbout, now } = removal;
    const { accountId } = principal;
    await assertSessionValidTx(tx, { principal, now });
    await redeemOwnProofTx(tx, principal, proof, now);
    const keepsPasskeys = await factors.removeAppBesidePasskeysTx(tx, accountId);
    if (!keepsPasskeys) {
      await assertMayLackFactorTx(tx, accountId);
      await factors.removeSecondFactorTx(tx, accountId);
    }
    const action = keepsPasskeys ? 'authenticator.removed' : 'second_factor.removed';
    await recordEventTx(tx, { at: now, principal, action, accountId, target: accountId });
    await endOtherSessionsTx(tx, principal, now);
    await queueMailTx(tx, mailAbout(keepsPasskeys));
  });

/** @throws DomainError `second_factor_wrong` when the code has been used since, `invalid_access_token` */
export const replaceCodes = (
  db: Db,
  principal: AccountPrincipal,
  { proof, codeHashes, now }: { proof: OwnProof; codeHashes: readonly Uint8Array[]; now: number },
): Promise<void> =>
  db.transaction(async (tx) => {
    const { accountId } = principal;
    await assertSessionValidTx(tx, { principal, now });
    await redeemOwnProofTx(tx, principal, proof, now);
    await factors.replaceRecoveryCodesTx(tx, accountId, codeHashes, now);
    await recordEventTx(tx, { at: now, principal, action: 'recovery_codes.replaced', accountId, target: accountId });
  });
