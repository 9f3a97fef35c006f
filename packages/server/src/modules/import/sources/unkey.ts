/** Unkey: keys of its API or rows of its table `keys`, with their hashes. */
import { flagOf, objectOf, present, textOf, type Convert } from './source.ts';

export const unkey: Convert = (key, warn) => {
  const isEnabled = flagOf('enabled', key['enabled']);
  const remaining = key['remaining'] ?? key['remaining_requests'] ?? objectOf(key['credits'])['remaining'];
  if (textOf(remaining) !== undefined) warn('the number of remaining uses of the key is not imported');
  if (textOf(key['deleted_at_m'] ?? key['deletedAt']) !== undefined) {
    warn('the key is deleted, so it is left out');
    return [];
  }
  const identity = objectOf(key['identity']);
  return [
    present({
      account:
        textOf(key['email']) ??
        textOf(key['externalId'] ?? identity['externalId'] ?? key['ownerId'] ?? key['owner_id'] ?? key['external_id']),
      nickname: key['name'] ?? key['keyId'] ?? key['id'],
      hash: hashOf(key['hash']),
      prefix: textOf(key['start']),
      disabled: isEnabled === undefined ? undefined : !isEnabled,
      expiresAt: key['expires'],
      createdAt: key['createdAt'] ?? key['created_at_m'] ?? key['created_at'],
    }),
  ];
};

/** A text, or an object as Unkey itself imports it. */
const hashOf = (hash: unknown): string | undefined => textOf(hash) ?? textOf(objectOf(hash)['value']);
