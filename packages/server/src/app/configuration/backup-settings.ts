/** The settings of S3-compatible storage, to which `keyreeve backup` can upload. Part of the table in settings.ts. */
import { optional, shortText } from './config-values.ts';
import { protectedUrl } from './mail-values.ts';
import { setting } from './setting.ts';

export const backupSettings = {
  storageEndpoint: setting(
    'KEYREEVE_STORAGE_ENDPOINT',
    '',
    'URL of [S3-compatible storage](backup.md#to-s3-compatible-storage), such as `https://s3.eu-central-1.amazonaws.com`.',
    optional(protectedUrl),
  ),
  storageRegion: setting('KEYREEVE_STORAGE_REGION', 'us-east-1', 'Its region.', shortText),
  storageAccessKeyId: setting(
    'KEYREEVE_STORAGE_ACCESS_KEY_ID',
    '',
    'Id of a key that may write objects.',
    optional(shortText),
  ),
  storageSecretAccessKey: setting(
    'KEYREEVE_STORAGE_SECRET_ACCESS_KEY',
    '',
    'Secret of that key.',
    optional(shortText),
    {
      isSecret: true,
    },
  ),
} as const;
