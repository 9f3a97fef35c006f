/** A table of identity tokens that the exchange must refuse: each differs in one respect from an accepted one. */
import assert from 'node:assert/strict';
import { jwtBearerGrant } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newIdentityIssuer, newIssuerKey, type IssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { bearer, newApp, operator, type Answered } from '../../../../test-kit/new-app.ts';
import { refusedTokens } from '../../../../test-kit/refused-identity-tokens.ts';

/** Two issuers with two keys each, and a key that trusts the first one. */
async function fixture() {
  // The time of the machine: on PostgreSQL, the time of the database counts too.
  const clock = new FakeClock(Math.floor(Date.now() / 1_000) * 1_000);
  const keysOf = (): IssuerKey[] => [newIssuerKey('RS256'), newIssuerKey('ES256')];
  const issuer = await newIdentityIssuer({ keys: keysOf(), clock });
  const other = await newIdentityIssuer({ keys: keysOf(), clock });
  const targets = [issuer, other].map(({ environment }) => environment.KEYREEVE_ISSUER_TARGETS).join(',');
  const app = await newApp({ clock, environment: { ...issuer.environment, KEYREEVE_ISSUER_TARGETS: targets } });
  const audience = app.service.publicUrl;
  for (const one of [issuer, other]) {
    one.audience = audience;
    await app.service.services.issuers.add(operator, null, {
      url: one.url,
      preset: 'github',
      algorithms: ['RS256', 'ES256'],
    });
  }
  const { accessToken } = await app.signIn();
  const trust = { issuer: issuer.url, claims: { repository_id: '4711' } };
  const json = { nickname: 'deploy', trust };
  const created = await app.call('POST', '/auth/api-keys/public', { headers: bearer(accessToken), json });
  assert.equal(created.status, 201, created.text);
  const { id } = created.json as { id: number };
  const exchange = (assertion: string): Promise<Answered> =>
    app.call('POST', '/auth/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: jwtBearerGrant, client_id: String(id), assertion }).toString(),
    });
  return {
    app,
    issuer,
    other,
    audience,
    exchange,
    now: clock.now(),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await issuer[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

test('a token that differs in one respect from an accepted one is refused, with the same response', async () => {
  await using at = await fixture();
  const { issuer, other } = at;
  for (const signer of issuer.keys) {
    const accepted = await at.exchange(issuer.token('github', { signer }));
    assert.equal(accepted.status, 200, `${signer.alg}: ${accepted.text}`);
  }
  const table = refusedTokens(at);
  assert.ok(table.length >= 40);
  const responses = new Set<string>();
  for (const [what, token] of table) {
    const { status, text } = await at.exchange(token);
    assert.equal(status, 400, `${what}: ${text}`);
    responses.add(text);
  }
  assert.deepEqual(
    [...responses].map((text) => (JSON.parse(text) as { error: string }).error),
    ['invalid_grant'],
  );
  const again = issuer.token('github');
  assert.equal((await at.exchange(again)).status, 200);
  assert.deepEqual([...responses], [(await at.exchange(again)).text], 'a token that was used');
  assert.deepEqual(
    issuer.requests.toSorted(),
    ['/.well-known/openid-configuration', '/jwks'],
    'no header causes a request',
  );
  assert.deepEqual(other.requests, []);
});
