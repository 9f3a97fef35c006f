/**
 * The root key of an installation, from which all other keys derive (`master-key.ts`). The database stores it encrypted
 * ("wrapped") with a master key, so the master key can change while every stored hash and sealed value stays valid.
 *
 * A root key has a version. During a rotation of the master key, each version is wrapped by two master keys. Each master key
 * of an installation has a generation: a number that rises with each rotation.
 */
import { hkdfSync, randomBytes } from 'node:crypto';
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
  /** The newest version of the root key when this wrapping was made; null or absent for a wrapping of the newest. */
  readonly supersededBy?: number | null;
}

/** A wrapping for the master key exists, but does not open: it was changed, or copied from another place. */
export class DamagedRootKeyError extends Error {}

const derive = (masterKey: Uint8Array, purpose: string): Buffer => {
  if (masterKey.length !== masterKeyBytes) throw new RangeError(`the master key has ${masterKeyBytes} bytes`);
  // Other purposes than those of `deriveKeys`.
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), `keyreeve master key ${purpose} v1`, 32));
};

/** @returns 16 hexadecimal digits that identify the master key and disclose nothing about it */
export const masterKeyIdOf = (masterKey: Uint8Array): string => derive(masterKey, 'id').toString('hex', 0, 8);

type Place = Pick<WrappedRootKey, 'version' | 'generation' | 'masterKeyId' | 'supersededBy'>;

/**
 * Additional authenticated data: a wrapping cannot be used in another place. A thief of an earlier version cannot present its
 * wrapping as that of the newest one, such as in a forged backup.
 */
const placeOf = ({ version, generation, masterKeyId, supersededBy }: Place): string =>
  `root key ${version} generation ${generation} master key ${masterKeyId}${supersededBy ? ` superseded by ${supersededBy}` : ''}`;

export function wrapRootKey(
  masterKey: Uint8Array,
  rootKey: Uint8Array,
  { version, generation, createdAt, supersededBy = null }: Omit<WrappedRootKey, 'masterKeyId' | 'wrapped'>,
): WrappedRootKey {
  const place = { version, generation, masterKeyId: masterKeyIdOf(masterKey), supersededBy };
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

  /** @throws DamagedRootKeyError */
  private constructor(masterKey: Uint8Array, rows: readonly WrappedRootKey[], own: readonly WrappedRootKey[]) {
    const sealer = new Sealer(derive(masterKey, 'wrapping'));
    this.masterKeyId = masterKeyIdOf(masterKey);
    this.generation = Math.max(...own.map(({ generation }) => generation));
    this.rows = rows;
    this.keys = new Map(own.map((row) => [row.version, unwrap(sealer, row)]));
    const missing = rows.find(({ version }) => !this.keys.has(version));
    if (missing) throw new DamagedRootKeyError(`the master key lacks version ${missing.version} of the root key`);
    const newest = this.newestVersion;
    const alone = rows.find(({ version, supersededBy }) => (supersededBy ?? version) !== newest);
    if (alone) throw new DamagedRootKeyError(`version ${alone.supersededBy ?? newest} of the root key is missing`);
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

  /** Whether a rotation of the master key has not been finished: another master key opens the root keys too. */
  get isMasterKeyRotating(): boolean {
    return this.rows.some(({ masterKeyId }) => masterKeyId !== this.masterKeyId);
  }

  /** Wrappings of all versions for another master key. */
  wrapAll(masterKey: Uint8Array, place: Pick<WrappedRootKey, 'generation' | 'createdAt'>): WrappedRootKey[] {
    return [...this.keys].map(([version, key]) => {
      const supersededBy = version === this.newestVersion ? null : this.newestVersion;
      return wrapRootKey(masterKey, key, { ...place, version, supersededBy });
    });
  }

  /**
   * With a new, random version of the root key. It replaces all wrappings.
   * @param masterKey that has opened these root keys
   */
  rotate(masterKey: Uint8Array): RootKeys {
    const { generation, newestVersion } = this;
    const version = newestVersion + 1;
    const earlier = this.rows.map((row) => {
      const key = this.keys.get(row.version);
      if (!key) throw new DamagedRootKeyError(`version ${row.version} of the root key is missing`);
      return wrapRootKey(masterKey, key, { ...row, supersededBy: version });
    });
    // The master key stays the same, and so does its age.
    const createdAt = Math.min(...this.rows.map((row) => (row.generation === generation ? row.createdAt : Infinity)));
    const added = wrapRootKey(masterKey, randomBytes(rootKeyBytes), { version, generation, createdAt });
    const rows = [...earlier, added];
    return new RootKeys(masterKey, rows, rows);
  }

  get newestVersion(): number {
    return Math.max(...this.keys.keys());
  }

  get newest(): Buffer {
    const key = this.keys.get(this.newestVersion);
    if (!key) throw new DamagedRootKeyError('there is no root key');
    return key;
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
