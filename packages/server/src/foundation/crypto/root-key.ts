/**
 * The root key of an installation, from which all other keys derive (`master-key.ts`). The database stores it encrypted
 * ("wrapped") with a master key, so the master key can change while every stored hash and sealed value stays valid.
 *
 * A root key has a version. During a rotation of the master key, each version is wrapped by two master keys. Each master key
 * of an installation has a generation: a number that rises with each rotation.
 */
import { hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { masterKeyBytes, rootKeyBytes } from './master-key.ts';
import { Sealer } from './seal.ts';

export interface WrappedRootKey {
  /** Version of the root key, from 1. */
  readonly version: number;
  /** Generation of the master key, from 1. */
  readonly generation: number;
  /** Identifies the master key. Not secret. */
  readonly masterKeyId: string;
  readonly wrapped: Uint8Array;
  /** When the master key was created or added, in milliseconds since 1970. */
  readonly createdAt: number;
}

/** A wrapping for the master key exists, but does not open: it was changed, or copied from another place. */
export class DamagedRootKeyError extends Error {}

const derive = (masterKey: Uint8Array, purpose: string): Buffer => {
  if (masterKey.length !== masterKeyBytes) throw new RangeError(`the master key has ${masterKeyBytes} bytes`);
  // Other purposes than those of `deriveKeys`: the root key of an earlier installation is its master key.
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `keyreeve master key ${purpose} v1`, 32));
};

/** @returns 16 hexadecimal digits that identify the master key and disclose nothing about it */
export const masterKeyIdOf = (masterKey: Uint8Array): string => derive(masterKey, 'id').toString('hex', 0, 8);

type Place = Pick<WrappedRootKey, 'version' | 'generation' | 'masterKeyId'>;

/** Additional authenticated data: a wrapping cannot be used in another place. */
const placeOf = ({ version, generation, masterKeyId }: Place): string =>
  `root key ${version} generation ${generation} master key ${masterKeyId}`;

export function wrapRootKey(
  masterKey: Uint8Array,
  rootKey: Uint8Array,
  { version, generation, createdAt }: Pick<WrappedRootKey, 'version' | 'generation' | 'createdAt'>,
): WrappedRootKey {
  const place = { version, generation, masterKeyId: masterKeyIdOf(masterKey) };
  const text = Buffer.from(rootKey).toString('base64url');
  return { ...place, wrapped: new Sealer(derive(masterKey, 'wrapping')).seal(placeOf(place), text), createdAt };
}

/** The root keys of an installation, opened with one of its master keys. */
export class RootKeys {
  readonly masterKeyId: string;
  /** Of the master key that opened them. */
  readonly generation: number;
  /** All wrappings, also those of another master key. */
  readonly rows: readonly WrappedRootKey[];
  /** By version. */
  readonly keys: ReadonlyMap<number, Buffer>;
  readonly #isMasterKey: boolean;

  /** @throws DamagedRootKeyError */
  private constructor(masterKey: Uint8Array, rows: readonly WrappedRootKey[], own: readonly WrappedRootKey[]) {
    const sealer = new Sealer(derive(masterKey, 'wrapping'));
    this.masterKeyId = masterKeyIdOf(masterKey);
    this.generation = Math.max(...own.map(({ generation }) => generation));
    this.rows = rows;
    this.keys = new Map(own.map((row) => [row.version, unwrap(sealer, row)]));
    const missing = rows.find(({ version }) => !this.keys.has(version));
    if (missing) throw new DamagedRootKeyError(`the master key lacks version ${missing.version} of the root key`);
    this.#isMasterKey = timingSafeEqual(this.newest, masterKey);
  }

  /** @returns undefined if no wrapping is for the master key @throws DamagedRootKeyError */
  static open(masterKey: Uint8Array, rows: readonly WrappedRootKey[]): RootKeys | undefined {
    const id = masterKeyIdOf(masterKey);
    const own = rows.filter(({ masterKeyId }) => masterKeyId === id);
    return own.length === 0 ? undefined : new RootKeys(masterKey, rows, own);
  }

  /** Of a new installation: a random root key. */
  static create(masterKey: Uint8Array, createdAt: number): RootKeys {
    const row = wrapRootKey(masterKey, randomBytes(rootKeyBytes), { version: 1, generation: 1, createdAt });
    return new RootKeys(masterKey, [row], [row]);
  }

  /** Of an installation by an earlier program, whose keys derive from the master key itself. */
  static ofEarlier(masterKey: Uint8Array, createdAt: number): RootKeys {
    const row = wrapRootKey(masterKey, masterKey, { version: 1, generation: 1, createdAt });
    return new RootKeys(masterKey, [row], [row]);
  }

  get newestVersion(): number {
    return Math.max(...this.keys.keys());
  }

  get newest(): Buffer {
    const key = this.keys.get(this.newestVersion);
    if (!key) throw new DamagedRootKeyError('there is no root key');
    return key;
  }

  /** Whether an earlier program, which derives its keys from the master key, gets the same keys. */
  get areThoseOfEarlier(): boolean {
    return this.#isMasterKey && this.rows.length === 1;
  }
}

function unwrap(sealer: Sealer, row: WrappedRootKey): Buffer {
  let key: Buffer;
  try {
    key = Buffer.from(sealer.open(placeOf(row), row.wrapped), 'base64url');
  } catch (error) {
    throw new DamagedRootKeyError(`version ${row.version} of the root key is damaged or was edited`, { cause: error });
  }
  if (key.length !== rootKeyBytes) throw new DamagedRootKeyError(`version ${row.version} of the root key is damaged`);
  return key;
}
