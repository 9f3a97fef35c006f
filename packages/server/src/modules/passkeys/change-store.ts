/** Changes of an account's passkeys: each commits with its audit events, its mail and the end of other sessions. */
import type { AccountPrincipal, Act, Principal } from '../../foundation/principal.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { limits } from '@keyreeve/contract';
import { recordEventTx, type AuditAction } from '../audit/audit.ts';
import { queueMailTx } from '../mail/mail.ts';
import type { NewJobRow } from '../outbox/store.ts';
import { assertMayLackFactorTx } from '../second-factors/enrolment-store.ts';
import * as factors from '../second-factors/store.ts';
import { assertSessionValidTx, endOtherSessionsTx } from '../sessions/store.ts';
import type { UsedChallenge } from './challenge.ts';
import * as store from './store.ts';

export interface Addition {
  readonly passkey: store.NewPasskey;
  readonly challenge: UsedChallenge;
  readonly codeHashes: readonly Uint8Array[];
  readonly mail: NewJobRow | undefined;
}

/**
 * @returns whether it is the account's first second factor
 * @throws DomainError `passkey_invalid` when the challenge has been used, `passkey_limit_reached`, `passkey_exists`,
 *   `invalid_access_token`
 */
export const addPasskey = (db: Db, principal: AccountPrincipal, addition: Addition): Promise<boolean> =>
  db.transaction(async (tx) => {
    const { passkey, challenge, codeHashes, mail } = addition;
    const { id: target, name, now } = passkey;
    const { accountId } = principal;
    const event = { at: now, principal, accountId };
    // Locks the account's row: concurrent additions count each other.
    await assertSessionValidTx(tx, { principal, now });
    if (!(await store.useChallengeTx(tx, challenge))) throw new DomainError('passkey_invalid');
    if ((await store.countPasskeysTx(tx, accountId)) >= limits.passkeysPerAccountMax)
      throw new DomainError('passkey_limit_reached');
    const isFirst = await factors.addFactorOfPasskeysTx(tx, accountId, now);
    if (!(await store.insertPasskeyTx(tx, passkey))) throw new DomainError('passkey_exists');
    if (isFirst) await factors.replaceRecoveryCodesTx(tx, accountId, codeHashes, now);
    await recordEventTx(tx, { ...event, action: 'passkey.added', target, details: { name } });
    if (isFirst) await recordEventTx(tx, { ...event, action: 'second_factor.added', target: accountId });
    await endOtherSessionsTx(tx, principal, now);
    await queueMailTx(tx, mail);
    return isFirst;
  });

/** @throws DomainError `passkey_not_found`, `invalid_access_token` */
export const renamePasskey = (
  db: Db,
  principal: AccountPrincipal,
  { id, name, now }: { id: string; name: string; now: number },
): Promise<void> =>
  db.transaction(async (tx) => {
    const { accountId } = principal;
    await assertSessionValidTx(tx, { principal, now });
    if (!(await store.renamePasskeyTx(tx, accountId, id, name))) throw new DomainError('passkey_not_found');
    const event = { at: now, principal, action: 'passkey.renamed', accountId, target: id } as const;
    await recordEventTx(tx, { ...event, details: { name } });
  });

/** @throws DomainError `passkey_not_found`, `second_factor_required_by_policy`, `invalid_access_token` */
export const removePasskey = (
  db: Db,
  principal: AccountPrincipal,
  { id, mailAbout, now }: { id: string; mailAbout: (name: string) => NewJobRow | undefined; now: number },
): Promise<void> =>
  db.transaction(async (tx) => {
    const { accountId } = principal;
    const event = { at: now, principal, accountId };
    await assertSessionValidTx(tx, { principal, now });
    const name = await store.removePasskeyTx(tx, accountId, id);
    if (name === undefined) throw new DomainError('passkey_not_found');
    const factor = await factors.findFactor(tx, accountId);
    const isLast = factor?.kind === 'passkeys' && (await store.countPasskeysTx(tx, accountId)) === 0;
    if (isLast) {
      await assertMayLackFactorTx(tx, accountId);
      await factors.removeSecondFactorTx(tx, accountId);
    }
    await recordEventTx(tx, { ...event, action: 'passkey.removed', target: id, details: { name } });
    if (isLast) await recordEventTx(tx, { ...event, action: 'second_factor.removed', target: accountId });
    await endOtherSessionsTx(tx, principal, now);
    await queueMailTx(tx, mailAbout(name));
  });

