/** Responses that no honest provider and browser send, and failures of the provider. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { limits } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { problemCode } from '../../../../test-kit/administrators.ts';
import type { Answered } from '../../../../test-kit/new-app.ts';
import { ada, clientSecret, newOpenIdProvider, type OpenIdProvider } from '../../../../test-kit/openid-provider.ts';
import { newAppWithProvider, SingleSignOnClient } from '../../../../test-kit/single-sign-on.ts';
import { LogoutTokens } from '../logout-token.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const titleOf = ({ text }: Answered): string => /<h1>([^<]*)<\/h1>/.exec(text)?.[1] ?? text;
const expired = 'This sign-in has expired';
const rejected = 'The sign-in was not accepted';

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const nowSeconds = (): number => Math.floor(Date.now() / 1000);
const unsigned = (provider: OpenIdProvider, alg: string, claims: JWTPayload): string =>
  `${base64({ alg, kid: 'one' })}.${base64({ iss: provider.issuer, aud: 'keyreeve', iat: nowSeconds(), exp: nowSeconds() + 120, ...claims })}`;

const without = (claims: JWTPayload, name: string): JWTPayload =>
  Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));

/** ID tokens that are not valid, by what is wrong. */
const badTokens: Readonly<Record<string, (provider: OpenIdProvider) => void>> = {
  'another issuer': (provider) => void (provider.claims = (claims) => ({ ...claims, iss: 'https://evil.example' })),
  'another audience': (provider) => void (provider.claims = (claims) => ({ ...claims, aud: 'other' })),
  'several audiences without azp': (provider) =>
    void (provider.claims = (claims) => ({ ...claims, aud: ['keyreeve', 'other'] })),
  'several audiences with another azp': (provider) =>
    void (provider.claims = (claims) => ({ ...claims, aud: ['keyreeve', 'other'], azp: 'other' })),
  'another nonce': (provider) => void (provider.claims = (claims) => ({ ...claims, nonce: 'a'.repeat(43) })),
  'no nonce': (provider) => void (provider.claims = (claims) => without(claims, 'nonce')),
  'an expiry in the past': (provider) =>
    void (provider.claims = (claims) => ({ ...claims, exp: nowSeconds() - 60, iat: nowSeconds() - 120 })),
  'no subject': (provider) => void (provider.claims = (claims) => without(claims, 'sub')),
  'a subject with a control character': (provider) =>
    void (provider.claims = (claims) => ({ ...claims, sub: 'person\u0000' })),
  'a long subject': (provider) => void (provider.claims = (claims) => ({ ...claims, sub: 'a'.repeat(256) })),
  'the algorithm none': (provider) => void (provider.sign = (claims) => `${unsigned(provider, 'none', claims)}.`),
  'a MAC with the client secret': (provider) => {
    provider.sign = (claims) => {
      const text = unsigned(provider, 'HS256', claims);
      return `${text}.${createHmac('sha256', clientSecret).update(text).digest('base64url')}`;
    };
  },
  'a signature by another key': (provider) =>
    void (provider.sign = async (claims) => {
      const { privateKey } = await generateKeyPair('ES256');
      const all = { iss: provider.issuer, aud: 'keyreeve', ...claims };
      const jwt = new SignJWT(all).setIssuedAt().setExpirationTime('2m');
      return jwt.setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey);
    }),
  'a changed payload': (provider) =>
    void (provider.sign = async (claims) => {
      const [header, , signature] = (await provider.jwt(claims)).split('.');
      return `${header}.${base64({ ...claims, sub: 'other' })}.${signature}`;
    }),
};

