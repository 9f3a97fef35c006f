/**
 * Auth0: the users export (`POST /api/v2/jobs/users-exports`), and the export of password hashes that Auth0's support makes. Both
 * are JSON Lines.
 */
import { flagOf, objectOf, objectsOf, present, textOf, type Convert } from './source.ts';

export const auth0: Convert = (user, warn) => {
  const id = textOf(objectOf(user['_id'])['$oid']);
  const secrets = objectsOf(user['mfa_factors']).map((factor) => textOf(objectOf(factor['totp'])['secret']));
  if (secrets.includes(undefined))
    warn('the user has second factors other than an authenticator app; they are not imported');
  return [
    present({
      // The export of hashes has the id without the name of the connection's kind.
      oldId: textOf(user['user_id']) ?? (id === undefined ? undefined : `auth0|${id}`),
      email: textOf(user['email']),
      passwordHash: textOf(user['passwordHash']) ?? textOf(customHash(user)),
      verified: flagOf('email_verified', user['email_verified']),
      disabled: flagOf('blocked', user['blocked']),
      createdAt: user['created_at'],
      totpSecret: secrets.find((secret) => secret !== undefined),
    }),
  ];
};

/** In the form in which Auth0 itself imports users. */
const customHash = (user: Parameters<Convert>[0]): unknown =>
  objectOf(objectOf(user['custom_password_hash'])['hash'])['value'];
