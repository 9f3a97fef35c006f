/** The stored hash of a key, whose first byte shows whether the key is disabled or restricted. */
import { restrictedVersion, storedVersion } from '../../foundation/crypto/keyed-hash.ts';

/** What an earlier program does not evaluate. */
export interface Restrictions {
  readonly disabledAt: number | null;
  /** CIDR ranges, separated by spaces. */
  readonly addresses: string | null;
}

/** Programs that do not know the restrictions reject the key: they do not find its hash. */
export const markedHash = (hash: Uint8Array, { disabledAt, addresses }: Restrictions): Buffer =>
  withVersion(hash, disabledAt === null && addresses === null ? storedVersion : restrictedVersion);

/** Of a previous secret, which earlier programs do not read. */
export const unmarkedHash = (hash: Uint8Array): Buffer => withVersion(hash, storedVersion);

const withVersion = (hash: Uint8Array, version: number): Buffer =>
  Buffer.concat([Buffer.of(version), hash.subarray(1)]);
