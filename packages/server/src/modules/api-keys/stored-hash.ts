/** The stored hash of a key, whose first byte shows whether the key is disabled or restricted. */
import { restrictedVersion, storedVersion } from '../../foundation/crypto/keyed-hash.ts';

/** The restrictions of a key, which an earlier program does not evaluate. */
export interface Restrictions {
  readonly disabledAt: number | null;
  /** CIDR ranges, separated by spaces. */
  readonly addresses: string | null;
}

/** Programs that do not know the restrictions reject a restricted key, because they do not find its hash. */
export const markedHash = (hash: Uint8Array, { disabledAt, addresses }: Restrictions): Buffer =>
  withVersion(hash, disabledAt === null && addresses === null ? storedVersion : restrictedVersion);

/** SQL: {@link markedHash} of `key_hash` for a restricted key. */
export const restrictedHash = {
  sqlite: `cast(unhex('0${restrictedVersion}') || substr(key_hash, 2) as blob)`,
  postgres: `set_byte(key_hash, 0, ${restrictedVersion})`,
} as const;

/** SQL: whether `key_hash` is that of a restricted key. */
export const isRestrictedHash = {
  sqlite: `substr(key_hash, 1, 1) = unhex('0${restrictedVersion}')`,
  postgres: `get_byte(key_hash, 0) = ${restrictedVersion}`,
} as const;

/** The stored hash of a previous secret, which earlier programs do not read. */
export const unmarkedHash = (hash: Uint8Array): Buffer => withVersion(hash, storedVersion);

/** @returns whether two stored hashes are of the same secret, with or without restrictions */
export const isSameSecret = (one: Uint8Array, other: Uint8Array): boolean =>
  unmarkedHash(one).equals(unmarkedHash(other));

const withVersion = (hash: Uint8Array, version: number): Buffer =>
  Buffer.concat([Buffer.of(version), hash.subarray(1)]);
