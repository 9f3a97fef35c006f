/**
 * Credentials that a thief may have added before changing the email address of an account: a thief chooses the order. A use from
 * a client IP range that was trusted before shows that a credential is the owner's.
 */
import { limits } from '@keyreeve/contract';
import type { EmailChangeRow } from '../accounts/email-change-store.ts';
import { listKeysChangedSince } from '../api-keys/changed-key-store.ts';
import type { IsSuspect } from '../passkeys/change-store.ts';
import { listPasskeys } from '../passkeys/store.ts';
import { findFactor } from '../second-factors/store.ts';
import { dayMs } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { rangesIn } from '../../foundation/database/used-from.ts';
import type { SelfServiceOptions } from './options.ts';

/** @returns milliseconds: what was added earlier stays */
export const suspectSince = ({ changedAt }: Pick<EmailChangeRow, 'changedAt'>): number =>
  changedAt - limits.emailUndoSuspectDays * dayMs;

/**
 * @returns the client IP ranges that were trusted before, of those from which new credentials were used. A range that is used
 *   after this call is not among them.
 */
export async function findTrustedUses(
  { db, signInLimits }: Pick<SelfServiceOptions, 'db' | 'signInLimits'>,
  change: EmailChangeRow,
): Promise<ReadonlySet<string>> {
  const { accountId, canonicalEmail } = change;
  const since = suspectSince(change);
  const factor = await findFactor(db, accountId);
  const uses = [
    factor?.usedFrom ?? null,
    ...(await listPasskeys(db, accountId)).map(({ usedFrom }) => usedFrom),
    ...(await listKeysChangedSince(db, accountId, since)).map(({ usedFrom }) => usedFrom),
  ];
  return signInLimits.trustedBefore(canonicalEmail, uses.flatMap(rangesIn), since);
}

/** What was added after the change is always suspect. */
export const suspicionOf =
  (change: EmailChangeRow, trusted: ReadonlySet<string>): IsSuspect =>
  (addedAt, usedFrom) =>
    addedAt >= change.changedAt ||
    (addedAt >= suspectSince(change) && !rangesIn(usedFrom).some((range) => trusted.has(range)));

/** @returns the ids of the keys that are no suspects, of those that were created, changed or rotated in the time */
export async function listTrustedKeysTx(
  tx: Transaction,
  change: EmailChangeRow,
  isSuspect: IsSuspect,
): Promise<readonly number[]> {
  const keys = await listKeysChangedSince(tx, change.accountId, suspectSince(change));
  return keys.filter(({ changedAt, usedFrom }) => !isSuspect(changedAt, usedFrom)).map(({ id }) => id);
}