test(
  'an ID token that is not valid starts no session',
  { tags: ['asvs:6.8.2', 'asvs:10.5.1', 'asvs:10.5.4'] },
  async () => {
    await using both = await newAppWithProvider();
    const { app, provider } = both;
    // Otherwise the library rejects the algorithm before it looks for a key.
    provider.metadata = { id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'] };
    const client = new SingleSignOnClient(both);
    for (const [what, spoil] of Object.entries(badTokens)) {
      provider.claims = (claims) => claims;
      provider.sign = undefined;
      spoil(provider);
      app.logLines.length = 0;
      const answer = await client.singleSignOn();
      assert.deepEqual([answer.status, titleOf(answer), client.cookie], [401, rejected, undefined], what);
      assert.ok(
        app.logLines.some((line) => line.includes('single_sign_on_failed')),
        what,
      );
    }
  },
);

testOnBoth(
  'a response works once, in the browser that started the sign-in, for its state and issuer',
  { tags: ['asvs:10.1.2', 'asvs:10.2.1'] },
  async () => {
    await using both = await newAppWithProvider();
    const { app, provider } = both;
    const [client, other] = [new SingleSignOnClient(both), new SingleSignOnClient(both)];
    const [one, two] = [await client.start(), await other.start()];
    const url = provider.authorize(one.location);
    const changed = (name: string, value: string | null): URL => {
      const result = new URL(url);
      if (value === null) result.searchParams.delete(name);
      else result.searchParams.set(name, value);
      return result;
    };
    const [content, mac] = one.cookie.split('.');
    const forged = JSON.parse(Buffer.from(content?.slice('kr_o='.length) ?? '', 'base64url').toString()) as object;
    const atStart = provider.requests.length;
    for (const [what, answer] of Object.entries({
      'no cookie': await client.return(url, { cookie: '' }),
      'the cookie of another browser': await client.return(url, two),
      'two cookies': await client.return(url, { cookie: `${one.cookie}; ${two.cookie}` }),
      'a changed cookie': await client.return(url, {
        cookie: `kr_o=${base64({ ...forged, returnTo: 'https://evil.example' })}.${mac}`,
      }),
      'a cookie without MAC': await client.return(url, { cookie: content ?? '' }),
      'another state': await client.return(changed('state', 'a'.repeat(43)), one),
      'a state of other bytes': await client.return(changed('state', 'ä'.repeat(43)), one),
      'no state': await client.return(changed('state', null), one),
    }))
      assert.deepEqual([answer.status, titleOf(answer)], [400, expired], what);
    assert.equal(provider.requests.length, atStart, 'none of them reached the provider');
    const answers = await Promise.all(Array.from({ length: 16 }, () => whenAvailable(() => client.return(url, one))));
    assert.equal(answers.filter(({ status }) => status === 303).length, 1);
    assert.equal(provider.requests.filter((path) => path === '/token').length, 1);
    app.clock.advance({ seconds: limits.singleSignOnSeconds + 1 });
    assert.equal(titleOf(await other.return(provider.authorize(two.location), two)), expired);
  },
);

test('a code of another sign-in is rejected', async () => {
  await using both = await newAppWithProvider();
  const [thief, client] = [new SingleSignOnClient(both), new SingleSignOnClient(both)];
  const stolen = both.provider.authorize((await client.start()).location).searchParams.get('code') ?? '';
  const own = await thief.start();
  const url = both.provider.authorize(own.location);
  url.searchParams.set('code', stolen);
  const answer = await thief.return(url, own);
  assert.deepEqual([answer.status, titleOf(answer), thief.cookie], [401, rejected, undefined]);
});

test('a response of another provider, or without an issuer, is rejected', { tags: ['asvs:10.2.2'] }, async () => {
  await using both = await newAppWithProvider();
  await using evil = await newOpenIdProvider();
  for (const iss of [evil.issuer, null]) {
    const client = new SingleSignOnClient(both);
    const started = await client.start();
    const url = both.provider.authorize(started.location);
    if (iss === null) url.searchParams.delete('iss');
    else url.searchParams.set('iss', iss);
    assert.equal(titleOf(await client.return(url, started)), rejected, String(iss));
  }
  assert.equal(both.provider.requests.includes('/token'), false);
});

test('an error of the provider is shown as text', { tags: ['asvs:1.2.1'] }, async () => {
  await using both = await newAppWithProvider();
  const client = new SingleSignOnClient(both);
  const started = await client.start();
  const url = both.provider.authorize(started.location);
  url.searchParams.delete('code');
  url.searchParams.set('error', '<img src=x onerror=alert(1)>\u202e');
  const answer = await client.return(url, started, 'de');
  assert.equal(answer.status, 401);
  assert.equal(answer.headers.get('content-language'), 'de');
  assert.match(answer.text, /Der Identitätsanbieter hat Sie nicht angemeldet/);
  assert.ok(answer.text.includes('&lt;img src=x onerror=alert(1)&gt;<'));
  assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/);
});

test('a hostile subject is shown as text, and quoted in the command', async () => {
  await using both = await newAppWithProvider();
  both.provider.person = { ...ada, sub: `'; <script>`, email_verified: false };
  const { text } = await new SingleSignOnClient(both).singleSignOn();
  assert.ok(text.includes(String.raw`link-sso &lt;email&gt; ''\''; &lt;script&gt;'`), text);
});

test('a subject that begins like an option is an argument of the command', async () => {
  await using both = await newAppWithProvider();
  both.provider.person = { ...ada, sub: '--help', email_verified: false };
  const { text } = await new SingleSignOnClient(both).singleSignOn();
  assert.ok(text.includes('link-sso &lt;email&gt; -- --help<'), text);
});

