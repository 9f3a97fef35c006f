/**
 * Changes that take rights away from an account (a role, a password, an email address, a second factor, a recovery code):
 * written to the deletion journal after the commit and before the response, as deletions are.
 */
import { isOutcomeUnknown } from '../../foundation/database/unavailable.ts';
import type { Revocations } from './revocation.ts';

export interface AccountChange {
  readonly accountId: string;
  /** The time that the change's audit events carry, in milliseconds. */
  readonly at: number;
}

/**
 * @param change one transaction
 * @throws what `change` throws; DomainError `unavailable` when the journal cannot be written, and the change holds then
 */
export async function recordingChanges<T>(
  revocations: Revocations | undefined,
  { accountId, at }: AccountChange,
  change: () => Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await change();
  } catch (error) {
    // The audit log decides whether it happened.
    if (isOutcomeUnknown(error)) revocations?.lookSoon();
    throw error;
  }
  await revocations?.recordChanges(accountId, at);
  return result;
}
