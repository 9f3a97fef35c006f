/** Bounds on creations and changes of service accounts, in the transactions that make them. */
import { limits } from '@keyreeve/contract';
import type { Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Act, Principal } from '../../foundation/principal.ts';
import { countKeyChangeTx, isCounted } from '../rate-limits/key-change-limits.ts';
import { countCreationTx, type KeyCreationLimits } from '../rate-limits/key-creation-limits.ts';
import { countCreatedBy } from './store.ts';

/**
 * Counts a creation. The caller has locked the creator.
 * @param creationLimits undefined for load tests: no limits in time
 * @throws DomainError `too_many_creations`, `service_account_limit_reached`
 */
export async function countNewTx(
  tx: Transaction,
  { principal, now }: Act,
  creatorId: string,
  creationLimits: KeyCreationLimits | undefined,
): Promise<void> {
  if (creationLimits && isCounted(principal)) await countCreationTx(tx, creationLimits, principal, now);
  const max = principal.kind === 'account' ? limits.serviceAccountsPerPersonMax : limits.serviceAccountsPerBackendMax;
  if ((await countCreatedBy(tx, creatorId)) >= max) throw new DomainError('service_account_limit_reached');
}

/** Counts a change by a manager. @throws DomainError `too_many_changes` */
export async function countChangeTx(
  tx: Transaction,
  principal: Principal,
  creationLimits: KeyCreationLimits | undefined,
  now: number,
): Promise<void> {
  if (creationLimits && isCounted(principal)) await countKeyChangeTx(tx, creationLimits.bucketHash, principal, now);
}
