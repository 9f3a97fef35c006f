/** Checks of the master key for `keyreeve doctor` and `GET /admin/settings`: its age, and whether a rotation is unfinished. */
import { dayMs, toInstant } from '../../foundation/clock.ts';
import { findInstallation } from '../../foundation/database/installation.ts';
import type { Reader } from '../../foundation/database/db.ts';
import { listRootKeys, newestRootKeyVersion } from '../../foundation/database/root-keys.ts';
import { plural } from '../../foundation/plural.ts';
import { listKeyChanges } from '../../modules/audit/key-change-store.ts';
import { masterKeysIn } from '../../modules/master-key/rotation.ts';
import { isRunning } from '../../modules/overview/attention.ts';
import { listAllInstances } from '../../modules/overview/store.ts';

export interface MasterKeyCheck {
  readonly name: string;
  readonly state: 'ok' | 'note' | 'warning';
  readonly detail: string;
}

/** A rotation that takes longer was probably forgotten: the previous master key still opens the installation. */
const rotationDaysMax = 7;

/** @param now milliseconds @throws DomainError `unavailable` */
export async function masterKeyChecks(reader: Reader, now: number): Promise<MasterKeyCheck[]> {
  const name = 'master key id';
  const [current, next] = masterKeysIn(await listRootKeys(reader));
  if (!current) return [];
  const age = (since: number): string => plural(Math.max(0, Math.floor((now - since) / dayMs)), 'day');
  if (!next) return [{ name, state: 'ok', detail: `${current.id}, ${age(current.createdAt)} old` }];
  const detail = `a rotation has been unfinished since ${toInstant(next.createdAt)}: ${current.id} (${age(current.createdAt)} old) and ${next.id} open the installation; restart every instance with ${next.id} and run \`keyreeve master-key rotate --finish\``;
  return [{ name, state: now - next.createdAt > rotationDaysMax * dayMs ? 'warning' : 'note', detail }];
}

/** The version of the root key, and its age. @param now milliseconds @throws DomainError `unavailable` */
export async function rootKeyChecks(reader: Reader, now: number): Promise<MasterKeyCheck[]> {
  const version = await newestRootKeyVersion(reader);
  if (version === 0) return [];
  const changed = (await listKeyChanges(reader)).find((change) => change.version === version)?.changedAt;
  const since = changed ?? (await findInstallation(reader))?.createdAt ?? now;
  const age = plural(Math.max(0, Math.floor((now - since) / dayMs)), 'day');
  return [{ name: 'root key', state: 'ok', detail: `version ${version}, ${age} old` }];
}

/** One for each running instance, and for each worker: which master key it was started with. */
export async function instanceChecks(reader: Reader, now: number): Promise<MasterKeyCheck[]> {
  const newest = masterKeysIn(await listRootKeys(reader)).at(-1);
  return (await listAllInstances(reader))
    .filter((row) => isRunning(row, now))
    .map(({ id, version, startedAt, masterKeyId }) => ({
      name: 'instance',
      state: masterKeyId === newest?.id ? 'ok' : 'note',
      detail: `${id} (Keyreeve ${version}) was started at ${toInstant(startedAt)} with the master key ${masterKeyId}`,
    }));
}
