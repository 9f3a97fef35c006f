/** An account as a record of an import file states it. */
import type { ImportedAccount } from '../accounts/import-store.ts';
import { parseEmail, type Email } from '../accounts/email.ts';
import { importedTotpSecret } from '../second-factors/totp.ts';
import { creationOf, readFields, required, type Warn } from './fields.ts';
import { LineRejectedError, type FileObject } from './file-record.ts';
import type { PasswordHashes } from './password-hashes.ts';

const fields = {
  email: 'text',
  passwordHash: 'text',
  verified: 'flag',
  disabled: 'flag',
  createdAt: 'cosmetic',
  oldId: 'text',
  totpSecret: 'text',
} as const;

const oldIdCharsMax = 255;

/** The id is created when the account is written. */
export interface AccountLine extends Omit<ImportedAccount, 'id' | 'importRecord'> {
  /** Id in the other system. */
  readonly oldId: string | undefined;
  /** Of an authenticator app, in base32. */
  readonly totpSecret: string | undefined;
  /** The text of a fast hash that must be wrapped before it is written. */
  readonly unwrappedHash: string | undefined;
  /** What the record states; undefined for what it does not state. */
  readonly stated: {
    /** The hash of the password. Empty if the record states that there is none. */
    readonly hash: string | undefined;
    readonly disabled: boolean | undefined;
    readonly verified: boolean | undefined;
  };
}

export interface AccountLineOptions {
  readonly hashes: PasswordHashes;
  readonly now: number;
  /** Whether an email address counts as verified if the record does not state it. */
  readonly isVerifiedByDefault: boolean;
}

/** @throws LineRejectedError */
export function readAccount(
  object: FileObject,
  { hashes, now, isVerifiedByDefault }: AccountLineOptions,
  warn: Warn,
): AccountLine {
  const { email: text, passwordHash, verified, disabled, createdAt, oldId, totpSecret } = readFields(object, fields);
  const email = emailOf(required('email', text), warn);
  if (oldId !== undefined && oldId.length > oldIdCharsMax)
    throw new LineRejectedError(`oldId has more than ${oldIdCharsMax} characters`);
  const hash = passwordHash === undefined ? undefined : usableHash(passwordHash, warn);
  const accepted = hash === undefined || hash === '' ? { stored: '' } : hashes.accept(hash);
  return {
    ...email,
    // Without a hash, the account has no password until a password reset.
    passwordHash: accepted.stored,
    unwrappedHash: accepted.unwrapped,
    createdAt: creationOf(createdAt, now, warn),
    disabledAt: disabled === true ? now : null,
    unverifiedSince: (verified ?? isVerifiedByDefault) ? null : now,
    oldId,
    totpSecret: totpSecret === undefined ? undefined : totpOf(totpSecret),
    stated: { hash, disabled, verified },
  };
}

/** Such as the zero-width space and the byte order mark, which copying and exports add. */
const invisible = /\p{Cf}/gu;

/** @throws LineRejectedError */
export function emailOf(text: string, warn: Warn): Email {
  const email = parseEmail(text);
  if (email) return email;
  const bare = text
    .replaceAll(invisible, '')
    .trim()
    .replace(/^mailto:/i, '')
    .replace(/\.$/, '');
  const cleaned = parseEmail(bare);
  if (!cleaned) throw new LineRejectedError('email is not an email address');
  warn('white space, “mailto:” or a dot at the end of the email address is removed');
  return cleaned;
}

/**
 * Texts that systems store instead of a hash for an account that has no password: Django's `!` and a random text, `*` and `x` of
 * `/etc/shadow` and its relatives, `NULL` of database exports.
 */
const noPassword = /^(?:|!.*|\*(?:LK|NP|[01])?\*?|x|null|none|\\N|-)$/is;

/** @returns empty if the text means that the account has no password */
function usableHash(text: string, warn: Warn): string {
  const bare = text.trim();
  if (noPassword.test(bare)) {
    warn('the password hash is empty or means that there is no password, so the account has none until a reset');
    return '';
  }
  if (bare !== text) warn('white space around the password hash is removed');
  return bare;
}

/** Not cosmetic: without it, the password alone would be sufficient. */
function totpOf(text: string): string {
  const secret = importedTotpSecret(text);
  if (secret === undefined)
    throw new LineRejectedError('totpSecret is not one in base32, for TOTP with SHA-1, 6 digits and 30 seconds');
  return secret;
}
