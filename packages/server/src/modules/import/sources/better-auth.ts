/** better-auth: rows of `user` with the password of `account`, and rows of `apikey`. */
import type { FileObject } from '../file-record.ts';
import { flagOf, isInForceUntil, objectsOf, present, textOf, type Convert } from './source.ts';

/** @param now in milliseconds */
export const betterAuthUsers =
  (now: number): Convert =>
  (user) => {
    const isBanned = flagOf('banned', user['banned']);
    const end = user['banExpires'] ?? user['ban_expires'];
    return [
      present({
        oldId: textOf(user['id']),
        email: textOf(user['email']),
        passwordHash: textOf(user['password']) ?? passwordOf(user),
        verified: flagOf('emailVerified', user['emailVerified'] ?? user['email_verified']),
        // A ban without an end is in force.
        disabled: isBanned === true && textOf(end) !== undefined ? isInForceUntil(end, now) : isBanned,
        createdAt: user['createdAt'] ?? user['created_at'],
      }),
    ];
  };

/** Of a user with its accounts, as the library's own adapters return it. */
const passwordOf = (user: FileObject): string | undefined =>
  objectsOf(user['accounts'])
    .filter(({ providerId }) => providerId === 'credential')
    .map(({ password }) => textOf(password))
    .find((password) => password !== undefined);

export const betterAuthKeys: Convert = (key, warn) => {
  const isEnabled = flagOf('enabled', key['enabled']);
  if (textOf(key['remaining']) !== undefined) warn('the number of remaining uses of the key is not imported');
  return [
    present({
      account:
        textOf(key['email']) ?? textOf(key['referenceId'] ?? key['reference_id'] ?? key['userId'] ?? key['user_id']),
      nickname: key['name'] ?? key['id'],
      hash: textOf(key['key']),
      prefix: textOf(key['start']),
      disabled: isEnabled === undefined ? undefined : !isEnabled,
      expiresAt: key['expiresAt'] ?? key['expires_at'],
      createdAt: key['createdAt'] ?? key['created_at'],
    }),
  ];
};