/** @param addedAt milliseconds @param usedFrom client IP ranges, separated by spaces */
export type IsSuspect = (addedAt: number, usedFrom: string | null) => boolean;

export interface FactorRemoval {
  readonly isSuspect: IsSuspect;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Removes the passkeys, the authenticator app and the recovery codes that a thief may have added. A second factor that was in
 * force before stays in force, even if its owner has only recovery codes then, or nothing. The caller has locked the account's
 * row, and records the changes in the deletion journal.
 */
export async function removeSuspectFactorsTx(
  tx: Transaction,
  principal: Principal,
  accountId: string,
  { isSuspect, now }: FactorRemoval,
): Promise<void> {
  const factor = await factors.findFactor(tx, accountId);
  if (!factor || factor.confirmedAt === null) return;
  const record = (action: AuditAction, target = accountId): Promise<void> =>
    recordEventTx(tx, { at: now, principal, action, accountId, target });
  const kept: store.PasskeyRow[] = [];
  for (const passkey of await store.listPasskeys(tx, accountId)) {
    if (!isSuspect(passkey.createdAt, passkey.usedFrom)) {
      kept.push(passkey);
      continue;
    }
    await store.removePasskeyTx(tx, accountId, passkey.id);
    await record('passkey.removed', passkey.id);
  }
  const { confirmedAt, appAddedAt, kind } = factor;
  const isAppKept = kind === 'totp' && !isSuspect(appAddedAt ?? confirmedAt, factor.usedFrom);
  if (!isAppKept && kept.length === 0 && isSuspect(confirmedAt, null)) {
    await factors.removeSecondFactorTx(tx, accountId);
    await record('second_factor.removed');
    return;
  }
  if (kind === 'totp' && !isAppKept) {
    await factors.removeAppTx(tx, accountId);
    await record('authenticator.removed');
  }
  // The recovery codes come with the first factor. Later ones are new, whichever factor they were made with.
  const madeAt = await factors.recoveryCodesMadeAtTx(tx, accountId);
  const cameWithKept =
    (isAppKept && appAddedAt === null && confirmedAt === madeAt) || kept.some(({ createdAt }) => createdAt === madeAt);
  if (madeAt === undefined || cameWithKept || !isSuspect(madeAt, null)) return;
  await factors.deleteRecoveryCodesTx(tx, accountId);
  await record('recovery_codes.replaced');
}

export interface FactorsInForce {
  readonly hasAuthenticator: boolean;
  /** Oldest first. */
  readonly passkeys: readonly Pick<store.PasskeyRow, 'name' | 'createdAt'>[];
  readonly recoveryCodes: number;
}

/** The factors that a sign-in accepts beside the password; undefined if it needs none. */
export async function factorsInForceTx(tx: Transaction, accountId: string): Promise<FactorsInForce | undefined> {
  const factor = await factors.findFactor(tx, accountId);
  if (!factor || factor.confirmedAt === null) return undefined;
  return {
    hasAuthenticator: factor.kind === 'totp',
    passkeys: await store.listPasskeys(tx, accountId),
    recoveryCodes: await factors.countRecoveryCodesTx(tx, accountId),
  };
}

/**
 * Removes passkeys that a thief may have added: a passkey signs in without the password. A second factor stays in force, with
 * the recovery codes. The caller has locked the account's row, and records the changes in the deletion journal.
 * @param since milliseconds; 0 for all passkeys
 */
export async function removeSuspiciousPasskeysTx(
  tx: Transaction,
  { principal, now }: Act,
  accountId: string,
  since: number,
): Promise<void> {
  for (const target of await store.removePasskeysSinceTx(tx, accountId, since))
    await recordEventTx(tx, { at: now, principal, action: 'passkey.removed', accountId, target });
}
