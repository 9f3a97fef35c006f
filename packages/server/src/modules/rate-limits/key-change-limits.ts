/**
 * How often an account may change or rotate its keys in a minute, and its management keys those of service accounts in an
 * hour. Counted in the transaction of the change.
 */
import { limits } from '@keyreeve/contract';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { hourMs } from '../../foundation/clock.ts';
import type { AccountPrincipal, CanaryPrincipal, KeyPrincipal, Principal } from '../../foundation/principal.ts';
import { assertAllowed, countTx, type WindowCounter } from './window-counter.ts';

/**
 * A principal whose creations and changes of keys are counted: for its own account, whichever account owns the keys; those of a
 * portal session for its service account.
 */
export type CountedPrincipal = Pick<AccountPrincipal | KeyPrincipal, 'kind' | 'accountId'>;
/** A principal whose creations of keys are counted. */
export type CountedCreator = CountedPrincipal | Pick<CanaryPrincipal, 'kind' | 'accountId'>;

export interface ManagedChangeLimits {
  readonly bucketHash: KeyedHash;
}

export const isCounted = (principal: Principal): principal is AccountPrincipal | KeyPrincipal =>
  principal.kind === 'account' || principal.kind === 'key';

/** @returns the principal for which a change of keys is counted; undefined if it is not counted */
export function countedAs(principal: Principal): CountedPrincipal | undefined {
  // Not for the owner of the management key: the persons of one service account must not use up the limits of all others.
  if (principal.kind === 'portal') return { kind: 'account', accountId: principal.serviceAccountId };
  return isCounted(principal) ? principal : undefined;
}

/** {@link countedAs} for a creation of a key. */
export const creatorCountedAs = (principal: Principal): CountedCreator | undefined =>
  principal.kind === 'canary' ? principal : countedAs(principal);

const counters = {
  account: { name: 'key changes', max: limits.keyChangesPerMinuteMax, windowMs: 60_000 },
  key: { name: 'managed key changes', max: limits.managedChangesPerHourMax, windowMs: hourMs },
};

function counterOf(bucketHash: KeyedHash, { kind, accountId }: CountedPrincipal): WindowCounter {
  const { name, ...bounds } = counters[kind];
  return { ...bounds, bucket: bucketHash.stored(JSON.stringify([name, accountId])), policy: 'changes' };
}

/** @throws DomainError `too_many_changes`, which rolls the count back with the rest */
export async function countKeyChangeTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  principal: CountedPrincipal,
  now: number,
): Promise<void> {
  await countTx(tx, counterOf(bucketHash, principal), now);
}

/** Counts the changes that only management keys are limited in. Absent limits: nothing is counted. */
export async function countManagedChangeTx(
  tx: Transaction,
  changeLimits: ManagedChangeLimits | undefined,
  principal: Principal,
  now: number,
): Promise<void> {
  if (changeLimits && principal.kind === 'key') await countKeyChangeTx(tx, changeLimits.bucketHash, principal, now);
}

/** Rejects by a read what {@link countKeyChangeTx} would reject. @throws DomainError `too_many_changes` */
export async function assertKeyChangeAllowed(
  db: Db,
  bucketHash: KeyedHash,
  principal: CountedPrincipal,
  now: number,
): Promise<void> {
  await assertAllowed(db, counterOf(bucketHash, principal), now);
}
