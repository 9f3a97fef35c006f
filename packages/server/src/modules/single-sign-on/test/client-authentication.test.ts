/** Single sign-on at providers that accept the credentials of the client in their own ways. */
import assert from 'node:assert/strict';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ada, type AcceptedCredentials, type OpenIdProvider } from '../../../../test-kit/openid-provider.ts';
import { newAppWithProvider, SingleSignOnClient } from '../../../../test-kit/single-sign-on.ts';

const basic = { token_endpoint_auth_methods_supported: ['client_secret_basic'] };
const post = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
const both = { token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'] };
const challenge = { status: 401, error: 'invalid_client', headers: { 'www-authenticate': 'Basic realm="id"' } };

const tokenRequests = ({ requests }: OpenIdProvider): number => requests.filter((path) => path === '/token').length;

for (const [what, metadata, accepted, requests] of [
  ['form-encoded Basic credentials', basic, 'basic', 1],
  ['Basic credentials without form-encoding', basic, 'unencoded basic', 2],
  ['Basic credentials without form-encoding, and states nothing', {}, 'unencoded basic', 2],
  ['credentials in the body', post, 'post', 1],
  ['credentials in the body, and states Basic too', both, 'post', 3],
  ['credentials in the body, and states nothing', {}, 'post', 3],
] as const satisfies readonly (readonly [string, object, AcceptedCredentials, number])[]) {
  for (const rejection of [
    challenge,
    { status: 401, error: 'invalid_client' },
    { status: 400, error: 'invalid_request' },
  ]) {
    test(`a sign-in succeeds at a provider that accepts only ${what} (${rejection.status} ${rejection.error}${'headers' in rejection ? ' with a challenge' : ''})`, async () => {
      await using withProvider = await newAppWithProvider();
      const { provider } = withProvider;
      Object.assign(provider, { metadata, accepted: [accepted], rejection });
      for (let signIn = 1; signIn <= 2; signIn++) {
        const answer = await new SingleSignOnClient(withProvider).singleSignOn();
        assert.equal(answer.status, 303, answer.text);
        // The second sign-in uses the way that succeeded.
        assert.equal(tokenRequests(provider), requests + signIn - 1);
      }
    });
  }
}

test('a provider that states only Basic never receives the secret in the body', async () => {
  await using withProvider = await newAppWithProvider();
  const { provider } = withProvider;
  Object.assign(provider, { metadata: basic, accepted: ['post'] });
  const answer = await new SingleSignOnClient(withProvider).singleSignOn();
  assert.equal(answer.status, 503, answer.text);
  assert.equal(tokenRequests(provider), 2);
});

test('a provider that rejects the client in every way counts as unavailable, with or without a challenge', async () => {
  for (const rejection of [challenge, { status: 401, error: 'invalid_client' }]) {
    await using withProvider = await newAppWithProvider();
    Object.assign(withProvider.provider, { accepted: [], rejection });
    const answer = await new SingleSignOnClient(withProvider).singleSignOn();
    assert.equal(answer.status, 503, answer.text);
  }
});

test('a code that the provider rejects is sent once', async () => {
  await using withProvider = await newAppWithProvider();
  const { provider } = withProvider;
  provider.intercept = (path, response) => {
    if (path !== '/token') return false;
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}');
    return true;
  };
  assert.equal((await new SingleSignOnClient(withProvider).singleSignOn()).status, 401);
  assert.equal(tokenRequests(provider), 1);
});

test('an email address counts as verified if its claim is true, as a boolean or as text', async () => {
  for (const [isVerified, status] of [
    [true, 303],
    ['true', 303],
    ['false', 403],
    ['True', 403],
    ['1', 403],
    [1, 403],
    [['true'], 403],
    [null, 403],
  ] as const) {
    await using withProvider = await newAppWithProvider();
    withProvider.provider.person = { ...ada, email_verified: isVerified };
    const answer = await new SingleSignOnClient(withProvider).singleSignOn();
    assert.equal(answer.status, status, `${JSON.stringify(isVerified)} ${answer.text}`);
  }
});
