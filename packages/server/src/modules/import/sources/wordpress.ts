/** WordPress: `wp user list` with the fields that docs/import/wordpress.md names, or rows of `wp_users`. */
import { LineRejectedError } from '../file-record.ts';
import { flagOf, present, textOf, type Convert } from './source.ts';

export const wordpress: Convert = (user) => {
  const email = textOf(user['user_email']);
  if (email === undefined) throw new LineRejectedError('the user has no email address');
  // Of a network of sites.
  const isBlocked = [flagOf('spam', user['spam']), flagOf('deleted', user['deleted'])].includes(true);
  return [
    present({
      oldId: textOf(user['ID']),
      email,
      passwordHash: textOf(user['user_pass']),
      disabled: isBlocked ? true : undefined,
      createdAt: user['user_registered'],
    }),
  ];
};
