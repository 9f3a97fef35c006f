/**
 * Kong: consumers with their `keyauth_credentials` (`deck gateway dump --format json`), or the answer of `GET /key-auths`. Kong
 * stores keys in clear text.
 */
import { objectOf, objectsOf, present, textOf, type Convert } from './source.ts';
import type { FileObject } from '../file-record.ts';
import { timeOf } from '../times.ts';

export const kong: Convert = (record) => {
  const credentials = record['keyauth_credentials'];
  if (textOf(record['key']) !== undefined) return [keyOf(record, objectOf(record['consumer']))];
  return objectsOf(credentials).map((credential) => keyOf(credential, record));
};

function keyOf(credential: FileObject, consumer: FileObject): FileObject {
  const [first] = Array.isArray(credential['tags']) ? (credential['tags'] as unknown[]) : [];
  const [username, customId] = [textOf(consumer['username']), textOf(consumer['custom_id'])];
  const isEmail = username?.includes('@') === true;
  return present({
    account: isEmail ? username : (customId ?? username ?? textOf(consumer['id'])),
    nickname: textOf(first) ?? textOf(credential['id']),
    key: textOf(credential['key']),
    createdAt: credential['created_at'],
    expiresAt: endOf(credential),
  });
}

/** `ttl` is the lifetime in seconds. */
function endOf({ ttl, created_at: createdAt }: FileObject): string | undefined {
  const start = timeOf(createdAt);
  if (typeof ttl !== 'number' || ttl <= 0) return undefined;
  return start === undefined ? 'unknown' : new Date(start + ttl * 1_000).toISOString();
}
