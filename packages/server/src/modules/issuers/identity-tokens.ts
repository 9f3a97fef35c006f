/**
 * Identity tokens: JWTs (RFC 7519) that an issuer signs for a workload. The issuer and its key determine the algorithm; headers
 * other than `alg` and `kid` decide nothing (RFC 8725 sections 3.1 and 3.10).
 */
import { limits, type IssuerAlgorithm } from '@keyreeve/contract';
import { isSignedByInThread, parseJwt, type CompactJwt, type JwtMembers } from '../../foundation/crypto/compact-jwt.ts';
import { ipRange } from '../../foundation/ip-address.ts';
import { Turns } from '../../http/turns.ts';
import { algorithmsOf } from './issuer.ts';
import { methodOf } from './key-set.ts';
import type { KeySets } from './key-sets.ts';
import type { IssuerRow } from './store.ts';

/** Its signature, issuer, audience and times were not verified. */
export interface ParsedToken extends Pick<CompactJwt, 'signed' | 'signature'> {
  /** The claim `iss`. */
  readonly issuer: string;
  /** The claim `aud`, which is a string or an array with one. */
  readonly audience: string;
  /** The claim `sub`. */
  readonly subject: string | null;
  /** The claim `jti`. */
  readonly id: string | null;
  /** The header `kid`. */
  readonly keyId: string | null;
  readonly algorithm: string;
  readonly claims: JwtMembers;
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly notBefore: number;
}

declare const verified: unique symbol;
/** Signed by its issuer, and valid now. */
export type VerifiedToken = ParsedToken & { readonly [verified]: true };

export interface Verification {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Signatures wait in the order of issuers and client IP ranges, which take turns. */
  readonly clientIp: string;
}

type VerifyingIssuer = Pick<
  IssuerRow,
  'id' | 'accountId' | 'url' | 'algorithms' | 'lifetimeSeconds' | 'replay' | 'jwks' | 'refreshes'
>;

export class IdentityTokens {
  /** Signatures since the start. */
  readonly counts = { valid: 0, invalid: 0 };
  readonly #keySets: Pick<KeySets, 'find'>;
  readonly #turns = new Turns({
    runningMax: limits.identityTokenChecksMax,
    waitingMax: limits.identityTokenChecksWaitingMax,
    waitingPerOwnerMax: limits.identityTokenChecksPerOwnerMax,
    waitMsMax: limits.identityTokenCheckWaitMsMax,
  });

  constructor(keySets: Pick<KeySets, 'find'>) {
    this.#keySets = keySets;
  }

  /** @returns undefined unless the format and the types of the claims are those of an identity token */
  parse(text: string): ParsedToken | undefined {
    return parseIdentityToken(text);
  }

  /**
   * The caller has verified the audience, and that a key trusts the issuer: only then a signature is worth its time.
   * @returns undefined unless the issuer has signed the token, which is valid now
   * @throws DomainError `unavailable` if the public keys cannot be fetched or too many signatures wait, `too_many_in_progress`
   */
  async verify(
    token: ParsedToken,
    issuer: VerifyingIssuer,
    { now, clientIp }: Verification,
  ): Promise<VerifiedToken | undefined> {
    const algorithm = algorithmsOf(issuer).find((declared) => declared === token.algorithm);
    if (token.issuer !== issuer.url || algorithm === undefined) return undefined;
    if (!isTimely(token, issuer.lifetimeSeconds, now)) return undefined;
    // Without an id, its second use could not be recognized.
    if (issuer.replay === 'once' && token.id === null) return undefined;
    const found = await this.#keySets.find(issuer, token.keyId);
    if (!found?.algorithms.includes(algorithm)) return undefined;
    const isSigned = await this.#isSigned(token, `${issuer.id} ${ipRange(clientIp)}`, { key: found.key, algorithm });
    this.counts[isSigned ? 'valid' : 'invalid']++;
    return isSigned ? (token as VerifiedToken) : undefined;
  }

  async #isSigned(
    token: ParsedToken,
    owner: string,
    { key, algorithm }: { readonly key: Parameters<typeof isSignedByInThread>[1]; readonly algorithm: IssuerAlgorithm },
  ): Promise<boolean> {
    const end = await this.#turns.begin(owner);
    try {
      return await isSignedByInThread(token, key, methodOf(algorithm));
    } finally {
      end();
    }
  }
}

/** Reads an identity token without verifying anything that it states. */
function parseIdentityToken(text: string): ParsedToken | undefined {
  const jwt = text.length <= limits.identityTokenBytesMax ? parseJwt(text) : undefined;
  if (!jwt) return undefined;
  const { header, claims, signed, signature } = jwt;
  const { alg, kid = null, crit } = header;
  // No extension is supported, so each one that a recipient must understand rejects the token (RFC 7515 section 4.1.11).
  if (typeof alg !== 'string' || crit !== undefined) return undefined;
  if (kid !== null && typeof kid !== 'string') return undefined;
  const { iss, aud, sub = null, jti = null, exp, iat, nbf = iat } = claims;
  const audience = audienceOf(aud);
  if (typeof iss !== 'string' || audience === undefined) return undefined;
  if (!isTextOrNull(sub) || !isTextOrNull(jti)) return undefined;
  if (!isNumericDate(iat) || !isNumericDate(exp) || !isNumericDate(nbf)) return undefined;
  return {
    issuer: iss,
    audience,
    subject: sub,
    id: jti,
    keyId: kid,
    algorithm: alg,
    claims,
    issuedAt: iat,
    expiresAt: exp,
    notBefore: nbf,
    signed,
    signature,
  };
}

/** A token for several audiences could be used by each of them at the others (RFC 8725 section 3.9). */
function audienceOf(aud: unknown): string | undefined {
  const [only, ...others] = Array.isArray(aud) ? (aud as unknown[]) : [aud];
  return typeof only === 'string' && others.length === 0 ? only : undefined;
}

function isTimely({ issuedAt, expiresAt, notBefore }: ParsedToken, lifetimeSeconds: number, now: number): boolean {
  const seconds = now / 1_000;
  const latest = seconds + limits.identityTokenSkewSeconds;
  return (
    expiresAt > seconds - limits.identityTokenSkewSeconds &&
    expiresAt > issuedAt &&
    expiresAt - issuedAt <= lifetimeSeconds &&
    issuedAt <= latest &&
    notBefore <= latest
  );
}

const hasControl = /\p{Cc}/u;
/** Such as the columns of a database can store. */
const isTextOrNull = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && value !== '' && !hasControl.test(value));

/** RFC 7519 allows fractions of seconds. */
const isNumericDate = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
