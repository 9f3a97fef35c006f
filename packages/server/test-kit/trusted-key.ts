/** An API key that trusts a local issuer, and the exchange of identity tokens of that issuer. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  jwtBearerGrant,
  tokenExchangeGrant,
  tokenTypes,
  type ExchangedSecret,
  type KeyTokens,
} from '@keyreeve/contract';
import { FakeClock } from './fake-clock.ts';
import { newIdentityIssuer, newIssuerKey, type IdentityIssuer, type TokenOptions } from './identity-issuer.ts';
import type { ShapeName } from './identity-claims.ts';
import { addIssuer, type NewIssuer } from './issuers.ts';
import { bearer, newApp, type Answered, type SignedIn, type TestApp } from './new-app.ts';

export interface TrustedKeyOptions {
  readonly shape?: ShapeName;
  readonly claims?: Readonly<Record<string, string | number | boolean>>;
  /** Other settings of the issuer. Default: the preset of GitHub with ES256. */
  readonly issuer?: Partial<NewIssuer>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Other members of the key. */
  readonly creation?: object;
}

export interface TrustedKey extends AsyncDisposable {
  readonly app: TestApp;
  readonly clock: FakeClock;
  readonly user: SignedIn;
  readonly issuer: IdentityIssuer;
  readonly issuerId: number;
  readonly keyId: number;
  /** A new identity token. */
  readonly token: (options?: TokenOptions) => string;
  /** Of the JWT bearer grant, with the id of the key. */
  readonly exchange: (token?: string, clientId?: number | string) => Promise<Answered>;
  readonly newSecret: (token?: string) => Promise<string>;
  readonly isAccepted: (secret: string) => Promise<boolean>;
  readonly send: (method: string, path: string, json?: unknown) => Promise<Answered>;
  readonly addKey: (trust: object, creation?: object) => Promise<number>;
  readonly tokens: (id?: number) => Promise<KeyTokens>;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Sends a form. Undefined parameters are absent. @param clientIp as a trusted proxy states it */
export function postForm(
  app: TestApp,
  parameters: Readonly<Record<string, string | undefined>>,
  clientIp?: string,
): Promise<Answered> {
  const headers = clientIp === undefined ? form : { ...form, 'x-forwarded-for': clientIp };
  const all = Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return app.call('POST', '/auth/oauth/token', { headers, body: new URLSearchParams(all).toString() });
}

/** RFC 7523. @param clientIp as in {@link postForm} */
export const exchangeToken = (
  app: TestApp,
  clientId: number | string,
  assertion: string,
  clientIp?: string,
): Promise<Answered> => postForm(app, { grant_type: jwtBearerGrant, client_id: String(clientId), assertion }, clientIp);

/** RFC 8693. @param parameters other or further ones; undefined removes one */
export const exchangeSubjectToken = (
  app: TestApp,
  clientId: number | string,
  token: string,
  parameters: Readonly<Record<string, string | undefined>> = {},
): Promise<Answered> =>
  postForm(app, {
    grant_type: tokenExchangeGrant,
    client_id: String(clientId),
    subject_token: token,
    subject_token_type: tokenTypes.jwt,
    ...parameters,
  });

export async function newTrustedKey(options: TrustedKeyOptions = {}): Promise<TrustedKey> {
  const { shape = 'github', claims = { repository_id: '4711' }, environment = {}, creation = {} } = options;
  const clock = new FakeClock();
  const issuer = await newIdentityIssuer({ clock, keys: [newIssuerKey('ES256')] });
  const app = await newApp({ clock, environment: { ...issuer.environment, ...environment } });
  issuer.audience = app.service.publicUrl;
  const settings = { preset: 'github', algorithms: ['ES256'], ...options.issuer } as const;
  const issuerId = await addIssuer(app.db, { url: issuer.url, ...settings });
  const user = await app.signIn();
  const send = (method: string, path: string, json?: unknown): Promise<Answered> => {
    const headers = bearer(user.accessToken);
    return app.call(method, path, json === undefined ? { headers } : { headers, json });
  };
  const addKey = async (trust: object, others: object = {}): Promise<number> => {
    const nickname = `key ${randomBytes(6).toString('hex')}`;
    const answer = await send('POST', '/auth/api-keys/public', { nickname, trust, ...others });
    assert.equal(answer.status, 201, answer.text);
    return (answer.json as { id: number }).id;
  };
  const keyId = await addKey({ issuer: issuer.url, claims }, creation);
  const token = (of?: TokenOptions): string => issuer.token(shape, of);
  const exchange = (text = token(), clientId: number | string = keyId): Promise<Answered> =>
    exchangeToken(app, clientId, text);
  return {
    app,
    clock,
    user,
    issuer,
    issuerId,
    keyId,
    token,
    exchange,
    send,
    addKey,
    newSecret: async (text) => secretOf(await exchange(text)),
    isAccepted: async (secret) => (await app.call('GET', '/auth/forward', { headers: bearer(secret) })).status === 200,
    tokens: async (id = keyId) => (await send('GET', `/auth/api-keys/${id}/tokens`)).json as KeyTokens,
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
    },
  };
}

export function secretOf(answer: Answered): string {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json as ExchangedSecret).access_token;
}

export const oauthErrorOf = ({ status, json, text }: Answered): string => {
  assert.ok(status >= 400, text);
  const { code, error } = json as { code?: string; error?: string };
  return code ?? String(error);
};
