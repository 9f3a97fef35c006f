/** The settings of S3-compatible storage. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectStorageOf } from '../configuration/backup-config.ts';
import { ConfigError, readConfig } from '../configuration/config.ts';

test('endpoint and key of the storage are set together, or none of them', () => {
  const complete = {
    KEYREEVE_STORAGE_ENDPOINT: 'https://s3.example.com',
    KEYREEVE_STORAGE_ACCESS_KEY_ID: 'id',
    KEYREEVE_STORAGE_SECRET_ACCESS_KEY: 'secret',
  };
  assert.deepEqual(objectStorageOf(readConfig(complete)), {
    endpoint: 'https://s3.example.com',
    region: 'us-east-1',
    accessKeyId: 'id',
    secretAccessKey: 'secret',
  });
  assert.equal(objectStorageOf(readConfig({})), undefined);
  const names = 'KEYREEVE_STORAGE_ENDPOINT, KEYREEVE_STORAGE_ACCESS_KEY_ID and KEYREEVE_STORAGE_SECRET_ACCESS_KEY';
  for (const name of Object.keys(complete))
    assert.throws(
      () => readConfig({ ...complete, [name]: '' }),
      (error) => error instanceof ConfigError && error.mistakes.join() === `${names} must all be set, or none of them`,
    );
});
