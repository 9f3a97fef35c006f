/**
 * Credentials that a thief may have added before changing the email address of an account: a thief chooses the order. A use from
 * a client IP range that was trusted before shows that a credential is the owner's.
 */
import { limits } from '@keyreeve/contract';
import type { EmailChangeRow } from '../accounts/email-change-store.ts';
import { listKeysChangedSince, type ChangedKey } from '../api-keys/changed-key-store.ts';
import { readUses, type StoredUse } from '../api-keys/use-store.ts';
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

/** What shows that a credential is the owner's. */
export interface TrustedUses {
  /** The client IP ranges that were trusted before, of those from which new credentials were used. */
  readonly ranges: ReadonlySet<string>;
  /** By id of a key. */
  readonly ofKeys: ReadonlyMap<number, StoredUse>;
}

/** A range that is used after this call is not among them. @throws DomainError `unavailable` */
export async function findTrustedUses(
  { db, signInLimits }: Pick<SelfServiceOptions, 'db' | 'signInLimits'>,
  change: EmailChangeRow,
): Promise<TrustedUses> {
  const { accountId, canonicalEmail } = change;
  const since = suspectSince(change);
  const factor = await findFactor(db, accountId);
  const keys = await listKeysChangedSince(db, accountId, since);
  const ids = keys.map(({ id }) => id);
  const ofKeys = await readUses(db.usage, ids);
  const uses = [
    factor?.usedFrom ?? null,
    ...(await listPasskeys(db, accountId)).map(({ usedFrom }) => usedFrom),
    ...keys.map((key) => usedFromOf(key, ofKeys)),
  ];
  return { ranges: await signInLimits.trustedBefore(canonicalEmail, uses.flatMap(rangesIn), since), ofKeys };
}

/** A use of a key as it was before its last change does not count. */
function usedFromOf({ id, changedAt }: ChangedKey, uses: TrustedUses['ofKeys']): string | null {
  const use = uses.get(id);
  return use?.changedAt === changedAt ? use.usedFrom : null;
}

/** What was added after the change is always suspect. */
export const suspicionOf =
  (change: EmailChangeRow, { ranges }: TrustedUses): IsSuspect =>
  (addedAt, usedFrom) =>
    addedAt >= change.changedAt ||
    (addedAt >= suspectSince(change) && !rangesIn(usedFrom).some((range) => ranges.has(range)));

/** @returns the ids of the keys that are no suspects, of those that were created, changed or rotated in the time */
export async function listTrustedKeysTx(
  tx: Transaction,
  change: EmailChangeRow,
  trusted: TrustedUses,
): Promise<readonly number[]> {
  const isSuspect = suspicionOf(change, trusted);
  const keys = await listKeysChangedSince(tx, change.accountId, suspectSince(change));
  return keys.filter((key) => !isSuspect(key.changedAt, usedFromOf(key, trusted.ofKeys))).map(({ id }) => id);
}
