/**
 * Issues short-lived secrets for the id and the secret of an API key (RFC 6749 section 4.4), so that a client of any OAuth library
 * works. The verification of API keys decides whether the key is valid, so there is one way to accept a key. A rejected client
 * writes nothing, and costs what the verification of its secret costs.
 */
import { limits, type Refusal } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import type { Core } from '../../foundation/core.ts';
import { expiryTime } from '../../foundation/clock.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { numberIdOf } from '../../foundation/number-id.ts';
import { hasShortLivedShape } from '../api-keys/key-format.ts';
import { hasReservedScope, splitScopes } from '../api-keys/scopes.ts';
import type { KeyState } from '../api-keys/state-store.ts';
import { countClientExchangeTx } from '../rate-limits/exchange-limits.ts';
import type { Client } from './client-request.ts';
import { ExchangeRejected } from './exchange-results.ts';
import { newSecret, secondsUntil, type IssuedSecret } from './issuing.ts';
import { insertBoundedShortLivedTx, lockKeyForExchangeTx } from './store.ts';

interface KeyConditions {
  readonly clientIp: () => string;
  readonly scopes: readonly string[];
  readonly environments: readonly string[];
  readonly isUnlimited: true;
  readonly mayVerify: (key: KeyState) => boolean;
}

type KeyResult =
  | { readonly valid: true; readonly type: 'access_token' }
  | { readonly valid: true; readonly type: 'api_key'; readonly keyId: number; readonly expiresAt: number | null }
  | { readonly valid: false; readonly code: Refusal };

/** The module of verification, which imports this one. */
export interface KeyVerifier {
  readonly environments: { readonly names: readonly string[] };
  readonly lookupOf: (text: string) => number;
  /** @throws DomainError `unavailable` */
  verifyKey(text: string, conditions: KeyConditions): Promise<KeyResult>;
}

export interface ClientCredentialsOptions extends Core {
  /** Of API keys. */
  readonly hash: KeyedHash;
  readonly verifier: KeyVerifier;
  /** Undefined if exchanges are not limited. */
  readonly bucketHash: KeyedHash | undefined;
}

/** A valid key, and the secret of it that was presented. */
interface VerifiedClient {
  readonly keyId: number;
  readonly lookup: number;
  /** The end of the key, or of the overlap of a previous secret. */
  readonly expiresAt: number | null;
}

export class ClientCredentials {
  readonly #options: ClientCredentialsOptions;

  constructor(options: ClientCredentialsOptions) {
    this.#options = options;
  }

  /**
   * @param client undefined if the request has no id or no secret, or not in their form
   * @throws DomainError `invalid_client`, the same for each cause; `too_many_exchanges`, `unavailable`
   */
  async issue(client: Client | undefined, clientIp: string): Promise<IssuedSecret> {
    const keyId = client && numberIdOf(client.id);
    if (client === undefined || keyId === undefined) throw new ExchangeRejected('client', 'format');
    return this.#insert(await this.#verify(keyId, client.secret, clientIp));
  }

  /** No limit of the key is spent: the verification of the short-lived secret spends it. */
  async #verify(keyId: number, secret: string, clientIp: string): Promise<VerifiedClient> {
    const { verifier } = this.#options;
    // It would otherwise yield the next one, and live for ever.
    if (hasShortLivedShape(secret)) throw new ExchangeRejected('client', 'short_lived', keyId);
    let mismatch: 'other_key' | 'reserved_scope' | undefined;
    const key = await verifier.verifyKey(secret, {
      clientIp: () => clientIp,
      scopes: [],
      environments: verifier.environments.names,
      isUnlimited: true,
      mayVerify: (state) => {
        if (state.id !== keyId) mismatch = 'other_key';
        else if (hasReservedScope(splitScopes(state.scopes))) mismatch = 'reserved_scope';
        return mismatch === undefined;
      },
    });
    if (!key.valid) throw new ExchangeRejected('client', mismatch ?? key.code, keyId);
    if (key.type !== 'api_key') throw new ExchangeRejected('client', 'format', keyId);
    return { keyId, lookup: verifier.lookupOf(secret), expiresAt: key.expiresAt };
  }

  /** By the time of the database, and with another check of the key: it may have changed since the verification. */
  #insert({ keyId, lookup: issuedBy, expiresAt: end }: VerifiedClient): Promise<IssuedSecret> {
    const { bucketHash, clock, db, hash } = this.#options;
    const { secret, stored } = newSecret(hash);
    return db.transaction(async (tx) => {
      const now = expiryTime(clock, await lockKeyForExchangeTx(tx, keyId));
      const expiresAt = Math.min(now + limits.shortLivedSecretSeconds * 1_000, end ?? Infinity);
      const expiresInSeconds = secondsUntil(expiresAt, now);
      if (expiresInSeconds < 1) throw new ExchangeRejected('client', 'expired', keyId);
      const [isInserted] = await allInOrder([
        insertBoundedShortLivedTx(tx, { hash: stored, keyId, issuedBy, now, expiresAt }),
        bucketHash && countClientExchangeTx(tx, bucketHash, keyId, now),
      ]);
      // Each error rolls everything back.
      if (!isInserted) throw new ExchangeRejected('client', 'changed', keyId);
      return { secret, expiresInSeconds };
    });
  }
}
