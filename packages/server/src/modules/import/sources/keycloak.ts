/** Keycloak: the files of `kc.sh export`, and of the partial export: an object with `users`. */
import { totpSecretOf } from '../../second-factors/totp.ts';
import { LineRejectedError, type FileObject } from '../file-record.ts';
import { flagOf, objectOf, objectsOf, present, textOf, type Convert } from './source.ts';

export const keycloak: Convert = (user, warn) => {
  if (textOf(user['serviceAccountClientId']) !== undefined) {
    warn('the user is the service account of a client, so it is left out');
    return [];
  }
  const name = textOf(user['username']);
  const email = textOf(user['email']) ?? (name?.includes('@') === true ? name : undefined);
  if (email === undefined) throw new LineRejectedError('the user has no email address');
  const credentials = objectsOf(user['credentials']);
  const others = credentials.filter(({ type }) => type !== 'password' && type !== 'otp');
  if (others.length > 0)
    warn('the user has credentials other than a password and an authenticator app; they are not imported');
  const isEnabled = flagOf('enabled', user['enabled']);
  return [
    present({
      oldId: textOf(user['id']),
      email,
      passwordHash: passwordOf(credentials.find(({ type }) => type === 'password')),
      verified: flagOf('emailVerified', user['emailVerified']),
      disabled: isEnabled === undefined ? undefined : !isEnabled,
      createdAt: user['createdTimestamp'],
      totpSecret: totpOf(credentials.find(({ type }) => type === 'otp')),
    }),
  ];
};

/** The credential's own JSON. */
function passwordOf(credential: FileObject | undefined): string | undefined {
  if (!credential) return undefined;
  const { secretData, credentialData } = credential;
  // Before version 8, the credential has the members itself.
  if (credentialData !== undefined) return JSON.stringify({ secretData, credentialData });
  const { hashedSaltedValue, salt, hashIterations, algorithm } = credential;
  return JSON.stringify({ hashedSaltedValue, salt, hashIterations, algorithm });
}

/** A TOTP secret in base32. */
function totpOf(credential: FileObject | undefined): string | undefined {
  if (!credential) return undefined;
  const [{ value }, data] = [jsonOf(credential['secretData']), jsonOf(credential['credentialData'])];
  const { subType, digits, period, algorithm, secretEncoding } = data;
  const secret = textOf(value);
  if (secret === undefined || subType !== 'totp' || digits !== 6 || period !== 30 || algorithm !== 'HmacSHA1')
    throw new LineRejectedError('the authenticator app does not use TOTP with SHA-1, 6 digits and 30 seconds');
  // The key is the text itself unless it says otherwise.
  return secretEncoding === 'BASE32' ? secret : totpSecretOf(Buffer.from(secret));
}

function jsonOf(text: unknown): FileObject {
  try {
    return objectOf(typeof text === 'string' ? JSON.parse(text) : text);
  } catch {
    return {};
  }
}
