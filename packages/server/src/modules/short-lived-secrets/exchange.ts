/**
 * Exchanges assertions for short-lived secrets of public-key keys (RFC 7523). A rejected assertion writes nothing: it costs
 * a shared read and two verifications of signatures.
 */
import { limits, shortLivedSecretPrefix } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { expiryTime } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import type { Secret } from '../../foundation/crypto/secret.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import { DomainError } from '../../foundation/errors.ts';
import { AddressRanges } from '../api-keys/addresses.ts';
import { makeKey } from '../api-keys/key-format.ts';
import { countExchangeTx } from '../rate-limits/exchange-limits.ts';
import { isFor, isTimely, parseAssertion, signerOf, type Assertion } from './assertion.ts';
import type { Environments } from '../api-keys/environments.ts';
import { findExchangeStates, type ExchangeState } from './exchange-store.ts';
import { insertShortLivedTx } from './store.ts';

/** Why an assertion was rejected: for the log of the operator. The response is the same for each reason. */
export type RejectionReason =
  | 'format'
  | 'audience'
  | 'key_unknown'
  | 'signature'
  | 'time'
  | 'disabled'
  | 'expired'
  | 'address'
  | 'used'
  | 'used_or_changed';

export interface Rejection {
  readonly reason: RejectionReason;
  /** As the assertion names it. */
  readonly keyId?: number;
}

export interface ExchangeOptions extends Core {
  /** Of API keys. */
  readonly hash: KeyedHash;
  readonly environments: Pick<Environments, 'first'>;
  /** Undefined if exchanges are not limited. */
  readonly bucketHash: KeyedHash | undefined;
  /** The public URL. */
  readonly audience: string;
  readonly onRejected?: (rejection: Rejection) => void;
}

export interface IssuedSecret {
  readonly secret: Secret;
  readonly expiresInSeconds: number;
}

/** A public key that verified the assertion. */
interface Issuer {
  readonly lookup: number;
  /** The end of its overlap; null for the current one. */
  readonly endsAt: number | null;
}

export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #reader: CoalescingReader<Assertion, ExchangeState>;
  readonly #ranges = new AddressRanges();

  constructor(options: ExchangeOptions) {
    const { db, environments } = options;
    this.#options = options;
    this.#reader = new CoalescingReader(
      (assertions) =>
        findExchangeStates(
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
    if (!assertion) throw this.#reject('format');
    const { keyId } = assertion;
    if (!isFor(assertion, this.#options.audience)) throw this.#reject('audience', keyId);
    const state = await this.#reader.read(assertion);
    const now = expiryTime(this.#options.clock, state?.readAt ?? null);
    const issuer = issuerOf(assertion, state);
    if (!state) throw this.#reject('key_unknown', keyId);
    if (!issuer) throw this.#reject('signature', keyId);
    const reason = isTimely(assertion, now) ? this.#reasonAgainst(state, issuer, clientIp, now) : 'time';
    if (reason) throw this.#reject(reason, keyId);
    return this.#issue(assertion, state, issuer, now);
  }

  #reasonAgainst(state: ExchangeState, issuer: Issuer, clientIp: string, now: number): RejectionReason | undefined {
    if (state.accountDisabledAt !== null || state.disabledAt !== null) return 'disabled';
    if (secondsUntil(endOf(state, issuer, now), now) < 1) return 'expired';
    if (state.addresses !== null && !this.#ranges.contain(state.addresses, clientIp)) return 'address';
    return state.isUsed === 1 ? 'used' : undefined;
  }

  /** The row decides which of several rivals uses the assertion. */
  async #issue(assertion: Assertion, state: ExchangeState, issuer: Issuer, now: number): Promise<IssuedSecret> {
    const { db, hash, bucketHash } = this.#options;
    const { keyId, id: assertionId } = assertion;
    const secret = makeKey(shortLivedSecretPrefix);
    const expiresAt = endOf(state, issuer, now);
    const stored = hash.stored(secret.reveal());
    const row = { hash: stored, keyId, issuedBy: issuer.lookup, assertionId, now, expiresAt };
    await db.transaction(async (tx) => {
      const [isInserted] = await allInOrder([
        insertShortLivedTx(tx, row),
        bucketHash && countExchangeTx(tx, bucketHash, keyId, now),
      ]);
      // Rolls the count back. A rival has used the assertion, or the key has changed since the read.
      if (!isInserted) throw this.#reject('used_or_changed', keyId);
    });
    return { secret, expiresInSeconds: secondsUntil(expiresAt, now) };
  }

  #reject(reason: RejectionReason, keyId?: number): DomainError {
    this.#options.onRejected?.(keyId === undefined ? { reason } : { reason, keyId });
    return new DomainError('invalid_grant');
  }
}

function issuerOf(assertion: Assertion, state: ExchangeState | undefined): Issuer | undefined {
  const publicKeys = { current: state?.publicKey ?? null, previous: state?.previousPublicKey ?? null };
  const signer = signerOf(assertion, publicKeys);
  if (!state || !signer) return undefined;
  const { lookup, previousLookup, previousEndsAt } = state;
  if (signer === 'current') return { lookup, endsAt: null };
  return previousLookup === null ? undefined : { lookup: previousLookup, endsAt: previousEndsAt };
}

/** When a secret that is issued now ends: a short-lived secret does not outlive its key or its public key. */
const endOf = ({ expiresAt }: ExchangeState, { endsAt }: Issuer, now: number): number =>
  Math.min(now + limits.shortLivedSecretSeconds * 1_000, expiresAt ?? Infinity, endsAt ?? Infinity);

const secondsUntil = (end: number, now: number): number => Math.floor((end - now) / 1_000);
