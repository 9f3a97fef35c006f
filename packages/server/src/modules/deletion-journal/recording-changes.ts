/**
 * Writes changes that remove rights to the deletion journal, after their commit and before the response, as
 * deletions are. Such a change removes a role, password, email address, second factor, recovery code or webhook
 * endpoint.
 */
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import type { Revocation, Revocations } from './revocation.ts';

/** The journal records all changes of this account with this time. */
export interface AccountChange {
  readonly accountId: string;
  /** The time that the change's audit events carry, in milliseconds. */
  readonly at: number;
}

/**
 * @param revocations undefined without a journal
 * @param recorded what the journal records
 * @param change one transaction
 * @throws what `change` throws; DomainError `unavailable` when the journal cannot be written, although the change holds
 */
export async function recordingChanges<T>(
  revocations: Revocations | undefined,
  recorded: AccountChange | Revocation,
  change: () => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await change();
  } catch (error) {
    // The audit log decides whether it happened.
    if (isOutcomeUnknown(error)) revocations?.catchUpSoon();
    throw error;
  }
  if ('kind' in recorded) await revocations?.record([recorded]);
  else await revocations?.recordChanges(recorded.accountId, recorded.at);
  return result;
}
