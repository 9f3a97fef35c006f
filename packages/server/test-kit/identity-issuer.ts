/**
 * An issuer of identity tokens in the test's process: a real HTTPS server on loopback with a discovery document and a JWK
 * set, and tokens shaped like those of the issuers that workloads have. Its certificate is its own authority.
 */
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { systemClock, type Clock } from '../src/foundation/clock.ts';
import { tokenShapes, type ShapeName } from './identity-claims.ts';
import { signJwt, type JwtSigner } from './public-key-client.ts';
import { tls, tlsPath } from './tls.ts';
import { newReceiver, type Receiver } from './webhook-receiver.ts';

export type IssuerAlgorithm = 'RS256' | 'RS384' | 'RS512' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA';

export interface IssuerKey extends JwtSigner {
  readonly alg: IssuerAlgorithm;
  readonly kid: string;
  /** As the JWK set has it. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

const curves: Readonly<Partial<Record<IssuerAlgorithm, string>>> = { ES256: 'P-256', ES384: 'P-384' };

/** An RSA key takes about 100 ms. @param kid by default derived from the key */
export function newIssuerKey(alg: IssuerAlgorithm = 'RS256', kid?: string): IssuerKey {
  const { publicKey, privateKey } = newPair(alg);
  const members = publicKey.export({ format: 'jwk' });
  const id = kid ?? createHash('sha256').update(JSON.stringify(members)).digest('base64url');
  return { alg, kid: id, privateKey, jwk: { ...members, kid: id, alg, use: 'sig' } };
}

function newPair(alg: IssuerAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  const namedCurve = curves[alg];
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { namedCurve });
  return alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

/** What is wrong with a response of the issuer. A held one begins, and ends when the fault is removed. */
export type Fault = 'unavailable' | 'redirecting' | 'oversized' | 'malformed' | 'held';

export interface TokenOptions {
  /** The claim `aud`: by default that of the issuer. */
  readonly audience?: string;
  /** Other or further claims. `undefined` removes one. Text replaces all of them. */
  readonly claims?: Readonly<Record<string, unknown>> | string;
  /** Other or further members of the header. `undefined` removes one. Text replaces all of them. */
  readonly header?: Readonly<Record<string, unknown>> | string;
  /** By default the newest key of the issuer. */
  readonly signer?: JwtSigner & { readonly kid?: string };
  /** Milliseconds since 1970, by default that of the issuer's clock. */
  readonly now?: number;
}

export interface IssuerOptions {
  /** Of the issuer's URL, such as `/org/1`. */
  readonly path?: string;
  readonly keys?: readonly IssuerKey[];
  readonly clock?: Pick<Clock, 'now'>;
  /** The claim `aud` of its tokens, unless one states another: the public URL of the service. */
  readonly audience?: string;
}

/** A redirected client finds the real response below this path. */
const movedPath = '/moved';
const oversizedBytes = 2_000_000;

export class IdentityIssuer implements AsyncDisposable {
  /** The claim `iss`. */
  readonly url: string;
  /** The newest is last. It signs. */
  keys: readonly IssuerKey[];
  audience: string;
  /** Further members of the JWK set's list. */
  furtherJwks: readonly unknown[] = [];
  /** Other or further members of the discovery document. */
  metadata: Readonly<Record<string, unknown>> = {};
  readonly #receiver: Receiver;
  readonly #path: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #faults: { discovery?: Fault; jwks?: Fault } = {};
  readonly #held = new Set<() => void>();

  constructor(receiver: Receiver, { path = '', keys, clock = systemClock, audience = '' }: IssuerOptions) {
    this.#receiver = receiver;
    this.#path = path;
    this.#clock = clock;
    this.keys = keys ?? [newIssuerKey()];
    this.audience = audience;
    this.url = `https://localhost:${receiver.port}${path}`;
    receiver.answer = (received, response) => this.#answer(received.path, response);
  }

  /** Settings of a service that may reach the issuer. */
  get environment() {
    return {
      KEYREEVE_ISSUER_TARGETS: `localhost:${this.#receiver.port}`,
      KEYREEVE_ISSUER_CA: tlsPath('server.crt'),
    } as const;
  }

