/** Django: `manage.py dumpdata auth.user`, or of another user model. Objects of other models are left out. */
import { LineRejectedError } from '../file-record.ts';
import { flagOf, objectOf, present, textOf, type Convert } from './source.ts';

export const django: Convert = (object, warn) => {
  const fields = objectOf(object['fields']);
  if (object['fields'] !== undefined && !('password' in fields)) return [];
  const user = object['fields'] === undefined ? object : fields;
  const name = textOf(user['username']);
  const stated = textOf(user['email']);
  const email = stated ?? (name?.includes('@') === true ? name : undefined);
  if (email === undefined) throw new LineRejectedError('the user has no email address');
  // Anyone can choose the email address of another person as a user name.
  const isName = stated === undefined;
  if (isName) warn('the user name is the email address of a user without one; it counts as unverified');
  const isActive = flagOf('is_active', user['is_active']);
  return [
    present({
      oldId: textOf(object['pk'] ?? user['id']),
      email,
      passwordHash: typeof user['password'] === 'string' ? user['password'] : undefined,
      verified: isName ? false : undefined,
      disabled: isActive === undefined ? undefined : !isActive,
      createdAt: user['date_joined'],
    }),
  ];
};
