/**
 * An issuer of identity tokens whose tokens the revocation check signs itself. Its JWK set is fixed, so no instance needs to reach
 * it. Only canary keys trust it.
 */
import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import type { IssuerChangeBody, NewIssuerBody } from '@keyreeve/contract';
import { systemClock } from '../src/foundation/clock.ts';
import type { Credential } from './exchanging-key.ts';

export type Replay = NonNullable<NewIssuerBody['replay']>;

/** `wide`: tokens that only the wider settings accept. `narrow`: tokens that both accept. */
export type TokenKind = 'wide' | 'narrow';

/** Each is longer than a short-lived secret is valid. */
const lifetimeSeconds: Readonly<Record<TokenKind, number>> = { wide: 3_600, narrow: 1_800 };
const tokenIdBytes = 24;

export const newTokenId = (): string => randomBytes(tokenIdBytes).toString('base64url');

export interface Narrowing {
  readonly narrow: IssuerChangeBody;
  /** Ends no secret. */
  readonly widen: IssuerChangeBody;
}

export class CanaryIssuer {
  readonly url: string;
  readonly #replay: Replay;
  readonly #keys: Readonly<Record<TokenKind, SigningKey>> = { wide: new SigningKey(), narrow: new SigningKey() };

  /** @param name part of a host that no DNS has (RFC 2606) */
  constructor(name: string, replay: Replay) {
    this.url = `https://${name}.prove-revocation.invalid`;
    this.#replay = replay;
  }

  /** The widest ones. */
  get declaration(): NewIssuerBody {
    return { url: this.url, replay: this.#replay, algorithms: ['ES256'], idClaims: ['/sub'], ...this.wide };
  }

  get wide() {
    const { wide, narrow } = this.#keys;
    return { lifetimeSeconds: lifetimeSeconds.wide, jwks: { keys: [wide.jwk, narrow.jwk] } };
  }

  /** Changes after which no `wide` token is accepted. */
  get narrowings(): readonly Narrowing[] {
    const { jwks, lifetimeSeconds: wideSeconds } = this.wide;
    return [
      { narrow: { jwks: { keys: [this.#keys.narrow.jwk] } }, widen: { jwks } },
      { narrow: { lifetimeSeconds: lifetimeSeconds.narrow }, widen: { lifetimeSeconds: wideSeconds } },
    ];
  }

  /** A trust in the tokens of one subject. */
  trust(subject: string, kind: TokenKind = 'narrow'): Credential {
    return {
      member: { trust: { issuer: this.url, claims: { sub: subject } } },
      form: (keyId, audience) => ({ client_id: String(keyId), assertion: this.token(subject, audience, kind) }),
    };
  }

  token(subject: string, audience: string, kind: TokenKind): string {
    const iat = Math.floor(systemClock.now() / 1_000);
    const times = { iat, nbf: iat, exp: iat + lifetimeSeconds[kind] };
    return this.#keys[kind].sign({ iss: this.url, sub: subject, aud: audience, jti: newTokenId(), ...times });
  }
}

class SigningKey {
  readonly jwk: Record<string, unknown>;
  readonly #kid = newTokenId();
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    this.jwk = { ...publicKey.export({ format: 'jwk' }), kid: this.#kid, alg: 'ES256', use: 'sig' };
    this.#privateKey = privateKey;
  }

  sign(claims: object): string {
    return signToken({ alg: 'ES256', kid: this.#kid }, claims, this.#privateKey);
  }
}

/** @param key for Ed25519, or for ECDSA with P-256 */
export function signToken(header: object, claims: object, key: KeyObject): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const signature = sign(digest, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}
