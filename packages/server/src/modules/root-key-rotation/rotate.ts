/**
 * Rotates the root key after it has leaked, in one transaction: everything that is written from then on has keys of the new
 * version, and everything that an attacker could forge or open with the earlier one ends or is sealed again.
 * docs/decisions/11-installation-keys.md states what stays, and why.
 */
import { deleteAllRequestsTx } from '../approvals/store.ts';
import { endAllSessionsTx } from '../accounts/session-epoch-store.ts';
import { recordEventTx } from '../audit/audit.ts';
import { changeAuditKeyTx } from '../audit/change-key.ts';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { RootKeys, WrappedRootKey } from '../../foundation/crypto/root-key.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import { replaceCheckTx } from '../../foundation/database/installation.ts';
import { listRootKeys, lockRootKeysTx, replaceRootKeysTx } from '../../foundation/database/root-keys.ts';
import type { Principal } from '../../foundation/principal.ts';
import { deleteAllCodesTx } from '../one-time-codes/store.ts';
import { describeKilled, listRunning } from '../overview/attention.ts';
import { listAllInstances, lockInstancesTx, type InstanceRow } from '../overview/store.ts';
import { deleteAllUsedChallengesTx } from '../passkeys/store.ts';
import { deleteAllPortalSessionsTx } from '../portal/store.ts';
import { deleteAllBucketsTx } from '../rate-limits/store.ts';
import { deleteAllSessionsTx } from '../sessions/store.ts';
import { endAllShortLivedTx } from '../short-lived-secrets/store.ts';
import { replaceSigningKeysTx, type SigningKeyRow } from '../signing-keys/store.ts';
import { resealAllTx } from './sealed-columns.ts';

/** The rotation changed nothing. The message gives the reason and the remedy. */
export class RootKeyRotationError extends Error {}

/** The audit key of the database is that of `next`. */
export interface RotationOptions extends Core {
  readonly current: OpenedKeys;
  readonly next: OpenedKeys;
  /** Sealed with the keys of `next`. */
  readonly signingKey: SigningKeyRow;
  /** Ids of instances that have ended. They count as running only if their last time is not in the future. */
  readonly endedInstances: readonly string[];
  /** Whether to roll back at the end. */
  readonly isDryRun: boolean;
}

export interface OpenedKeys {
  readonly rootKeys: RootKeys;
  /** Derive from `rootKeys`. */
  readonly keys: InstallationKeys;
}

export interface Rotated {
  /** The new version of the root key. */
  readonly version: number;
  readonly sessionsEnded: number;
  readonly portalSessionsEnded: number;
  readonly signingKeysRevoked: number;
  readonly oneTimeCodesDeleted: number;
  readonly shortLivedSecretsEnded: number;
  readonly valuesResealed: number;
  /** Sealed values that were damaged before. They stay as they are. */
  readonly valuesUnreadable: number;
}

/** Rolls back a dry run. */
class DryRun extends Error {
  readonly rotated: Rotated;

  constructor(rotated: Rotated) {
    super('dry run');
    this.rotated = rotated;
  }
}

/** @throws RootKeyRotationError, DomainError `unavailable`; nothing was changed then, unless its outcome is unknown */
export async function rotateRootKey(principal: Principal, options: RotationOptions): Promise<Rotated> {
  const { db, isDryRun } = options;
  try {
    return await db.transaction(
      async (tx) => {
        const rotated = await rotateTx(tx, principal, options);
        if (isDryRun) throw new DryRun(rotated);
        return rotated;
      },
      { isLong: true },
    );
  } catch (error) {
    if (error instanceof DryRun) return error.rotated;
    throw error;
  }
}

async function rotateTx(
  tx: Transaction,
  principal: Principal,
  { clock, current, next, signingKey, endedInstances }: RotationOptions,
): Promise<Rotated> {
  const now = clock.now();
  await lockRootKeysTx(tx);
  await lockInstancesTx(tx);
  const running = listRunning(await listAllInstances(tx), now, endedInstances);
  if (running.length > 0) throw new RootKeyRotationError(describeRunning(running, now));
  if (!areSame(await listRootKeys(tx), current.rootKeys.rows))
    throw new RootKeyRotationError('another command has changed the root keys meanwhile; run the command again');
  await replaceRootKeysTx(tx, next.rootKeys.rows);
  if (!(await replaceCheckTx(tx, current.keys.check, next.keys.check)))
    throw new RootKeyRotationError('the database belongs to another installation');
  // Before the first event, which has the new key.
  await changeAuditKeyTx(tx, current.keys, next.keys, now);
  const { resealed, unreadable } = await resealAllTx(tx, current.keys, next.keys);
  const signingKeysRevoked = await replaceSigningKeysTx(tx, principal, signingKey);
  const sessionsEnded = await deleteAllSessionsTx(tx);
  await endAllSessionsTx(tx);
  const rotated = {
    version: next.keys.version,
    sessionsEnded,
    portalSessionsEnded: await deleteAllPortalSessionsTx(tx),
    signingKeysRevoked,
    oneTimeCodesDeleted: await deleteAllCodesTx(tx),
    shortLivedSecretsEnded: await endAllShortLivedTx(tx),
    valuesResealed: resealed,
    valuesUnreadable: unreadable,
  };
  await deleteAllRequestsTx(tx);
  await deleteAllUsedChallengesTx(tx);
  await deleteAllBucketsTx(tx);
  await recordEventTx(tx, { at: now, principal, action: 'installation.root_key_rotated', details: { ...rotated } });
  return rotated;
}

function describeRunning(running: readonly InstanceRow[], now: number): string {
  const list = running.map(({ id, version, seenAt }) => `${id} (Keyreeve ${version}, last seen ${toInstant(seenAt)})`);
  return `the service runs: ${list.join(', ')}. Stop every process of it, and run this command again. A process ${describeKilled(running, now)}`;
}

const nameOf = ({ version, generation, masterKeyId }: WrappedRootKey): string =>
  `${version} ${generation} ${masterKeyId}`;

const areSame = (one: readonly WrappedRootKey[], other: readonly WrappedRootKey[]): boolean =>
  one.map(nameOf).toSorted().join() === other.map(nameOf).toSorted().join();
