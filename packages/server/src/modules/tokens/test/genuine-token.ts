/** An access token of the installation, others that the same key signs, and whether the service accepts them. */
import assert from 'node:assert/strict';
import { bearer, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { AccessTokens } from '../access-token.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Genuine {
  readonly header: Fields;
  readonly payload: Fields;
  /** Signs with the installation's key, also when the header is wrong. */
  readonly sign: (header: Fields, payload: Fields) => Promise<string>;
  /** The same for texts, which need not be JSON. */
  readonly signTexts: (header: string, payload: string) => Promise<string>;
}

const encodeText = (text: string): string => Buffer.from(text).toString('base64url');
export const encode = (value: unknown): string => encodeText(JSON.stringify(value));
export const decode = (part: string | undefined): Fields =>
  JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Fields;

/** The parts of an access token, and functions that sign others with the same key. */
export async function genuineOf(app: TestApp, { accessToken }: SignedIn): Promise<Genuine> {
  const [header, payload] = accessToken.split('.');
  const { key } = await app.service.services.signingKeys.signer();
  const signTexts = async (head: string, body: string): Promise<string> => {
    const input = `${encodeText(head)}.${encodeText(body)}`;
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(input));
    return `${input}.${Buffer.from(signature).toString('base64url')}`;
  };
  return {
    header: decode(header),
    payload: decode(payload),
    sign: (head, body) => signTexts(JSON.stringify(head), JSON.stringify(body)),
    signTexts,
  };
}

/** Access tokens of the installation, as another instance of it makes and verifies them. */
export function accessTokensOf({ clock, service }: TestApp): AccessTokens {
  const { publicUrl: issuer, services } = service;
  return new AccessTokens({ clock, signingKeys: services.signingKeys, issuer, audience: issuer, ttlSeconds: 600 });
}

export async function assertRejected(app: TestApp, token: string, what: string): Promise<void> {
  const headers = bearer(token);
  const managed = await app.call('GET', '/auth/api-keys', { headers });
  assert.equal(managed.status, 401, what);
  assert.equal((managed.json as { code: string }).code, 'invalid_access_token', what);
  assert.equal(managed.headers.get('www-authenticate'), 'Bearer realm="keyreeve", error="invalid_token"', what);
  const forwarded = await app.call('GET', '/auth/forward', { headers });
  assert.equal(forwarded.status, 401, what);
  assert.equal((forwarded.json as { code: string }).code, 'invalid_credential', what);
  assert.equal(forwarded.headers.get('x-keyreeve-account'), null, what);
}

export async function assertAccepted(app: TestApp, token: string, what: string): Promise<void> {
  assert.equal((await app.call('GET', '/auth/api-keys', { headers: bearer(token) })).status, 200, what);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(token) })).status, 200, what);
}