  get jwks(): { readonly keys: readonly unknown[] } {
    return { keys: [...this.keys.map(({ jwk }) => jwk), ...this.furtherJwks] };
  }

  /** Paths of the requests, in order. */
  get requests(): readonly string[] {
    return this.#receiver.received.map(({ path }) => path);
  }

  /** Resolves when `count` requests have arrived. */
  async untilRequests(count: number): Promise<void> {
    await this.#receiver.until(count);
  }

  /** Adds a key, which signs from then on. */
  rotate(key: IssuerKey = newIssuerKey()): IssuerKey {
    this.keys = [...this.keys, key];
    return key;
  }

  /** Tokens that the key signs later have the right `kid`, but the JWK set does not have the key. */
  remove({ kid }: IssuerKey): void {
    this.keys = this.keys.filter((key) => key.kid !== kid);
  }

  /** @param fault undefined removes it, and ends held responses */
  setFault(at: 'discovery' | 'jwks', fault: Fault | undefined): void {
    if (fault) this.#faults[at] = fault;
    else delete this.#faults[at];
    const held = [...this.#held];
    this.#held.clear();
    for (const end of held) end();
  }

  /** A token as the named issuer would sign it, with the claims of the options. */
  token(name: ShapeName, { audience, claims = {}, header = {}, signer, now }: TokenOptions = {}): string {
    const { header: shapeHeader, lifetimeSeconds, hasAudienceList, claims: claimsAt } = tokenShapes[name];
    const key = signer ?? this.keys.at(-1);
    if (!key) throw new Error('The issuer has no key.');
    const at = Math.floor((now ?? this.#clock.now()) / 1_000);
    const aud = audience ?? this.audience;
    const { iat = at, ...others } = claimsAt(at);
    const times = { iat, exp: Number(iat) + lifetimeSeconds };
    const all = { iss: this.url, aud: hasAudienceList ? [aud] : aud, ...times, ...others };
    return signJwt(
      key,
      typeof header === 'string' ? header : { alg: key.alg, kid: key.kid, ...shapeHeader, ...header },
      typeof claims === 'string' ? claims : { ...all, ...claims },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#receiver[Symbol.asyncDispose]();
  }

  #answer(path: string, response: ServerResponse): void {
    const moved = path.startsWith(movedPath);
    const asked = moved ? path.slice(movedPath.length) : path;
    const at = this.#kindOf(asked);
    const fault = at && !moved ? this.#faults[at] : undefined;
    const body = JSON.stringify(at === 'discovery' ? this.#document() : this.jwks);
    if (!at) response.writeHead(404).end();
    else if (fault === 'unavailable') response.writeHead(503).end();
    else if (fault === 'redirecting') response.writeHead(302, { location: `${movedPath}${path}` }).end();
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (fault === 'oversized') response.end(body.padEnd(oversizedBytes));
      else if (fault === 'malformed') response.end(body.slice(0, -1));
      else if (fault === 'held') this.#hold(response, body);
      else response.end(body);
    }
  }

  #hold(response: ServerResponse, body: string): void {
    response.write(body.slice(0, 1));
    const end = (): void => void response.end(body.slice(1));
    this.#held.add(end);
    response.on('close', () => this.#held.delete(end));
  }

  #kindOf(path: string): 'discovery' | 'jwks' | undefined {
    if (path === `${this.#path}/.well-known/openid-configuration`) return 'discovery';
    return path === `${this.#path}/jwks` ? 'jwks' : undefined;
  }

  /** OpenID Connect Discovery 1.0, section 3. */
  #document(): object {
    return {
      issuer: this.url,
      jwks_uri: `${this.url}/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(this.keys.map(({ alg }) => alg))],
      ...this.metadata,
    };
  }
}

/** Each has a server and, unless the options have keys, an RSA key of its own. */
export async function newIdentityIssuer(options: IssuerOptions = {}): Promise<IdentityIssuer> {
  return new IdentityIssuer(await newReceiver(createServer(tls)), options);
}
