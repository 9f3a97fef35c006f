/** Which settings of S3-compatible storage belong together. */
import type { ObjectStorage } from '../../modules/backup/object-storage.ts';
import type { backupSettings } from './backup-settings.ts';

type Settings = typeof backupSettings;
/** The part of the configuration that backups depend on. */
type Values = { readonly [Key in keyof Settings]: ReturnType<Settings[Key]['parse']> };

export const objectStorageNames =
  'KEYREEVE_STORAGE_ENDPOINT, KEYREEVE_STORAGE_ACCESS_KEY_ID and KEYREEVE_STORAGE_SECRET_ACCESS_KEY';

/** @returns undefined unless all settings are set. Only the command that uploads needs the secret. */
export function objectStorageOf({
  storageEndpoint: endpoint,
  storageRegion: region,
  storageAccessKeyId: accessKeyId,
  storageSecretAccessKey: secretAccessKey,
}: Values): ObjectStorage | undefined {
  return endpoint && accessKeyId && secretAccessKey ? { endpoint, region, accessKeyId, secretAccessKey } : undefined;
}
