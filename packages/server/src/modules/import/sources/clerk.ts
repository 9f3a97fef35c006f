/** Clerk: the CSV file of its dashboard, and the JSON of its API. */
import { flagOf, objectOf, objectsOf, present, textOf, type Convert } from './source.ts';

export const clerk: Convert = (user) => {
  const email = textOf(user['primary_email_address']) ?? primaryEmail(user);
  const verified = addressesIn(user['verified_email_addresses']);
  const unverified = addressesIn(user['unverified_email_addresses']);
  return [
    present({
      oldId: textOf(user['id']),
      // Without a primary one, which Clerk makes of a verified one.
      email: email ?? verified[0] ?? unverified[0],
      passwordHash: textOf(user['password_digest']),
      verified: isVerified(user) ?? (email === undefined ? verified.length > 0 : verified.includes(email)),
      disabled:
        flagOf('banned', user['banned']) === true || flagOf('locked', user['locked']) === true ? true : undefined,
      totpSecret: textOf(user['totp_secret']),
      createdAt: user['created_at'],
    }),
  ];
};

const addressesIn = (value: unknown): readonly string[] =>
  (textOf(value) ?? '').split(/[|,\s]+/).filter((address) => address !== '');

const primaryOf = (user: Parameters<Convert>[0]) =>
  objectsOf(user['email_addresses']).find(({ id }) => id === user['primary_email_address_id']);

const primaryEmail = (user: Parameters<Convert>[0]): string | undefined => textOf(primaryOf(user)?.['email_address']);

/** Of a user of the API. */
const isVerified = (user: Parameters<Convert>[0]): boolean | undefined =>
  'email_addresses' in user ? objectOf(primaryOf(user)?.['verification'])['status'] === 'verified' : undefined;
