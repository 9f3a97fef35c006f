/**
 * Rotation of the master key. It begins with a second wrapping of the root keys, by the new master key, so that both master
 * keys open the installation. Instances restart with the new one. The rotation ends when one of the wrappings is removed.
 * Nothing else is encrypted again, so a rotation takes as long as a commit, and verifications do not notice it.
 */
import type { Core } from '../../foundation/core.ts';
import { masterKeyIdOf, type RootKeys, type WrappedRootKey } from '../../foundation/crypto/root-key.ts';
import type { Db, Transaction } from '../../foundation/database/db.ts';
import {
  deleteGenerationTx,
  eraseRootKeys,
  insertRootKeyTx,
  listRootKeys,
  lockRootKeysTx,
} from '../../foundation/database/root-keys.ts';
import type { Principal } from '../../foundation/principal.ts';
import { recordEventTx, type AuditAction } from '../audit/audit.ts';
import { describeKilled, listRunning } from '../overview/attention.ts';
import { listAllInstances, type InstanceRow } from '../overview/store.ts';
import { toInstant } from '../../foundation/clock.ts';

/** The step is not possible now, or not complete. The message gives the reason and the next step. */
export class RotationError extends Error {}

export interface MasterKey {
  readonly id: string;
  readonly generation: number;
  /** When it was created or added, in milliseconds. */
  readonly createdAt: number;
}

export interface RotationOptions extends Core {
  /** Opened with the master key of the command. */
  readonly rootKeys: RootKeys;
}

export interface EndOptions extends RotationOptions {
  /** Ids of instances that have ended. An id has an effect only for a last time in the future. Default: none. */
  readonly endedInstances?: readonly string[];
}

/** The master keys that open the installation, the oldest first: one, or two during a rotation. */
export function masterKeysIn(rows: readonly WrappedRootKey[]): MasterKey[] {
  const byId = new Map(rows.map(({ masterKeyId: id, generation, createdAt }) => [id, { id, generation, createdAt }]));
  return [...byId.values()].toSorted((a, b) => a.generation - b.generation);
}

export interface Started {
  /** False if an earlier call has added this master key, and the rotation is unfinished. */
  readonly isAdded: boolean;
  readonly masterKeyId: string;
}

/**
 * Adds a master key.
 * @param newMasterKey called under the lock, with the new master key of an unfinished rotation
 * @throws RotationError
 */
export async function startRotation(
  principal: Principal,
  { db, clock, rootKeys }: RotationOptions,
  newMasterKey: (added: MasterKey | undefined) => Buffer,
): Promise<Started> {
  return withLockTx(db, async (tx, [current, next]) => {
    const masterKey = newMasterKey(next);
    const newId = masterKeyIdOf(masterKey);
    if (next?.id === newId) return { isAdded: false, masterKeyId: newId };
    if (current?.id === newId)
      throw new RotationError(`the new master key is the one in use (id ${newId}); generate another one`);
    if (next) throw new RotationError(unfinished(next));
    if (current?.id !== rootKeys.masterKeyId) throw lostRace();
    const place = { generation: current.generation + 1, createdAt: clock.now() };
    for (const row of rootKeys.wrapAll(masterKey, place)) if (!(await insertRootKeyTx(tx, row))) throw lostRace();
    await record(tx, 'started', { principal, at: place.createdAt, masterKeyId: newId, previous: current.id });
    return { isAdded: true, masterKeyId: newId };
  });
}

/** Runs `use` while no other command changes the master keys. */
export const withMasterKeys = <T>(db: Db, use: (keys: readonly MasterKey[]) => T): Promise<T> =>
  withLockTx(db, async (_, keys) => use(keys));

const withLockTx = <T>(db: Db, body: (tx: Transaction, keys: readonly MasterKey[]) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await lockRootKeysTx(tx);
    return body(tx, masterKeysIn(await listRootKeys(tx)));
  });

/** Called under the lock, before the commit that removes a master key. If it throws an error, nothing is removed. */
export type BeforeRemoval = (kept: MasterKey, removed: MasterKey) => void;

