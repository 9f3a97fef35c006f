/** The settings of S3-compatible storage. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectStorageOf } from '../configuration/backup-config.ts';
import { readConfig } from '../configuration/config.ts';

test('endpoint and key of the storage are complete or not used, and a service starts without the secret', () => {
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
  for (const name of Object.keys(complete))
    assert.equal(objectStorageOf(readConfig({ ...complete, [name]: '' })), undefined, name);
});
