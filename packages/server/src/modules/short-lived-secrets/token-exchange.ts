/**
 * Exchanges identity tokens for short-lived secrets of keys that trust their issuer (RFC 7523 section 2.1, RFC 8693). A token for
 * which no signature is worth its time is rejected by a shared read. The owner of the key sees the claims of rejected tokens with
 * a valid signature and audience.
 */
import { hash as digestOf } from 'node:crypto';
import { limits, type TokenRejection } from '@keyreeve/contract';
import { allInOrder } from '../../foundation/all-in-order.ts';
import { expiryTime } from '../../foundation/clock.ts';
import type { Core } from '../../foundation/core.ts';
import type { KeyedHash } from '../../foundation/crypto/keyed-hash.ts';
import { CoalescingReader } from '../../foundation/database/coalescing-reader.ts';
import type { DomainError } from '../../foundation/errors.ts';
import { numberIdOf } from '../../foundation/number-id.ts';
import { AddressRanges } from '../api-keys/addresses.ts';
import type { Environments } from '../api-keys/environments.ts';
import { allowedAudiences, toTrust, type Audiences, type StoredTrust } from '../api-keys/trust.ts';
import type { IdentityTokens, ParsedToken, VerifiedToken } from '../issuers/identity-tokens.ts';
import { matches } from '../issuers/matching.ts';
import { findIssuer, type IssuerRow } from '../issuers/store.ts';
import { isTokenUsed, useTokenTx, type UsedToken } from '../issuers/used-tokens-store.ts';
import { countClientExchangeTx } from '../rate-limits/exchange-limits.ts';
import { ExchangeRejected } from './exchange-results.ts';
import { findTrustStates, type TrustState } from './exchange-store.ts';
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
import { recordKeyTokenTx } from './key-token-store.ts';
import { acceptedRow, recordRejected, rejectedRow } from './key-tokens.ts';
import { insertBoundedShortLivedTx, lockKeyForExchangeTx } from './store.ts';

export interface TokenExchangeOptions extends Core {
  /** Of API keys. */
  readonly hash: KeyedHash;
  readonly environments: Pick<Environments, 'first'>;
  readonly audiences: Audiences;
  readonly identityTokens: Pick<IdentityTokens, 'parse' | 'verify'>;
  /** Undefined if exchanges are not limited. */
  readonly bucketHash: KeyedHash | undefined;
}

export interface TokenRequest {
  readonly token: string;
  /** The id of the key. */
  readonly clientId: string;
  readonly clientIp: string;
}

/** The current or the previous trust of a key. */
interface Candidate {
  readonly trust: StoredTrust;
  readonly issuerId: number;
  readonly prover: Prover;
}

/** A token that an issuer has signed which the key trusts, and the trust whose claims it has, if any. */
interface Proved extends Omit<Candidate, 'issuerId'> {
  readonly token: VerifiedToken;
  readonly issuer: IssuerRow;
  readonly isMatching: boolean;
}

interface Request {
  readonly keyId: number;
  readonly state: TrustState;
  readonly clientIp: string;
  readonly now: number;
}

export class TokenExchange {
  readonly #options: TokenExchangeOptions;
  readonly #reader: CoalescingReader<number, TrustState>;
  readonly #ranges = new AddressRanges();
  readonly #audiences: ReadonlySet<string>;

