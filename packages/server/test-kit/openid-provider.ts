/**
 * An OpenID provider in the test's process: real HTTP, real signatures, authorization codes with PKCE. It signs every person in
 * without a question. A test states the claims of the person, and makes the provider return what no provider should.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JWK, type JWTPayload } from 'jose';
import { systemClock } from '../src/foundation/clock.ts';

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

/** The person that signs in next. */
export interface ProviderPerson {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** What an authorization request stated. */
interface Issued {
  readonly nonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string;
  readonly person: ProviderPerson;
}

export const clientId = 'keyreeve';
export const clientSecret = 'a secret of the client: 20% & more';
export const administratorGroup = 'keyreeve-admins';

export const ada: ProviderPerson = {
  sub: 'person-1',
  email: 'ada@example.com',
  email_verified: true,
  groups: ['staff', administratorGroup],
  sid: 'provider-session-1',
};

export class OpenIdProvider implements AsyncDisposable {
  readonly issuer: string;
  person = ada;
  /** Changes the claims of the ID token. */
  claims: (claims: JWTPayload) => JWTPayload = (claims) => claims;
  /** Signs the ID token. Default: with the provider's key. */
  sign: ((claims: JWTPayload) => Promise<string> | string) | undefined;
  /** Changes the discovery document. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** The ways to authenticate that the token endpoint accepts. */
  accepted: readonly (AcceptedCredentials | 'none')[] = ['basic'];
  /** How the token endpoint rejects a client. */
  rejection: { readonly status: number; readonly error: string; readonly headers?: Readonly<Record<string, string>> } =
    {
      status: 401,
      error: 'invalid_client',
    };
  /** Responds to the requests of the client instead of the provider. @returns whether it did */
  intercept: (path: string, response: ServerResponse) => boolean = () => false;
  /** Paths of the client's requests. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #pair: Pair;
  readonly #publicJwk: JWK;
  readonly #codes = new Map<string, Issued>();

  constructor(server: Server, pair: Pair, publicJwk: JWK) {
    this.#server = server;
    this.#pair = pair;
    this.#publicJwk = publicJwk;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#serve(request, response));
  }

  /** Settings of Keyreeve. */
  get environment() {
    return {
      KEYREEVE_SSO_ISSUER: this.issuer,
      KEYREEVE_SSO_CLIENT_ID: clientId,
      KEYREEVE_SSO_CLIENT_SECRET: clientSecret,
      KEYREEVE_SSO_ADMIN_CLAIM: 'groups',
      KEYREEVE_SSO_ADMIN_VALUE: administratorGroup,
      KEYREEVE_SSO_NAME: 'Example ID',
    } as const;
  }

  /** What the browser would get at the authorization endpoint. @returns the URL of the client to which it is redirected */
  authorize(location: string): URL {
    const { searchParams: query } = new URL(location);
    const code = randomBytes(16).toString('base64url');
    const redirectUri = query.get('redirect_uri') ?? '';
    this.#codes.set(code, {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge'),
      redirectUri,
      person: this.person,
    });
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries({ code, state: query.get('state') ?? '', iss: this.issuer }))
      url.searchParams.set(name, value);
    return url;
  }

  /** A JWT with the provider's signature. @param at milliseconds */
  jwt(
    claims: JWTPayload,
    { typ = 'JWT', at = systemClock.now() }: { typ?: string; at?: number } = {},
  ): Promise<string> {
    const seconds = Math.floor(at / 1000);
    return new SignJWT({ iss: this.issuer, aud: clientId, iat: seconds, exp: seconds + 120, ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one', typ })
      .sign(this.#pair.privateKey);
  }

  /** @param at milliseconds */
  logoutToken(claims: JWTPayload, at: number): Promise<string> {
    const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
    return this.jwt({ jti: randomBytes(8).toString('hex'), events, ...claims }, { typ: 'logout+jwt', at });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(request.url ?? '/', this.issuer);
    this.requests.push(path);
    if (this.intercept(path, response)) return;
    if (path === '/.well-known/openid-configuration') return sendJson(response, 200, this.#document());
    if (path === '/jwks') return sendJson(response, 200, { keys: [this.#publicJwk] });
    if (path === '/authorize') {
      response.writeHead(303, { location: this.authorize(new URL(request.url ?? '/', this.issuer).href).href }).end();
      return;
    }
    if (path === '/token') return this.#redeem(request, response);
    sendJson(response, 404, {});
  }

  #document(): object {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }

  async #redeem(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = new URLSearchParams(Buffer.concat(parts).toString());
    if (!this.accepted.includes(credentialsOf(request.headers.authorization, body))) {
      const { status, error, headers } = this.rejection;
      return sendJson(response, status, { error }, headers);
    }
    const code = body.get('code') ?? '';
    const issued = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    if (!issued || issued.challenge !== challenge || issued.redirectUri !== body.get('redirect_uri'))
      return sendJson(response, 400, { error: 'invalid_grant' });
    const claims = this.claims({ ...issued.person, nonce: issued.nonce });
    const id_token = await (this.sign ?? ((plain) => this.jwt(plain)))(claims);
    sendJson(response, 200, { access_token: 'unused', token_type: 'Bearer', expires_in: 60, id_token });
  }
}

export async function newOpenIdProvider(): Promise<OpenIdProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const pair = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
  return new OpenIdProvider(server, pair, jwk);
}

function sendJson(response: ServerResponse, status: number, body: object, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** RFC 6749 section 2.3.1: both parts of Basic credentials are form-encoded, which some providers do not expect. */
export type AcceptedCredentials = 'basic' | 'unencoded basic' | 'post';

/** The way in which a request sends the right credentials; `none` for wrong ones, or for more than one way. */
function credentialsOf(authorization: string | undefined, body: URLSearchParams): AcceptedCredentials | 'none' {
  const inBody = body.get('client_secret');
  if (authorization === undefined)
    return inBody === clientSecret && body.get('client_id') === clientId ? 'post' : 'none';
  const text = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  if (inBody !== null) return 'none';
  const encoded = new URLSearchParams([[clientId, clientSecret]]).toString().replace('=', ':');
  if (text === encoded) return 'basic';
  return text === `${clientId}:${clientSecret}` ? 'unencoded basic' : 'none';
}
