/** API keys of another system, of which only the SHA-256 is known. */
import { acceptNickname } from '../api-keys/nickname.ts';
import { acceptScopes, reservedPrefix } from '../api-keys/scopes.ts';
import { parseEmail } from '../accounts/email.ts';
import type { Principal } from '../../foundation/principal.ts';
import type { Clock } from '../../foundation/clock.ts';
import { lookupOf, type KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../foundation/database/db.ts';
import { DomainError } from '../../foundation/errors.ts';
import { creationOf, instantOf, readFields, required } from './fields.ts';
import { LineRefused, type Importer, type Numbered, type Outcome } from './run-import.ts';
import * as store from './store.ts';
import { TextNumbers } from './text-numbers.ts';

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
  const lineOfKey = new TextNumbers();
  const taken = new Taken(options.keysPerAccountMax, isDryRun);
  return {
    read(line, bytes) {
      const key = readKey(principal, bytes, options);
      const before = lineOfKey.claim(key.storedHash, line);
      if (before !== undefined) throw new LineRefused(`line ${before} has the same hash`);
      return key;
    },
    async write(items: readonly Numbered<store.ImportedKey>[]): Promise<readonly Outcome[]> {
      const keys = items.map(({ item }) => item);
      const judge = (known: store.Known): readonly Outcome[] => keys.map((key) => taken.judge(key, known));
      if (isDryRun) return judge(await store.findKnown(db, keys));
      return store.importKeys(db, principal, keys, clock.now(), judge);
    },
  };
}

function readKey(principal: Principal, bytes: Uint8Array, { clock, keyHash }: KeyImportOptions): store.ImportedKey {
  const { account: owner, nickname, hash, scopes = [], expiresAt: ends, createdAt } = readFields(bytes, fields);
  const account = required('account', owner);
  const stored = keyHash.storedOfDigest(digestOf(required('hash', hash)));
  const now = clock.now();
  const expiresAt = ends === undefined ? null : instantOf('expiresAt', ends);
  if (expiresAt !== null && expiresAt <= now) throw new LineRefused('it has expired');
  if (scopes.some((scope) => scope.startsWith(reservedPrefix)))
    throw new LineRefused(`scopes that begin with ${reservedPrefix} are not imported`);
  return {
    id: idOf(keyHash, stored),
    account: parseEmail(account)?.key ?? account,
    nickname: accepted(() => acceptNickname(required('nickname', nickname))),
    storedHash: stored.toString('hex'),
    lookup: lookupOf(stored),
    scopes: accepted(() => acceptScopes(principal, scopes)),
    expiresAt,
    createdAt: creationOf(createdAt, now),
  };
}

/** In hexadecimal, base64url or base64. */
function digestOf(text: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  const digest = /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : Buffer.of();
  const isWhole = digest.toString('base64url') === text.replace('=', '').replaceAll('+', '-').replaceAll('/', '_');
  if (digest.length !== 32 || !isWhole)
    throw new LineRefused('its hash is not a SHA-256 in hexadecimal, base64url or base64');
  return digest;
}

/**
 * Of an imported key, always the same: by it the audit trail tells that it was deleted here, and it stays deleted. Nobody
 * can guess it without the installation's key; and no text that is presented as a key has a NUL.
 */
function idOf(keyHash: KeyedHash, stored: Buffer): number {
  const mac = keyHash.mac(Buffer.concat([Buffer.from('id of an imported key\0'), stored]));
  return Math.max(1, mac.readUIntBE(0, 6) * 32 + ((mac[6] ?? 0) >> 3));
}

function accepted<T>(accept: () => T): T {
  try {
    return accept();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new LineRefused(error.message);
  }
}

/** Nicknames and numbers of keys that earlier lines have taken; in a dry run nothing else tells. */
class Taken {
  readonly #keysMax: number;
  readonly #isDryRun: boolean;
  readonly #nicknames = new TextNumbers();
  readonly #counts = new TextNumbers();

  constructor(keysMax: number, isDryRun: boolean) {
    this.#keysMax = keysMax;
    this.#isDryRun = isDryRun;
  }

  /** An outcome `imported` is counted from then on. */
  judge(key: store.ImportedKey, known: store.Known): Outcome {
    const owner = known.owners.get(key.account);
    if (!owner) return new LineRefused('there is no such account');
    const holder = known.holderOf(key.lookup);
    if (holder !== undefined)
      return holder === owner.pk ? 'existing' : new LineRefused('another account has a key with this hash');
    if (known.deletedIds.has(key.id)) return new LineRefused('the key was deleted here; a deletion can’t be undone');
    if (owner.unverifiedSince !== null) return new LineRefused('the account’s email is not verified');
    const nickname = `${owner.id} ${key.nickname}`;
    if (known.nicknames.has(nickname) || (this.#isDryRun && this.#nicknames.get(nickname) !== undefined))
      return new LineRefused('the account has a key of this nickname already');
    const held = known.held(owner.pk) + ((this.#isDryRun && this.#counts.get(owner.id)) || 0);
    if (held >= this.#keysMax) return new LineRefused(`the account has ${this.#keysMax} keys already`);
    if (this.#isDryRun) {
      this.#nicknames.set(nickname, 1);
      this.#counts.set(owner.id, (this.#counts.get(owner.id) ?? 0) + 1);
    } else known.take(owner.pk, nickname);
    return 'imported';
  }
}
