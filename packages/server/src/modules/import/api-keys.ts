/** Imports API keys of another system by their SHA-256. */
import { importedIdOf } from '../api-keys/imported-id.ts';
import { validateNickname } from '../../foundation/nickname.ts';
import { validateScopes, reservedPrefix } from '../api-keys/scopes.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { Clock } from '../../foundation/clock.ts';
import { lookupOf, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { creationOf, instantOf, readFields, required } from './fields.ts';
import { LineRejectedError, SeenLines, type Importer, type Numbered, type Outcome } from './run-import.ts';
import * as store from './store.ts';

export interface KeyImportOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly keyHash: KeyedHash;
  readonly keysPerAccountMax: number;
  readonly isDryRun: boolean;
}

const fields = {
  account: 'text',
  nickname: 'text',
  hash: 'text',
  scopes: 'texts',
  expiresAt: 'text',
  createdAt: 'text',
} as const;

export function keyImporter(principal: Principal, options: KeyImportOptions): Importer<store.ImportedKey> {
  const { db, clock, isDryRun } = options;
  const hashes = new SeenLines('hash');
  const rules = new KeyRules(options.keysPerAccountMax, isDryRun);
  return {
    read(line, bytes) {
      const key = readKey(principal, bytes, options);
      hashes.add(key.storedHash, line);
      return key;
    },
    async write(items: readonly Numbered<store.ImportedKey>[]): Promise<readonly Outcome[]> {
      const keys = items.map(({ item }) => item);
      const evaluate = (context: store.BatchContext): readonly Outcome[] =>
        keys.map((key) => rules.evaluate(key, context));
      if (isDryRun) return evaluate(await store.findContext(db, keys));
      return store.importKeys(db, principal, keys, clock.now(), evaluate);
    },
  };
}

function readKey(principal: Principal, bytes: Uint8Array, { clock, keyHash }: KeyImportOptions): store.ImportedKey {
  const { account: owner, nickname, hash, scopes = [], expiresAt: ends, createdAt } = readFields(bytes, fields);
  const account = required('account', owner);
  const stored = keyHash.storedOfDigest(digestOf(required('hash', hash)));
  const now = clock.now();
  const expiresAt = ends === undefined ? null : instantOf('expiresAt', ends);
  if (expiresAt !== null && expiresAt <= now) throw new LineRejectedError('the key has expired');
  if (scopes.some((scope) => scope.startsWith(reservedPrefix)))
    throw new LineRejectedError(`scopes that begin with ${reservedPrefix} are not imported`);
  return {
    id: importedIdOf(keyHash, stored),
    account: parseEmail(account)?.canonicalEmail ?? account,
    nickname: accepted(() => validateNickname(required('nickname', nickname))),
    storedHash: stored.toString('hex'),
    lookup: lookupOf(stored),
    scopes: accepted(() => validateScopes(principal, account, scopes)),
    expiresAt,
    createdAt: creationOf(createdAt, now),
  };
}

/** @param text in hexadecimal, base64url or base64 @returns 32 bytes */
function digestOf(text: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const digest = /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : Buffer.of();
  const isWhole = digest.toString('base64url') === text.replace('=', '').replaceAll('+', '-').replaceAll('/', '_');
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

/** Decides which keys can be imported. In a dry run it also counts the keys that earlier lines would have added. */
class KeyRules {
  readonly #keysMax: number;
  readonly #isDryRun: boolean;
  readonly #nicknames = new Set<string>();
  readonly #counts = new Map<string, number>();

  constructor(keysMax: number, isDryRun: boolean) {
    this.#keysMax = keysMax;
    this.#isDryRun = isDryRun;
  }

  /** After the outcome `imported`, the key counts towards its account's limit. */
  evaluate(key: store.ImportedKey, context: store.BatchContext): Outcome {
    const owner = context.owners.get(key.account);
    if (!owner) return new LineRejectedError('there is no such account');
    const holder = context.holderOf(key);
    if (holder !== undefined)
      return holder === owner.pk ? 'existing' : new LineRejectedError('another account has a key with this hash');
    if (context.deletedIds.has(key.id))
      return new LineRejectedError('the key was deleted here; a deletion can’t be undone');
    if (context.hasLeaked(key)) return new LineRejectedError('the secret was reported as leaked; replace it');
    if (owner.unverifiedSince !== null) return new LineRejectedError('the account’s email is not verified');
    const nickname = `${owner.id} ${key.nickname}`;
    if (context.nicknames.has(nickname) || this.#nicknames.has(nickname))
      return new LineRejectedError('the account already has a key with this nickname');
    const added = this.#counts.get(owner.id) ?? 0;
    if (context.keyCountOf(owner.pk) + added >= this.#keysMax)
      return new LineRejectedError(`the account already has ${this.#keysMax} keys`);
    if (this.#isDryRun) {
      this.#nicknames.add(nickname);
      this.#counts.set(owner.id, added + 1);
    } else context.addKey(owner.pk, nickname);
    return 'imported';
  }
}