  constructor(options: TokenExchangeOptions) {
    const { db, environments, audiences } = options;
    this.#options = options;
    this.#audiences = new Set(allowedAudiences(audiences));
    this.#reader = new CoalescingReader(
      (ids) => findTrustStates(db, ids, environments.first !== undefined),
      db.sharedReads,
    );
  }

  /** @throws DomainError `invalid_grant`, the same for each cause; `too_many_exchanges`, `too_many_in_progress`, `unavailable` */
  async exchange({ token: text, clientId, clientIp }: TokenRequest): Promise<IssuedSecret> {
    const token = this.#options.identityTokens.parse(text);
    const keyId = numberIdOf(clientId);
    if (!token || keyId === undefined) throw new ExchangeRejected('identity_token', 'format');
    const state = await this.#reader.read(keyId);
    if (!state) throw new ExchangeRejected('identity_token', 'key_unknown', keyId);
    const now = expiryTime(this.#options.clock, state.readAt);
    const request = { keyId, state, clientIp, now };
    const proved = await this.#prove(token, request);
    const end = endOf(state, proved.prover, now, token.expiresAt * 1_000);
    const used = usedTokenOf(proved);
    const reason = await this.#reasonAgainst(proved, used, { ...request, end });
    if (reason) throw await this.#rejectProved(proved, request, reason);
    return this.#issue(proved, used, { ...request, end });
  }

  /**
   * The trust that the token proves. Of two trusts of the key, the one that matches decides.
   * @throws DomainError `invalid_grant` unless an issuer that the key trusts has signed the token for an audience of the key
   */
  async #prove(token: ParsedToken, { keyId, state, clientIp, now }: Request): Promise<Proved> {
    const ofIssuer = candidatesOf(state, now).filter(({ trust }) => trust.issuer === token.issuer);
    if (ofIssuer.length === 0) throw new ExchangeRejected('identity_token', 'issuer', keyId);
    const candidates = ofIssuer.filter(({ trust }) => trust.audience === token.audience);
    if (candidates.length === 0 || !this.#audiences.has(token.audience))
      throw new ExchangeRejected('identity_token', 'audience', keyId);
    let proved: Proved | undefined;
    for (const { trust, issuerId, prover } of candidates) {
      const verified = proved?.issuer.id === issuerId ? proved : await this.#verify(token, issuerId, { now, clientIp });
      if (!verified) continue;
      const listClaims = JSON.parse(verified.issuer.listClaims) as string[];
      const isMatching = matches(trust.claims, verified.token.claims, listClaims);
      const found = { token: verified.token, issuer: verified.issuer, trust, prover, isMatching };
      if (isMatching) return found;
      proved ??= found;
    }
    if (!proved) throw new ExchangeRejected('identity_token', 'token', keyId);
    return proved;
  }

  /** Reads the issuer for each exchange: a change of it or a demand to fetch its JWK set anew is in force at once. */
  async #verify(
    token: ParsedToken,
    issuerId: number,
    verification: { readonly now: number; readonly clientIp: string },
  ): Promise<Pick<Proved, 'token' | 'issuer'> | undefined> {
    const { db, identityTokens } = this.#options;
    const issuer = await findIssuer(db, issuerId);
    const verified = issuer && (await identityTokens.verify(token, issuer, verification));
    return verified && { token: verified, issuer };
  }

  async #reasonAgainst(
    { token, isMatching }: Proved,
    used: UsedToken | undefined,
    { state, ...at }: Request & { readonly end: number },
  ): Promise<TokenRejection | undefined> {
    if (!isMatching) return 'claims';
    const reason = reasonAgainst(state, at, this.#ranges);
    if (reason || !used) return reason;
    if (mayPrecedeRestore(state, token.issuedAt, limits.identityTokenSkewSeconds)) return 'restored';
    return (await isTokenUsed(this.#options.db, used)) ? 'used' : undefined;
  }

  /** The rows decide which of several rivals uses the token, and whether the key or the issuer has changed since the reads. */
  async #issue(
    proved: Proved,
    used: UsedToken | undefined,
    request: Request & { readonly end: number },
  ): Promise<IssuedSecret> {
    const { db, hash, bucketHash } = this.#options;
    const { keyId, now, end: expiresAt } = request;
    const { token, issuer, prover } = proved;
    const { secret, stored } = newSecret(hash);
    const row = { hash: stored, keyId, issuedBy: prover.lookup, issuer, now, expiresAt };
    try {
      await db.transaction(async (tx) => {
        const [, isInserted, isFirst] = await allInOrder([
          lockKeyForExchangeTx(tx, keyId),
          insertBoundedShortLivedTx(tx, row),
          used ? useTokenTx(tx, used) : true,
          bucketHash && countClientExchangeTx(tx, bucketHash, keyId, now),
          recordKeyTokenTx(tx, keyId, acceptedRow(issuer.url, token.claims, now)),
        ]);
        // Each error rolls everything back.
        if (!isInserted) throw new ExchangeRejected('identity_token', 'changed', keyId);
        if (!isFirst) throw new ExchangeRejected('identity_token', 'used', keyId);
      });
    } catch (error) {
      throw error instanceof ExchangeRejected && error.reason === 'used'
        ? await this.#rejectProved(proved, request, 'used')
        : error;
    }
    return { secret, expiresInSeconds: secondsUntil(expiresAt, now) };
  }

  /** @returns the error; the owner of the key sees the claims */
  async #rejectProved(
    { token, issuer, trust }: Proved,
    { keyId, now }: Request,
    reason: TokenRejection,
  ): Promise<DomainError> {
    const row = rejectedRow(issuer.url, { claims: token.claims, trusted: trust.claims }, reason, now);
    await recordRejected(this.#options.db, keyId, row);
    return new ExchangeRejected('identity_token', reason, keyId);
  }
}

/** The trusts of a key that are in force. */
function candidatesOf(state: TrustState, now: number): Candidate[] {
  const { previousTrust, previousIssuerId } = state;
  const current = { trust: toTrust(state.trust), issuerId: state.issuerId, prover: currentOf(state) };
  const previous = previousOf(state);
  if (!previous || previousTrust === null || previousIssuerId === null || (previous.endsAt ?? 0) <= now)
    return [current];
  return [current, { trust: toTrust(previousTrust), issuerId: previousIssuerId, prover: previous }];
}

/** Of a token that is accepted once, which has a `jti`; undefined for an issuer whose tokens are accepted until they expire. */
function usedTokenOf({ token, issuer }: Proved): UsedToken | undefined {
  if (issuer.replay !== 'once') return undefined;
  // `IdentityTokens.verify` rejects it before.
  if (token.id === null) throw new Error('A token that is accepted once has no jti.');
  const expiresAt = Math.ceil(token.expiresAt) + limits.identityTokenSkewSeconds + limits.clockSkewSeconds;
  return { issuerId: issuer.id, token: digestOf('sha256', token.id, 'buffer'), expiresAt: expiresAt * 1_000 };
}