test('only a request of the console starts a sign-in, and only pages of the console follow it', async () => {
  await using both = await newAppWithProvider();
  const client = new SingleSignOnClient(both);
  const start = (json: object, headers = {}) => client.call('POST', '/sso/start', { json, headers });
  assert.equal(problemCode(await start({}, { 'sec-fetch-site': 'cross-site' })), 'cross_origin_request');
  assert.equal(problemCode(await start({}, { origin: 'https://evil.example' })), 'cross_origin_request');
  for (const returnTo of [
    'https://evil.example',
    '//evil.example',
    '/console//evil.example',
    '/consolex',
    '/console/../x',
    '/console?x',
  ])
    assert.equal(problemCode(await start({ returnTo })), 'invalid_request', returnTo);
});

test('a failure of the provider is a 503 with a page, and the next sign-in succeeds', async () => {
  await using both = await newAppWithProvider();
  const { provider } = both;
  const client = new SingleSignOnClient(both);
  const fails: Readonly<Record<string, OpenIdProvider['intercept']>> = {
    'a server error': (_, response) => Boolean(response.writeHead(500).end()),
    'a closed connection': (_, response) => Boolean(response.destroy()),
    'a redirect': (_, response) => Boolean(response.writeHead(302, { location: `${provider.issuer}/jwks` }).end()),
    'a large response': (_, response) =>
      Boolean(response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(300_000))),
    'a rejected client': (_, response) =>
      Boolean(response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}')),
  };
  await client.start();
  for (const [what, fail] of Object.entries(fails)) {
    provider.intercept = (path, response) => path === '/token' && fail(path, response);
    const answer = await client.singleSignOn();
    if (what === 'a redirect') assert.equal(titleOf(answer), rejected);
    else assert.deepEqual([answer.status, titleOf(answer)], [503, 'The identity provider cannot be used'], what);
  }
  provider.intercept = () => false;
  assert.equal((await client.singleSignOn()).status, 303);
});

test('a provider that states another issuer, or insecure URLs, is not used', { tags: ['asvs:10.5.3'] }, async () => {
  for (const metadata of [
    { issuer: 'https://other.example' },
    { token_endpoint: 'http://192.0.2.1/token', jwks_uri: 'http://192.0.2.1/jwks' },
  ]) {
    await using both = await newAppWithProvider();
    both.provider.metadata = metadata;
    const client = new SingleSignOnClient(both);
    const answer = await client.call('POST', '/sso/start', { json: {} });
    if (answer.status === 200) assert.equal((await client.singleSignOn()).status, 503);
    else assert.equal(problemCode(answer), 'identity_provider_unavailable');
  }
});

test('failed sign-ins count in the limits of client IP ranges', { tags: ['asvs:6.3.1'] }, async () => {
  await using both = await newAppWithProvider({
    environment: { KEYREEVE_SIGN_IN_RANGE_LIMITS: '127.0.0.0/8=3' },
  });
  const client = new SingleSignOnClient(both);
  both.provider.claims = (claims) => ({ ...claims, nonce: 'other' });
  for (let n = 0; n < 3; n++) assert.equal((await client.singleSignOn()).status, 401);
  const tokens = both.provider.requests.filter((path) => path === '/token').length;
  const limited = await client.singleSignOn();
  assert.deepEqual([limited.status, titleOf(limited)], [429, 'Too many failed sign-ins']);
  assert.ok(limited.headers.has('retry-after'));
  assert.equal(both.provider.requests.filter((path) => path === '/token').length, tokens);
});

test('a code that the provider rejects with any error counts as a failed sign-in', async () => {
  await using both = await newAppWithProvider({ environment: { KEYREEVE_SIGN_IN_RANGE_LIMITS: '127.0.0.0/8=3' } });
  const client = new SingleSignOnClient(both);
  both.provider.intercept = (path, response) =>
    path === '/token' &&
    Boolean(response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_request"}'));
  for (let n = 0; n < 3; n++) assert.equal((await client.singleSignOn()).status, 401);
  assert.equal((await client.singleSignOn()).status, 429);
});

test('while the public keys of the provider cannot be read, logout tokens cause one request in seconds', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  provider.intercept = (path, response) => path === '/jwks' && Boolean(response.writeHead(500).end());
  const logout = async (): Promise<string> => provider.logoutToken({ sub: ada.sub }, app.clock.now());
  assert.equal((await new SingleSignOnClient(both).logout(await logout())).status, 503);

  const configured = app.service.services.singleSignOn?.provider ?? assert.fail();
  let nowMs = 1_000;
  const tokens = new LogoutTokens(configured, app.clock, () => nowMs);
  const requestsFor = async (count: number): Promise<number> => {
    const before = provider.requests.length;
    for (let n = 0; n < count; n++)
      await assert.rejects(tokens.verify(await logout()), { code: 'identity_provider_unavailable' });
    return provider.requests.slice(before).filter((path) => path === '/jwks').length;
  };
  assert.equal(await requestsFor(5), 1);
  nowMs += limits.identityProviderRetrySeconds * 1_000 - 1;
  assert.equal(await requestsFor(5), 0);
  nowMs += 1;
  assert.equal(await requestsFor(5), 1);
});

