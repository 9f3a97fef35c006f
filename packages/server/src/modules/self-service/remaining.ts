/** The credentials that still work after a change of the password or the email address: its owner may not know them. */
import { listAccountKeys } from '../api-keys/store.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { factorsInForceTx, type FactorsInForce } from '../passkeys/change-store.ts';

/** An API key that still works after the change. */
export interface RemainingKey {
  readonly id: number;
  readonly nickname: string;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Remaining {
  /** Oldest first. */
  readonly keys: readonly RemainingKey[];
  /** Undefined if a sign-in needs no second factor. */
  readonly factors: FactorsInForce | undefined;
}

export const remainingTx = async (tx: Transaction, accountId: string): Promise<Remaining> => ({
  keys: await listAccountKeys(tx, accountId),
  factors: await factorsInForceTx(tx, accountId),
});
