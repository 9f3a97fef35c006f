/** Verification of access tokens outside the service, with another JWT library than the one that signs. */
import assert from 'node:assert/strict';
import { createPublicKey, type JsonWebKeyInput } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

interface Jwk {
  readonly kid: string;
  readonly alg: jwt.Algorithm;
}

/** Like a resource server: finds the key by its `kid` and takes the algorithm from the key. */
async function verifyOffline(app: TestApp, accessToken: string, audience: string): Promise<jwt.JwtPayload> {
  const discovery = await app.call('GET', '/.well-known/oauth-authorization-server');
  const { issuer, jwks_uri: jwksUri } = discovery.json as { issuer: string; jwks_uri: string };
  const { json } = await app.call('GET', new URL(jwksUri).pathname);
  const { keys } = json as { keys: Jwk[] };
  const { kid } = jwt.decode(accessToken, { complete: true })?.header ?? {};
  const key = keys.find((candidate) => candidate.kid === kid);
  assert.ok(key);
  const publicKey = createPublicKey({ key, format: 'jwk' } as unknown as JsonWebKeyInput);
  const clockTimestamp = app.clock.now() / 1000;
  return jwt.verify(accessToken, publicKey, {
    algorithms: [key.alg],
    issuer,
    audience,
    clockTimestamp,
  }) as jwt.JwtPayload;
}

for (const alg of ['ES256', 'RS256']) {
  test(
    `another JWT library verifies a ${alg} access token with the published keys`,
    { tags: ['asvs:11.2.1'] },
    async () => {
      await using app = await newApp({ environment: { KEYREEVE_JWT_ALG: alg, KEYREEVE_AUDIENCE: 'orders' } });
      const { account, accessToken } = await app.signIn();
      const { sub, aud, client_id: clientId } = await verifyOffline(app, accessToken, 'orders');
      assert.deepEqual({ sub, aud, clientId }, { sub: account.id, aud: 'orders', clientId: 'keyreeve' });

      const other = accessToken.replace(
        /^([^.]+\.[^.]+\.)(.)/,
        (_, head: string, first: string) => head + (first === 'A' ? 'B' : 'A'),
      );
      await assert.rejects(verifyOffline(app, other, 'orders'), { message: 'invalid signature' });
      await assert.rejects(verifyOffline(app, accessToken, 'invoices'), /jwt audience invalid/);
      app.clock.advance({ seconds: 600 });
      await assert.rejects(verifyOffline(app, accessToken, 'orders'), { message: 'jwt expired' });
    },
  );
}

test(
  'the published keys are complete, contain no private part and are cacheable for five minutes',
  { tags: ['asvs:14.2.2'] },
  async () => {
    await using app = await newApp();
    const answer = await app.call('GET', '/.well-known/jwks.json');
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=300');
    const { keys } = answer.json as { keys: Record<string, string>[] };
    assert.equal(keys.length, 1);
    const { kid, x, y, ...rest } = keys[0] ?? {};
    assert.deepEqual(rest, { kty: 'EC', crv: 'P-256', alg: 'ES256', use: 'sig' });
    assert.match(kid ?? '', /^[\w-]{22}$/);
    for (const coordinate of [x, y]) assert.match(coordinate ?? '', /^[\w-]{43}$/);
  },
);

test(
  'discovery returns the URLs of the issuer, token endpoint, keys and introspection, and the only grant type',
  { tags: ['asvs:10.4.4'] },
  async () => {
    await using app = await newApp({
      environment: { KEYREEVE_PUBLIC_URL: 'https://auth.example.com', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' },
    });
    // A forged host does not change the published URLs.
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const answer = await app.call('GET', '/.well-known/oauth-authorization-server', { headers });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=300');
    assert.deepEqual(answer.json, {
      issuer: 'https://auth.example.com',
      jwks_uri: 'https://auth.example.com/.well-known/jwks.json',
      introspection_endpoint: 'https://auth.example.com/auth/introspect',
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
      response_types_supported: [],
      grant_types_supported: [
        'client_credentials',
        'urn:ietf:params:oauth:grant-type:jwt-bearer',
        'urn:ietf:params:oauth:grant-type:token-exchange',
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      device_authorization_endpoint: 'https://auth.example.com/auth/oauth/device',
      revocation_endpoint: 'https://auth.example.com/auth/oauth/revoke',
      revocation_endpoint_auth_methods_supported: ['none'],
      token_endpoint: 'https://auth.example.com/auth/oauth/token',
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      service_documentation: 'https://auth.example.com/docs',
    });
  },
);

test('without the console, in which people approve programs, the metadata has no device sign-in', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CONSOLE: 'off' } });
  const { json } = await app.call('GET', '/.well-known/oauth-authorization-server');
  const metadata = json as { device_authorization_endpoint?: string; grant_types_supported: string[] };
  assert.equal(metadata.device_authorization_endpoint, undefined);
  assert.deepEqual(metadata.grant_types_supported, [
    'client_credentials',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'urn:ietf:params:oauth:grant-type:token-exchange',
  ]);
});

test('without a public URL the issuer contains the port that was chosen', async () => {
  await using app = await newApp();
  const { port } = new URL(app.url);
  const { json } = await app.call('GET', '/.well-known/oauth-authorization-server');
  assert.equal((json as { issuer: string }).issuer, `http://localhost:${port}`);
});
