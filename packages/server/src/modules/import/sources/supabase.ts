/** Supabase: rows of `auth.users`, as JSON or CSV. */
import { LineRejectedError } from '../file-record.ts';
import { timeOf } from '../times.ts';
import { flagOf, isInForceUntil, present, textOf, type Convert } from './source.ts';

/** @param now in milliseconds */
export const supabase =
  (now: number): Convert =>
  (user, warn) => {
    if (textOf(user['deleted_at']) !== undefined) {
      warn('the user is deleted, so it is left out');
      return [];
    }
    const email = textOf(user['email']);
    if (email === undefined) throw new LineRejectedError('the user has no email address');
    const text = user['encrypted_password'];
    const isAnonymous = flagOf('is_anonymous', user['is_anonymous']);
    if (isAnonymous === true) throw new LineRejectedError('the user is anonymous');
    // `confirmed_at` is also that of a phone number.
    const hasPhone = 'phone_confirmed_at' in user;
    const confirmedAt = 'email_confirmed_at' in user || hasPhone ? user['email_confirmed_at'] : user['confirmed_at'];
    return [
      present({
        oldId: textOf(user['id']),
        email,
        // Empty for a user without a password.
        passwordHash: typeof text === 'string' ? text : undefined,
        verified: timeOf(confirmedAt) !== undefined,
        disabled: isInForceUntil(user['banned_until'], now),
        createdAt: user['created_at'],
        totpSecret: textOf(user['totp_secret']),
      }),
    ];
  };
