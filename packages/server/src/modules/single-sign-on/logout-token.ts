/** Verification of logout tokens (OpenID Connect Back-Channel Logout 1.0, section 2.6). */
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTPayload } from 'jose';
import { limits } from '@keyreeve/contract';
import { monotonicMs, type Clock } from '../../foundation/clock.ts';
import { DomainError } from '../../foundation/errors.ts';
import { boundedFetch, unavailable } from './bounded-fetch.ts';
import { isIdentifier } from './claims.ts';
import type { Provider } from './provider.ts';

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Asymmetric ones: the client secret is no key. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const types = ['logout+jwt', 'application/logout+jwt'];
const ageMsMax = limits.logoutTokenSecondsMax * 1000;
const retryMs = limits.identityProviderRetrySeconds * 1000;
const skewMs = limits.clockSkewSeconds * 1000;

export interface Logout {
  readonly subject: string | null;
  readonly sid: string | null;
  /** Identifies the token. */
  readonly id: string;
  /** When the token is too old to be accepted again, in milliseconds. */
  readonly expiresAt: number;
}

export class LogoutTokens {
  readonly #provider: Provider;
  readonly #clock: Clock;
  readonly #monotonicMs: () => number;
  #keysUrl: string | undefined;
  #keys: ReturnType<typeof createRemoteJWKSet> | undefined;
  #readAgainMs = 0;

  /** @param monotonic milliseconds on a monotonic clock */
  constructor(provider: Provider, clock: Clock, monotonic: () => number = monotonicMs) {
    this.#provider = provider;
    this.#clock = clock;
    this.#monotonicMs = monotonic;
  }

  /** @throws DomainError `invalid_request`, `identity_provider_unavailable` */
  async verify(token: string): Promise<Logout> {
    const { issuer, clientId } = this.#provider;
    const keys = await this.#publicKeys();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience: clientId,
        algorithms,
        requiredClaims: ['iat', 'exp', 'jti'],
        maxTokenAge: limits.logoutTokenSecondsMax,
        clockTolerance: limits.clockSkewSeconds,
        currentDate: new Date(this.#clock.now()),
      });
      if (!types.includes(protectedHeader.typ?.toLowerCase() ?? '')) throw invalid('Its type is not logout+jwt.');
      return logoutOf(payload);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** An unknown key makes the library read the keys again, at most every 30 seconds. */
  async #publicKeys(): Promise<ReturnType<typeof createRemoteJWKSet>> {
    const url = await this.#provider.keysUrl();
    if (this.#keys && this.#keysUrl === url.href) return this.#keys;
    this.#keysUrl = url.href;
    this.#keys = createRemoteJWKSet(url, {
      [customFetch]: (href, options) => this.#readKeys(href, options.headers),
    });
    return this.#keys;
  }

  /** After a failure, no request for seconds: anyone can send a token, and the library does not wait. */
  async #readKeys(url: string, headers: Headers): Promise<Response> {
    const now = this.#monotonicMs();
    if (now < this.#readAgainMs) throw unavailable(new Error(`reading ${url} has failed a moment ago`));
    this.#readAgainMs = now + retryMs;
    const response = await boundedFetch(url, { headers });
    if (response.status === 200) this.#readAgainMs = 0;
    return response;
  }
}

/** @throws DomainError `invalid_request` */
function logoutOf({ sub, sid, jti, iat = 0, nonce, events }: JWTPayload): Logout {
  const event = Object(events) === events ? (events as Readonly<Record<string, unknown>>)[logoutEvent] : undefined;
  if (typeof event !== 'object' || event === null) throw invalid('It has no event for a logout.');
  // Otherwise it could be an ID token.
  if (nonce !== undefined) throw invalid('It has a nonce.');
  if ([sub, sid].every((value) => value === undefined)) throw invalid('It has neither sub nor sid.');
  if (![sub, sid].every((value) => value === undefined || isIdentifier(value)))
    throw invalid('Its sub or sid is malformed.');
  if (!isIdentifier(jti)) throw invalid('Its jti is malformed.');
  return {
    subject: sub ?? null,
    sid: typeof sid === 'string' ? sid : null,
    id: jti,
    expiresAt: iat * 1000 + ageMsMax + skewMs,
  };
}

function failureOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  // The library has no class for a response that is no key set.
  if (error instanceof errors.JWKSInvalid || (error instanceof errors.JOSEError && error.code === 'ERR_JOSE_GENERIC'))
    return unavailable(error);
  return invalid('It is malformed, expired, for another client, or not signed by the provider.', error);
}

const invalid = (reason: string, cause?: unknown): DomainError =>
  new DomainError('invalid_request', { detail: `The logout token is not accepted. ${reason}`, cause });
