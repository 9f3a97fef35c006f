/** Records that an instance has started, so that rotations of the master key and of the root key notice it. */
import { isMasterKeyTx, newestRootKeyVersion } from '../../foundation/database/root-keys.ts';
import { isRootKeyChanged, rootKeyChanged, RootKeyChangedError } from '../../foundation/database/root-key-changed.ts';
import type { Log } from '../../foundation/log.ts';
import { ConfigError } from '../configuration/config.ts';
import type { OpenedInstallation } from '../installation/installation.ts';
import type { Services } from '../wiring/wire.ts';

/**
 * Records the master key of this instance, so that a rotation does not remove it while the instance runs.
 * @throws ConfigError if a rotation has removed the master key since this process has opened the installation;
 *   RootKeyChangedError if the root key was rotated since then
 */
export async function announce(
  { minutes }: { readonly minutes: Pick<Services['minutes'], 'announce'> },
  { db, rootKeys }: Pick<OpenedInstallation, 'db' | 'rootKeys'>,
  log: Log,
): Promise<void> {
  const { masterKeyId } = rootKeys;
  const isKnown = await minutes
    .announce(async (tx) => {
      if (!(await isMasterKeyTx(tx, masterKeyId))) return false;
      if ((await newestRootKeyVersion(tx)) !== rootKeys.newestVersion) throw rootKeyChanged();
      return true;
    })
    .catch(async (error: unknown) => {
      if (isRootKeyChanged(error)) throw new RootKeyChangedError();
      // A rotation holds the locks of this transaction; it may have committed meanwhile.
      if ((await newestRootKeyVersion(db)) !== rootKeys.newestVersion) throw new RootKeyChangedError();
      // Verifications need no writes, so the instance starts. It is recorded as soon as writes succeed.
      log.warn({ event: 'overview_not_written', err: error });
      return true;
    });
  if (!isKnown) throw new ConfigError([`the master key ${masterKeyId} was removed by a rotation; use the new one`]);
}
