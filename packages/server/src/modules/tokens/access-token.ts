/**
 * Access tokens: JWTs (RFC 9068). Only the `kid` selects the key, and the key determines the algorithm (RFC 8725 sections
 * 3.1 to 3.12). Each token has exactly one accepted encoding.
 */
import { hash, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import {
  isSignedBy,
  isSignedByInThread,
  parseJwt,
  type CompactJwt,
  type JwtMembers,
} from '../../foundation/crypto/compact-jwt.ts';
import { randomBase62 } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import { Turns } from '../../http/turns.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';
import { isSessionId } from './refresh-token.ts';

const tokenType = 'at+jwt';
/** RFC 9068 requires a client. Keyreeve has only one: the account itself. */
const clientId = 'keyreeve';
const jtiChars = 22;
const { signaturesVerifiedMax, signaturesWaitingMax, signaturesWaitingPerAccountMax, writeWaitMsMax } = limits;

export interface AccessTokenOptions {
  readonly clock: Clock;
  readonly signingKeys: SigningKeys;
  readonly issuer: string;
  readonly audience: string;
  readonly ttlSeconds: number;
}

export interface AccessTokenClaims {
  readonly kid: string;
  readonly accountId: string;
  readonly sessionId: string;
  /** Seconds since 1970 (RFC 7519 NumericDate). */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A token whose format, issuer, audience and times are right. Its signature is not verified, so its claims prove nothing. */
export interface UnverifiedToken extends Pick<CompactJwt, 'signed' | 'signature'> {
  readonly claims: AccessTokenClaims;
  /** The public key that the token names. */
  readonly key: KeyObject;
  /** SHA-256 of the token, which has one accepted encoding. */
  readonly digest: string;
}

/** @param authenticatedAt the time of the sign-in, in milliseconds since 1970 */
export type SignAccessToken = (accountId: string, sessionId: string, authenticatedAt: number) => Promise<string>;

export class AccessTokens {
  readonly #options: AccessTokenOptions;
  /**
   * Tokens with a right signature, by its key: it stays right, and everything else is checked each time. Only the holder of a
   * token can add it.
   */
  readonly #signed = new WeakMap<KeyObject, Set<string>>();
  readonly #turns = new Turns({
    runningMax: signaturesVerifiedMax,
    runningPerOwnerMax: signaturesVerifiedMax / 2,
    waitingMax: signaturesWaitingMax,
    waitingPerOwnerMax: signaturesWaitingPerAccountMax,
    waitMsMax: writeWaitMsMax,
  });

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  /**
   * Loads the key now: a caller that commits a change before it signs cannot fail for lack of a key.
   * @throws DomainError `unavailable`
   */
  async signer(): Promise<SignAccessToken> {
    const { signingKeys, clock, issuer, audience, ttlSeconds } = this.#options;
    const { kid, alg, key } = await signingKeys.signer();
    return (accountId, sessionId, authenticatedAt) => {
      const issuedAt = Math.floor(clock.now() / 1000);
      return new SignJWT({ client_id: clientId, sid: sessionId, auth_time: Math.floor(authenticatedAt / 1000) })
        .setProtectedHeader({ alg, kid, typ: tokenType })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(accountId)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + ttlSeconds)
        .setJti(randomBase62(jtiChars))
        .sign(key);
    };
  }

  /**
   * Reads a token without verifying its signature: a stranger may have written all of it, under a published `kid`. Reads the
   * database only for a `kid` that this process has not seen.
   * @returns `expired` for a token whose only fault is its expiry, undefined for one with another fault
   * @throws DomainError `unavailable`
   */
  async read(text: string): Promise<UnverifiedToken | 'expired' | undefined> {
    const jwt = parseJwt(text);
    if (!jwt) return undefined;
    const { alg, kid, typ, ...others } = jwt.header;
    // Other headers select a key or change the encoding (jku, jwk, x5c, crit, b64, zip).
    if (typ !== tokenType || Object.keys(others).length > 0) return undefined;
    const now = Math.floor(this.#options.clock.now() / 1000);
    const claims = this.#claimsOf(jwt.claims, now);
    const signer = claims && (await this.#options.signingKeys.verifier(kid));
    const { signed, signature } = jwt;
    if (!signer || signer.alg !== alg || signer.signatureBytes !== signature.length) return undefined;
    if (claims.expiresAt <= now - limits.clockSkewSeconds) return 'expired';
    const digest = hash('sha256', text, 'base64');
    return { claims: { ...claims, kid: signer.kid }, key: signer.key, signed, signature, digest };
  }

  /** Whether the key may have signed a token that was issued then. @throws DomainError `unavailable` */
  mayBeSigned({ claims: { kid, issuedAt } }: UnverifiedToken): Promise<boolean> {
    return this.#options.signingKeys.mayHaveSigned(kid, issuedAt * 1000);
  }

  /** Verifies the signature. */
  isSigned(token: UnverifiedToken): boolean {
    return this.#wasSigned(token) || this.#remember(token, isSignedBy(token, token.key));
  }

  /**
   * The same in another thread, when it is the account's turn: forged tokens of one session delay those of other accounts by a
   * few signatures.
   * @throws DomainError `unavailable` if too many wait
   */
  async isSignedInTurn(token: UnverifiedToken): Promise<boolean> {
    if (this.#wasSigned(token)) return true;
    const end = await this.#turns.begin(token.claims.accountId).catch((error: unknown) => {
      // The limit of an account is no limit of the service that asks.
      throw new DomainError('unavailable', { cause: error, retryAfterSeconds: 1 });
    });
    try {
      return this.#remember(token, await isSignedByInThread(token, token.key));
    } finally {
      end();
    }
  }

  #wasSigned({ key, digest }: UnverifiedToken): boolean {
    return this.#signed.get(key)?.has(digest) === true;
  }

  #remember({ key, digest }: UnverifiedToken, isSigned: boolean): boolean {
    if (!isSigned) return false;
    const digests = this.#signed.get(key) ?? new Set();
    this.#signed.set(key, digests.add(digest));
    if (digests.size > limits.signaturesRememberedMax) digests.delete(digests.values().next().value ?? '');
    return true;
  }

  /** @param now seconds since 1970 */
  #claimsOf(
    { iss, aud, sub, sid, iat, exp, nbf = iat }: JwtMembers,
    now: number,
  ): Omit<AccessTokenClaims, 'kid'> | undefined {
    const { issuer, audience } = this.#options;
    if (iss !== issuer || !(aud === audience || (Array.isArray(aud) && aud.includes(audience)))) return undefined;
    if (typeof sub !== 'string' || typeof sid !== 'string' || !isSessionId(sid)) return undefined;
    if (!isNumericDate(iat) || !isNumericDate(exp) || typeof nbf !== 'number') return undefined;
    if (Math.max(iat, nbf) > now + limits.clockSkewSeconds) return undefined;
    return { accountId: sub, sessionId: sid, issuedAt: iat, expiresAt: exp };
  }
}

/** 9999-12-31T23:59:59Z: RFC 3339 cannot express later times. */
const secondsMax = 253_402_300_799;

/** Whole seconds since 1970 that RFC 3339 can express. RFC 7519 allows fractions; our tokens have none. */
const isNumericDate = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= secondsMax;
