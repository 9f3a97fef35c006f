/**
 * The changes of the audit log's key: a rotation of the root key changes it. For each chain, a record states the last event
 * under the earlier key. Its MAC covers that event's MAC under the newest key, so that a leaked earlier key cannot rewrite the
 * events before the change.
 */
import { timingSafeEqual } from 'node:crypto';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { AuditKey } from '../../foundation/database/db.ts';
import { chainNumbers, type Place } from './chain.ts';
import type { CutKey } from './cuts.ts';

/** The place is that of the last event under an earlier key. Position 0: the chain had no event. */
export interface KeyChange extends Place {
  /** The version of the root key whose key the following events have. */
  readonly version: number;
  /** Of the last event; null without one, and if its MAC was removed. */
  readonly mac: Uint8Array | null;
  /** In milliseconds. */
  readonly changedAt: number;
}

export interface StoredKeyChange extends KeyChange {
  readonly seal: Uint8Array;
}

export type ChainKeysOf = Pick<InstallationKeys, 'version' | 'auditChain' | 'auditCut'> & {
  readonly earlier: readonly Pick<InstallationKeys, 'version' | 'auditChain'>[];
};

const hexOf = (mac: Uint8Array | null): string | null => (mac === null ? null : Buffer.from(mac).toString('hex'));

/** The text begins with its purpose, so the seal of a cut cannot be used as one of a change. */
export const sealOfChange = (key: CutKey, { chain, version, position, mac, changedAt }: KeyChange): Uint8Array =>
  key.mac(JSON.stringify(['key change', chain, version, position, hexOf(mac), changedAt]));

export function isGenuineChange(key: CutKey, change: StoredKeyChange): boolean {
  const seal = sealOfChange(key, change);
  return change.seal.length === seal.length && timingSafeEqual(change.seal, seal);
}

/** The keys of all events. */
export class ChainKeys {
  /** Records that were edited. They have no effect. */
  readonly forged: readonly StoredKeyChange[];
  /** Each rotation makes a record for each of `chainNumbers`, so these were deleted. A later addition to them must be excluded. */
  readonly missing: readonly Pick<StoredKeyChange, 'chain' | 'version'>[];
  readonly #keys: ChainKeysOf;
  readonly #changes: ReadonlyMap<number, readonly StoredKeyChange[]>;

  constructor(keys: ChainKeysOf, stored: readonly StoredKeyChange[]) {
    const genuine = stored.filter((change) => isGenuineChange(keys.auditCut, change));
    this.forged = stored.filter((change) => !genuine.includes(change));
    const known = new Set(stored.map(({ chain, version }) => `${chain} ${version}`));
    this.missing = keys.earlier
      .flatMap(({ version }) => chainNumbers.map((chain) => ({ chain, version: version + 1 })))
      .filter(({ chain, version }) => !known.has(`${chain} ${version}`));
    this.#keys = keys;
    this.#changes = Map.groupBy(genuine, ({ chain }) => chain);
  }

  /** The chains with changes. */
  get chains(): Iterable<number> {
    return this.#changes.keys();
  }

  /** The changes in a chain, in the order of versions. */
  of(chain: number): readonly StoredKeyChange[] {
    return this.#changes.get(chain) ?? [];
  }

  /** Without a record of a change, the events have the key that follows the change. */
  keyAt(chain: number, position: number): AuditKey {
    const { auditChain, earlier } = this.#keys;
    const changes = this.of(chain);
    let key: AuditKey = auditChain;
    for (const { version, auditChain: before } of earlier.toReversed()) {
      const change = changes.find((candidate) => candidate.version === version + 1);
      if (!change || position > change.position) return key;
      key = before;
    }
    return key;
  }
}