export interface Ended {
  /** Of the master key that no longer opens the installation; undefined if no rotation was unfinished. */
  readonly removedId: string | undefined;
  /** Whether the files of the table no longer contain a removed wrapping. If not, the caller can repeat the step. */
  readonly isErased: boolean;
}

/** Removes the previous master key. @throws RotationError while an instance uses it */
export const finishRotation = (
  principal: Principal,
  options: EndOptions,
  beforeRemoval?: BeforeRemoval,
): Promise<Ended> => endRotation(principal, options, 'finished', beforeRemoval);

/** Removes the new master key. @throws RotationError while an instance uses it */
export const cancelRotation = (
  principal: Principal,
  options: EndOptions,
  beforeRemoval?: BeforeRemoval,
): Promise<Ended> => endRotation(principal, options, 'cancelled', beforeRemoval);

async function endRotation(
  principal: Principal,
  { db, clock, rootKeys, endedInstances = [] }: EndOptions,
  step: 'finished' | 'cancelled',
  beforeRemoval?: BeforeRemoval,
): Promise<Ended> {
  const removedId = await withLockTx(db, async (tx, [previous, next]) => {
    if (!previous || !next) return undefined;
    const [removed, kept] = step === 'finished' ? [previous, next] : [next, previous];
    if (rootKeys.masterKeyId !== kept.id) throw new RotationError(wrongKey(step, kept, removed));
    const now = clock.now();
    const running = listRunning(await listAllInstances(tx), now, endedInstances);
    const users = running.filter((row) => row.masterKeyId !== kept.id);
    if (users.length > 0) throw new RotationError(stillUsed(users, kept, now));
    beforeRemoval?.(kept, removed);
    await deleteGenerationTx(tx, removed.generation);
    await record(tx, step, { principal, at: now, masterKeyId: kept.id, previous: removed.id });
    return removed.id;
  });
  // Also without an unfinished rotation: an earlier call may have been interrupted after its commit.
  return { removedId, isErased: await eraseRootKeys(db) };
}

interface Step {
  readonly principal: Principal;
  readonly at: number;
  readonly masterKeyId: string;
  readonly previous: string;
}

/** @param previous the other master key */
const record = (
  tx: Transaction,
  step: 'started' | 'finished' | 'cancelled',
  { principal, at, masterKeyId, previous }: Step,
): Promise<void> => {
  const action: AuditAction = `installation.master_key_rotation_${step}`;
  const details = step === 'started' ? { previousMasterKeyId: previous } : { removedMasterKeyId: previous };
  return recordEventTx(tx, { principal, at, action, target: masterKeyId, details });
};

const unfinished = ({ id, createdAt }: MasterKey): string =>
  `the rotation to the master key ${id} of ${toInstant(createdAt)} is unfinished; restart every instance with that master key and run \`keyreeve master-key rotate --finish\`, or run \`keyreeve master-key rotate --cancel\` first`;

const lostRace = (): RotationError =>
  new RotationError('the master key was rotated by another command meanwhile; run `keyreeve doctor`');

const wrongKey = (step: 'finished' | 'cancelled', kept: MasterKey, removed: MasterKey): string =>
  step === 'finished'
    ? `this command was run with the previous master key ${removed.id}; run it with the new one, ${kept.id}`
    : `this command was run with the new master key ${removed.id}, which it would remove; run it with the previous one, ${kept.id}`;

function stillUsed(users: readonly InstanceRow[], kept: MasterKey, now: number): string {
  const list = users.map(({ id, version, startedAt, seenAt, masterKeyId }) => {
    const seen = seenAt > now ? `at ${toInstant(seenAt)}` : `${Math.round((now - seenAt) / 1_000)} s ago`;
    return `${id} (Keyreeve ${version}, started ${toInstant(startedAt)} with the master key ${masterKeyId}, last seen ${seen})`;
  });
  return `these instances were not started with the master key ${kept.id}: ${list.join(', ')}. Restart them with it, and repeat this command. An instance ${describeKilled(users, now)}`;
}
