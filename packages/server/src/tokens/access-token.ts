/**
 * Access tokens: JWTs after RFC 9068. A token's key decides the one algorithm it may be used with; nothing in the token
 * chooses a key but its `kid` (RFC 8725 sections 3.1 to 3.12).
 */
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { limits } from '@keyreeve/contract';
import type { Clock } from '../clock.ts';
import { randomBase62 } from '../crypto/secret.ts';
import type { SigningKeys } from '../signing-keys/signing-keys.ts';

const tokenType = 'at+jwt';
/** The only client: the account itself, on this contract. */
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

export class AccessTokens {
  readonly #options: AccessTokenOptions;

  constructor(options: AccessTokenOptions) {
    this.#options = options;
  }

  /** @param authenticatedAt milliseconds: when the password was given */
  async sign(accountId: string, sessionId: string, authenticatedAt: number): Promise<string> {
    const { signingKeys, clock, issuer, audience, ttlSeconds } = this.#options;
    const { kid, alg, key } = await signingKeys.signer();
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
  }

  /**
   * Checks signature, type, issuer, audience and times, also those of the key. Whether the session lives and the key is
   * not revoked is asked afterwards.
   * @returns the claims; `expired` for a token of ours whose time is over; undefined for anything else
   */
  async check(token: string): Promise<AccessTokenClaims | 'expired' | undefined> {
    const { signingKeys, clock, issuer, audience } = this.#options;
    try {
      const header = decodeProtectedHeader(token);
      // Whatever would choose a key or change how the token is read (jku, jwk, x5c, crit, b64, zip) is not ours.
      if (!Object.keys(header).every((name) => headerNames.has(name))) return undefined;
      const verifier = await signingKeys.verifier(header.kid);
      if (!verifier) return undefined;
      const { payload } = await jwtVerify(token, verifier.key, {
        algorithms: [verifier.alg],
        typ: tokenType,
        issuer,
        audience,
        clockTolerance: limits.clockSkewSeconds,
        requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
        currentDate: new Date(clock.now()),
      });
      const { sub, sid, iat, exp } = payload;
      if (typeof sub !== 'string' || typeof sid !== 'string' || iat === undefined || exp === undefined)
        return undefined;
      if (iat > clock.now() / 1000 + limits.clockSkewSeconds) return undefined;
      const { kid = '' } = header;
      if (!(await signingKeys.vouchesFor(kid, iat * 1000))) return undefined;
      return { kid, accountId: sub, sessionId: sid, issuedAt: iat, expiresAt: exp };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'ERR_JWT_EXPIRED') return 'expired';
      // jose's own refusals carry a code; anything else, such as a database that can't be reached, is not a verdict.
      if (typeof code === 'string' && code.startsWith('ERR_J')) return undefined;
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }
}
