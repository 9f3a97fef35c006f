/** Finds the root keys of a backup, which its header contains, encrypted with the master key of the time of the backup. */
import { deriveAllKeys, deriveKeys } from '../../foundation/crypto/master-key.ts';
import { DamagedRootKeyError, masterKeyIdOf, RootKeys } from '../../foundation/crypto/root-key.ts';
import { BackupError, type BackupHeader, type StoredRootKey } from './format.ts';
import { damaged, readHeader, type BackupFile } from './read-backup.ts';

/**
 * @param schemaNewest the newest schema that this program supports
 * @param current the root keys of the database to restore to. If the backup is of the same installation, they open it,
 *   whatever the master key was at that time
 * @throws BackupError if the master key does not open the backup, Error of the file system
 */
export async function rootKeysOfBackup(
  file: BackupFile,
  schemaNewest: number,
  masterKey: Buffer,
  current?: RootKeys,
): Promise<RootKeys> {
  const { path } = file;
  const header = await readHeader(file, schemaNewest);
  if (current && isOf(header, current)) return current;
  if (current && isBefore(header, current)) throw new BackupError(beforeRotation(path));
  const own = openHeader(header, path, masterKey);
  if (own && isOf(header, own)) return own;
  const ids = [...new Set(header.rootKeys.map(({ masterKeyId }) => masterKeyId))].join(' or ');
  throw new BackupError(
    `${path} was made with another master key; restoring it needs that one (id ${ids}; the id of the given one is ${masterKeyIdOf(masterKey)})`,
  );
}

/** Whether an earlier version of the root key was the newest at the time of the backup. */
const isBefore = ({ installation }: BackupHeader, { keys }: RootKeys): boolean =>
  deriveAllKeys(keys).earlier.some(({ check }) => check.toString('hex') === installation);

const beforeRotation = (path: string): string =>
  `${path} was made before the rotation of the root key: restoring it would bring the earlier root key back, which has leaked. Restore a later backup. To restore this one nevertheless, restore it to an empty database with an empty deletion journal, and run \`keyreeve root-key rotate\` before you start the service`;

const isOf = ({ installation }: BackupHeader, rootKeys: RootKeys): boolean =>
  deriveKeys(rootKeys.newest).check.toString('hex') === installation;

function openHeader({ rootKeys }: BackupHeader, path: string, masterKey: Buffer): RootKeys | undefined {
  if (!Array.isArray(rootKeys) || !rootKeys.every(isStored)) throw damaged(path);
  try {
    const rows = rootKeys.map((row) => ({ ...row, wrapped: Buffer.from(row.wrapped, 'hex') }));
    return RootKeys.open(masterKey, rows);
  } catch (error) {
    if (error instanceof DamagedRootKeyError) throw damaged(path);
    throw error;
  }
}

/** The header is verified only after its root keys have been opened. */
function isStored(value: unknown): value is StoredRootKey {
  const { version, generation, masterKeyId, wrapped, createdAt } = (value ?? {}) as Partial<StoredRootKey>;
  return (
    [version, generation, createdAt].every(Number.isSafeInteger) &&
    typeof masterKeyId === 'string' &&
    typeof wrapped === 'string' &&
    /^(?:[0-9a-f]{2})+$/.test(wrapped)
  );
}
