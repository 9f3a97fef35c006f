/** An API key as a record of an import file states it. */
import { hash as hashOf } from 'node:crypto';
import { importedIdOf } from '../api-keys/stored-hash.ts';
import { canBegin, mayBeImported } from '../api-keys/key-format.ts';
import { reservedPrefix, validateScopes } from '../api-keys/scopes.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Principal } from '../../foundation/principal.ts';
import { lookupOf, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { DomainError } from '../../foundation/errors.ts';
import { emailOf } from './account-line.ts';
import { creationOf, instantOf, readFields, required, type Warn } from './fields.ts';
import { LineRejectedError, type FileObject } from './file-record.ts';
import type { ImportedKey } from './key-store.ts';
import { nicknameOf } from './nicknames.ts';

const fields = {
  account: 'text',
  nickname: 'cosmetic',
  hash: 'text',
  key: 'text',
  prefix: 'text',
  scopes: 'texts',
  disabled: 'flag',
  expiresAt: 'cosmetic',
  createdAt: 'cosmetic',
} as const;

export interface KeyLineOptions {
  readonly now: number;
  readonly keyHash: KeyedHash;
  /** Whether `key`, the key in clear text, is read. */
  readonly hasPlainKeys: boolean;
  /** The prefixes of Keyreeve's own keys. */
  readonly keyPrefixes: readonly string[];
  /** Ids of accounts here by their ids in the other system. */
  readonly accountIds: ReadonlyMap<string, string>;
}

/** @throws LineRejectedError */
export function readKey(principal: Principal, object: FileObject, options: KeyLineOptions, warn: Warn): ImportedKey {
  const { now, keyHash } = options;
  const given = readFields(object, fields);
  const { scopes = [], expiresAt: ends } = given;
  const account = ownerOf(required('account', given.account), options, warn);
  const stored = keyHash.storedOfDigest(digestFor(given, options));
  // Not cosmetic: a key without its expiry would have more rights than before.
  const expiresAt = ends === undefined ? null : instantOf('expiresAt', ends);
  if (expiresAt !== null && expiresAt <= now) throw new LineRejectedError('the key has expired');
  if (given.disabled === true) throw new LineRejectedError('the key is disabled');
  if (scopes.some((scope) => scope.startsWith(reservedPrefix)))
    throw new LineRejectedError(`scopes that begin with ${reservedPrefix} are not imported`);
  return {
    id: importedIdOf(keyHash, stored),
    account,
    nickname: nicknameOf(given.nickname, warn),
    storedHash: stored.toString('hex'),
    lookup: lookupOf(stored),
    scopes: accepted(() => validateScopes(principal, account, scopes)),
    expiresAt,
    createdAt: creationOf(given.createdAt, now, warn),
  };
}

/** @returns an id or a canonical email */
function ownerOf(text: string, { accountIds }: KeyLineOptions, warn: Warn): string {
  const id = accountIds.get(text);
  if (id !== undefined || !text.includes('@')) return id ?? text.trim();
  return (parseEmail(text) ?? emailOf(text, warn)).canonicalEmail;
}

interface Given {
  readonly hash: string | undefined;
  readonly key: string | undefined;
  readonly prefix: string | undefined;
}

/** @returns the SHA-256 of the key @throws LineRejectedError also for a key that no verification would accept */
function digestFor({ hash, key, prefix = '' }: Given, { hasPlainKeys, keyPrefixes }: KeyLineOptions): Buffer {
  if (key !== undefined && hash !== undefined) throw new LineRejectedError('it has both key and hash');
  if (key !== undefined) {
    if (!hasPlainKeys) throw new LineRejectedError('the key is in clear text; add --plain-keys to hash it here');
    if (!mayBeImported(key, keyPrefixes) || /[\s,\p{Cc}]/u.test(key))
      throw new LineRejectedError('no verification accepts a key of this form; replace it');
    return hashOf('sha256', key, 'buffer');
  }
  const digest = digestOf(required('hash', hash));
  if (!canBegin(prefix))
    throw new LineRejectedError(`no verification accepts a key that begins like this one; replace it`);
  if (digest.equals(hashOf('sha256', prefix, 'buffer')))
    throw new LineRejectedError(
      `hash is that of ${prefix === '' ? 'an empty text' : 'the prefix'}, not of the whole key`,
    );
  return digest;
}

/** @param text in hexadecimal, base64url or base64 @returns 32 bytes */
function digestOf(text: string): Buffer {
  const bare = text.trim();
  if (/^[0-9a-f]{64}$/i.test(bare)) return Buffer.from(bare, 'hex');
  const digest = /^[\w+/-]{43}=?$/.test(bare) ? Buffer.from(bare, 'base64') : Buffer.of();
  const isWhole = digest.toString('base64url') === bare.replace('=', '').replaceAll('+', '-').replaceAll('/', '_');
  if (digest.length !== 32 || !isWhole)
    throw new LineRejectedError('hash is not a SHA-256 in hexadecimal, base64url or base64');
  return digest;
}

function accepted<T>(accept: () => T): T {
  try {
    return accept();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new LineRejectedError(error.message);
  }
}
