/**
 * What a later import changes in an account. It compares the file with what the previous import stored: only what has changed
 * there since is taken, and nothing if the account has changed here since.
 */
import { decodeImportRecord, encodeImportRecord, type ImportRecord } from '../accounts/import-record.ts';
import type { AccountUpdate, ExistingAccount } from '../accounts/import-store.ts';
import type { PasswordHasher } from '../../foundation/crypto/password.ts';
import type { AccountLine } from './account-line.ts';

/**
 * `same`: the file states what the previous import stored. `not imported`: no import has created the account. `changed here`: an owner, an administrator or an operator has changed it since.
 */
export type UpdatePlan = 'same' | 'not imported' | 'changed here' | AccountUpdate;

export function planUpdate(
  { passwordHash, stated }: AccountLine,
  existing: ExistingAccount,
  hasher: PasswordHasher,
  now: number,
): UpdatePlan {
  const record = decodeImportRecord(existing.importRecord);
  if (!record) return 'not imported';
  const hasNewHash = stated.hash !== undefined && !hasher.isFingerprint(record.hash, stated.hash);
  const { disabled = record.disabled, verified = record.verified } = stated;
  const changesAbility = disabled !== record.disabled;
  const changesVerification = verified !== record.verified;
  if (!hasNewHash && !changesAbility && !changesVerification) return 'same';
  if (existing.updatedAt !== record.at) return 'changed here';
  const hash = hasNewHash ? hasher.fingerprint(stated.hash ?? '') : record.hash;
  return {
    passwordHash: hasNewHash ? passwordHash : null,
    disabledAt: changesAbility ? (disabled ? now : null) : existing.disabledAt,
    unverifiedSince: changesVerification ? (verified ? null : now) : existing.unverifiedSince,
    importRecord: encodeImportRecord({ at: now, hash, disabled, verified }),
    endsSessions: hasNewHash || (changesAbility && disabled) || (changesVerification && !verified),
    isEnabled: changesAbility && !disabled,
  };
}

/** Of a new account. */
export const newRecord = (
  { stated, disabledAt, unverifiedSince }: AccountLine,
  hasher: PasswordHasher,
  now: number,
): ImportRecord => ({
  at: now,
  hash: hasher.fingerprint(stated.hash ?? ''),
  disabled: disabledAt !== null,
  verified: unverifiedSince === null,
});