test(
  'a logout token ends the sessions of its session or person, on every instance',
  { tags: ['asvs:10.5.5', 'asvs:7.6.1'] },
  async () => {
    await using both = await newAppWithProvider();
    const { app, provider } = both;
    const now = app.clock.now();
    const signIn = async (person: typeof ada): Promise<SingleSignOnClient> => {
      provider.person = person;
      const client = new SingleSignOnClient(both);
      assert.equal((await client.singleSignOn()).status, 303);
      return client;
    };
    const [first, second] = [await signIn(ada), await signIn({ ...ada, sid: 'provider-session-2' })];
    const bob = await signIn({ ...ada, sub: 'person-2', email: 'bob@example.com', sid: undefined });
    const valid = (): Promise<boolean[]> => Promise.all([first, second, bob].map((client) => client.isSignedIn()));
    const bySid = await provider.logoutToken({ sid: 'provider-session-1' }, now);
    const { status, headers } = await first.logout(bySid);
    assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store']);
    assert.deepEqual(await valid(), [false, true, true]);
    // A session whose sid is not known ends with each session of the person.
    assert.equal((await bob.logout(await provider.logoutToken({ sub: 'person-2', sid: 'any' }, now))).status, 200);
    assert.deepEqual(await valid(), [false, true, false]);
    assert.equal(
      (await first.logout(await provider.logoutToken({ sub: 'person-2', sid: 'provider-session-2' }, now))).status,
      200,
    );
    assert.deepEqual(await valid(), [false, true, false]);
    const bySub = await provider.logoutToken({ sub: ada.sub }, now);
    assert.equal((await first.logout(bySub)).status, 200);
    assert.deepEqual(await valid(), [false, false, false]);
    // A copy of a token ends no later session.
    const later = await signIn(ada);
    assert.equal((await later.logout(bySub)).status, 200);
    assert.equal(await later.isSignedIn(), true);
  },
);

test('a logout token that is not valid ends no session', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  const client = new SingleSignOnClient(both);
  await client.singleSignOn();
  const now = app.clock.now();
  const seconds = Math.floor(now / 1000);
  const good = { sub: ada.sub };
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const other = await generateKeyPair('ES256', { extractable: true });
  const claims = { iss: provider.issuer, aud: 'keyreeve', iat: seconds, exp: seconds + 60, jti: 'x', events, ...good };
  const tokens: Readonly<Record<string, string>> = {
    'no JWT': 'a.b.c',
    'an ID token': await provider.jwt({ ...good, nonce: 'n' }, { at: now }),
    'no event': await provider.logoutToken({ ...good, events: {} }, now),
    'a nonce': await provider.logoutToken({ ...good, nonce: 'n' }, now),
    'neither sub nor sid': await provider.logoutToken({}, now),
    'a sub that is no text': await provider.logoutToken({ sub: 7 as unknown as string }, now),
    'no jti': await provider.jwt({ ...good, events }, { typ: 'logout+jwt', at: now }),
    'another audience': await provider.logoutToken({ ...good, aud: 'other' }, now),
    'another issuer': await provider.logoutToken({ ...good, iss: 'https://evil.example' }, now),
    'an old token': await provider.logoutToken({ ...good, exp: seconds + 60 }, now - 600_000),
    'a future token': await provider.logoutToken(good, now + 600_000),
    'no type of a logout token': await provider.jwt({ ...good, jti: 'x', events }, { at: now }),
    'another type': await provider.jwt({ ...good, jti: 'x', events }, { typ: 'at+jwt', at: now }),
    'the algorithm none': `${unsigned(provider, 'none', claims)}.`,
    'a MAC': ((text) => `${text}.${createHmac('sha256', clientSecret).update(text).digest('base64url')}`)(
      unsigned(provider, 'HS256', claims),
    ),
    'another key': await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(other.privateKey),
    'a key in the header': await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', jwk: await exportJWK(other.publicKey) })
      .sign(other.privateKey),
  };
  for (const [what, token] of Object.entries(tokens)) {
    const answer = await client.logout(token);
    assert.deepEqual([answer.status, (answer.json as { error: string }).error], [400, 'invalid_request'], what);
  }
  assert.equal(await client.isSignedIn(), true);
  provider.intercept = (path, response) => path === '/jwks' && Boolean(response.writeHead(500).end());
  await using second = await newAppWithProvider();
  second.provider.intercept = provider.intercept;
  const unavailable = await new SingleSignOnClient(second).logout(await second.provider.logoutToken(good, now));
  assert.equal(problemCode(unavailable), 'identity_provider_unavailable');
});
