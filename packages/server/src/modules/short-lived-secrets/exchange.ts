/**
 * Exchanges assertions for short-lived secrets of public-key keys (RFC 7523). A rejected assertion writes nothing: it costs
 * a shared read and two verifications of signatures.
 */
import { limits } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { expiryTime } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { AddressRanges } from '../api-keys/addresses.ts';
import { countExchangeTx } from '../rate-limits/exchange-limits.ts';
import { isFor, isTimely, parseAssertion, signerOf, type Assertion } from './assertion.ts';
import type { Environments } from '../api-keys/environments.ts';
import { ExchangeRejected } from './exchange-results.ts';
import { findAssertionStates, type AssertionState } from './exchange-store.ts';
import {
  currentOf,
  endOf,
  mayPrecedeRestore,
  newSecret,
  previousOf,
  reasonAgainst,
  secondsUntil,
  type IssuedSecret,
  type Prover,
} from './issuing.ts';
import { insertShortLivedTx } from './store.ts';

export interface ExchangeOptions extends Core {
  /** Of API keys. */
  readonly hash: KeyedHash;
  readonly environments: Pick<Environments, 'first'>;
  /** Undefined if exchanges are not limited. */
  readonly bucketHash: KeyedHash | undefined;
  /** The public URL. */
  readonly audience: string;
}

export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #reader: CoalescingReader<Assertion, AssertionState>;
  readonly #ranges = new AddressRanges();

  constructor(options: ExchangeOptions) {
    const { db, environments } = options;
    this.#options = options;
    this.#reader = new CoalescingReader(
      (assertions) =>
        findAssertionStates(
          db,
          assertions.map(({ keyId, id }) => [keyId, id]),
          environments.first !== undefined,
        ),
      db.sharedReads,
    );
  }

  /** @throws DomainError `invalid_grant`, the same for each cause; `too_many_exchanges`, `unavailable` */
  async exchange(text: string, clientIp: string): Promise<IssuedSecret> {
    const assertion = parseAssertion(text);
    if (!assertion) throw new ExchangeRejected('assertion', 'format');
    const { keyId } = assertion;
    if (!isFor(assertion, this.#options.audience)) throw new ExchangeRejected('assertion', 'audience', keyId);
    const state = await this.#reader.read(assertion);
    const now = expiryTime(this.#options.clock, state?.readAt ?? null);
    const prover = proverOf(assertion, state);
    if (!state) throw new ExchangeRejected('assertion', 'key_unknown', keyId);
    if (!prover) throw new ExchangeRejected('assertion', 'signature', keyId);
    const end = endOf(state, prover, now);
    const reason = isTimely(assertion, now) ? reasonAgainst(state, { end, now, clientIp }, this.#ranges) : 'time';
    if (reason || state.isUsed === 1) throw new ExchangeRejected('assertion', reason ?? 'used', keyId);
    if (mayPrecedeRestore(state, assertion.issuedAt, limits.assertionSkewSeconds))
      throw new ExchangeRejected('assertion', 'restored', keyId);
    return this.#issue(assertion, prover, now, end);
  }

  /** The row decides which of several rivals uses the assertion. */
  async #issue(
    { keyId, id: assertionId }: Assertion,
    { lookup: issuedBy }: Prover,
    now: number,
    expiresAt: number,
  ): Promise<IssuedSecret> {
    const { db, hash, bucketHash } = this.#options;
    const { secret, stored } = newSecret(hash);
    const row = { hash: stored, keyId, issuedBy, assertionId, now, expiresAt };
    await db.transaction(async (tx) => {
      const [isInserted] = await allInOrder([
        insertShortLivedTx(tx, row),
        bucketHash && countExchangeTx(tx, bucketHash, keyId, now),
      ]);
      // Rolls the count back. A rival has used the assertion, or the key has changed since the read.
      if (!isInserted) throw new ExchangeRejected('assertion', 'used_or_changed', keyId);
    });
    return { secret, expiresInSeconds: secondsUntil(expiresAt, now) };
  }
}

/** The public key that signed the assertion. */
function proverOf(assertion: Assertion, state: AssertionState | undefined): Prover | undefined {
  const publicKeys = { current: state?.publicKey ?? null, previous: state?.previousPublicKey ?? null };
  const signer = signerOf(assertion, publicKeys);
  if (!state || !signer) return undefined;
  return signer === 'current' ? currentOf(state) : previousOf(state);
}
