/**
 * Access tokens: JWTs (RFC 9068). Only the `kid` selects the key, and the key determines the algorithm (RFC 8725 sections
 * 3.1 to 3.12). Each token has exactly one accepted encoding.
 */
import { jwtVerify, SignJWT } from 'jose';
import { limits } from '@keyreeve/contract';
import type { Clock } from '../../foundation/clock.ts';
import { randomBase62 } from '../../foundation/crypto/secret.ts';
import { DomainError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/json.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';

const tokenType = 'at+jwt';
/** RFC 9068 requires a client. Keyreeve has only one: the account itself. */
const clientId = 'keyreeve';
const jtiChars = 22;
const headerNames = new Set(['alg', 'kid', 'typ']);

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

/** @param authenticatedAt the time of the sign-in, in milliseconds since 1970 */
export type SignAccessToken = (accountId: string, sessionId: string, authenticatedAt: number) => Promise<string>;

export class AccessTokens {
  readonly #options: AccessTokenOptions;

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
   * Verifies signature, type, issuer, audience and times, also those of the key. The caller then checks the session and
   * the revocation of the key.
   * @returns the claims; `expired` for a token whose only fault is its expiry; otherwise undefined
   * @throws DomainError `unavailable`
   */
  async verify(token: string): Promise<AccessTokenClaims | 'expired' | undefined> {
    const { signingKeys, clock, issuer, audience } = this.#options;
    try {
      const parts = partsOf(token);
      if (!parts) return undefined;
      const header = parseJson(parts.header) as Record<string, unknown>;
      // Rejects headers that select a key or change the encoding (jku, jwk, x5c, crit, b64, zip).
      if (!Object.keys(header).every((name) => headerNames.has(name))) return undefined;
      const { kid } = header;
      const verifier = await signingKeys.verifier(kid);
      if (!verifier || typeof kid !== 'string') return undefined;
      const { payload } = await jwtVerify(token, verifier.key, {
        algorithms: [verifier.alg],
        typ: tokenType,
        issuer,
        audience,
        clockTolerance: limits.clockSkewSeconds,
        requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
        currentDate: new Date(clock.now()),
      });
      // Rejects duplicate claims: jose uses the last one, another parser may use the first.
      parseJson(parts.payload);
      const { sub, sid, iat, exp } = payload;
      if (typeof sub !== 'string' || typeof sid !== 'string' || !isNumericDate(iat) || !isNumericDate(exp))
        return undefined;
      if (iat > clock.now() / 1000 + limits.clockSkewSeconds) return undefined;
      if (!(await signingKeys.mayHaveSigned(kid, iat * 1000))) return undefined;
      return { kid, accountId: sub, sessionId: sid, issuedAt: iat, expiresAt: exp };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ERR_JWT_EXPIRED') return 'expired';
      // Errors of jose have such a code. Other errors, such as an unreachable database, are no verification result.
      if (typeof code === 'string' && code.startsWith('ERR_J')) return undefined;
      if (error instanceof DomainError && error.code === 'malformed_json') return undefined;
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }
}

/**
 * The decoded header and payload of a compact JWS (RFC 7515 section 7.1).
 * @returns undefined unless each part is canonical base64url: deny lists and caches treat several encodings of one token as
 *   different tokens
 */
function partsOf(token: string): { header: Buffer; payload: Buffer } | undefined {
  const decoded = token.split('.', 4).map(fromCanonicalBase64url);
  const [header, payload, signature] = decoded;
  return decoded.length === 3 && header && payload && signature ? { header, payload } : undefined;
}

/** The unused bits of the last character would otherwise give one text several encodings (RFC 4648 section 3.5). */
export function fromCanonicalBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** 9999-12-31T23:59:59Z: RFC 3339 cannot express later times. */
const secondsMax = 253_402_300_799;

/** Whole seconds since 1970 that RFC 3339 can express. RFC 7519 allows fractions; our tokens have none. */
const isNumericDate = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= secondsMax;
