/**
 * How many portal sessions of a service account, and of all service accounts of an owner of management keys, are created in an
 * hour. Counted in the transaction of the creation, first for the service account: one that is at its bound uses nothing of what
 * the others share.
 */
import { limits } from '@keyreeve/contract';
import { hourMs } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import type { KeyPrincipal } from '../../foundation/principal.ts';
import { assertAllowed, countTx, type WindowCounter } from './window-counter.ts';

function countersOf(
  bucketHash: KeyedHash,
  { accountId }: Pick<KeyPrincipal, 'accountId'>,
  serviceAccountId: string,
): WindowCounter[] {
  const counter = (name: string, id: string, max: number): WindowCounter => {
    return { bucket: bucketHash.stored(JSON.stringify([name, id])), max, windowMs: hourMs, policy: 'portal_sessions' };
  };
  return [
    counter('portal sessions', serviceAccountId, limits.portalSessionsPerHourMax),
    counter('portal sessions of owner', accountId, limits.portalSessionsPerOwnerMax),
  ];
}

/** @throws DomainError `too_many_portal_sessions`, which rolls the counts back with the rest */
export async function countPortalSessionTx(
  tx: Transaction,
  bucketHash: KeyedHash,
  principal: KeyPrincipal,
  { serviceAccountId, now }: { readonly serviceAccountId: string; readonly now: number },
): Promise<void> {
  for (const counter of countersOf(bucketHash, principal, serviceAccountId)) await countTx(tx, counter, now);
}

/** Rejects by a read what {@link countPortalSessionTx} would reject. @throws DomainError `too_many_portal_sessions` */
export async function assertPortalSessionAllowed(
  db: Db,
  bucketHash: KeyedHash,
  principal: KeyPrincipal,
  { serviceAccountId, now }: { readonly serviceAccountId: string; readonly now: number },
): Promise<void> {
  for (const counter of countersOf(bucketHash, principal, serviceAccountId)) await assertAllowed(db, counter, now);
}
