/** The stored hash of a key, whose first byte shows whether the key is disabled or restricted. */
import { randomBytes } from 'node:crypto';
import { digestBytes, restrictedVersion, storedVersion } from '../../foundation/crypto/keyed-hash.ts';
import type { Dialect } from '../../foundation/database/sql.ts';

/** The restrictions of a key, which an earlier program does not evaluate. */
export interface Restrictions {
  readonly disabledAt: number | null;
  /** CIDR ranges, separated by spaces. */
  readonly addresses: string | null;
  /** The name of a further environment; null for the first one. */
  readonly environment: string | null;
}

/** Programs that do not know the restrictions reject a restricted key, because they do not find its hash. */
export const markedHash = (hash: Uint8Array, { disabledAt, addresses, environment }: Restrictions): Buffer => {
  const isRestricted = disabledAt !== null || addresses !== null || environment !== null;
  return withVersion(hash, isRestricted ? restrictedVersion : storedVersion);
};

/** SQL: {@link markedHash} of `key_hash` for a restricted key. */
export const restrictedHash = {
  sqlite: `cast(unhex('0${restrictedVersion}') || substr(key_hash, 2) as blob)`,
  postgres: `set_byte(key_hash, 0, ${restrictedVersion})`,
} as const;

const marked = Buffer.of(restrictedVersion).toString('hex');
const markOf = { sqlite: `x'${marked}'`, postgres: `'\\x${marked}'` } as const;

/**
 * SQL: the hash says that the key is restricted, but the row has no restriction, because an earlier program wrote it.
 * The index `api_keys_unrestricted` has the same condition.
 */
export const isUnrestricted = (dialect: Dialect, alias = ''): string =>
  `${alias}disabled_at is null and ${alias}addresses is null and ${alias}environment is null and ${alias}key_hash >= ${markOf[dialect]}`;

/** SQL: when a key `k` was disabled. A key without its restrictions counts as disabled. */
export const disabledAtColumn = (dialect: Dialect): string =>
  `case when ${isUnrestricted(dialect, 'k.')} then k.updated_at else k.disabled_at end as "disabledAt"`;

/** The same with the reason: the key may have been disabled by an administrator, so its owner cannot enable it. */
export const disabledColumns = (dialect: Dialect): string => `${disabledAtColumn(dialect)},
     case when ${isUnrestricted(dialect, 'k.')} then 'administrator' else k.disabled_reason end as "disabledReason"`;

/** The stored hash of a previous secret, which earlier programs do not read. */
export const unmarkedHash = (hash: Uint8Array): Buffer => withVersion(hash, storedVersion);

/** The stored hash of a public key: it belongs to no text, so no credential has it. */
export const randomHash = (): Buffer => Buffer.concat([Buffer.of(storedVersion), randomBytes(digestBytes)]);

const withVersion = (hash: Uint8Array, version: number): Buffer =>
  Buffer.concat([Buffer.of(version), hash.subarray(1)]);
