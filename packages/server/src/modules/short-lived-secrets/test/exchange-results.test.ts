/** The results of exchanges, as metrics count them. */
import assert from 'node:assert/strict';
import { clientCredentialsGrant, jwtBearerGrant } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { exchangeSubjectToken, newTrustedKey, postForm, type TrustedKey } from '../../../../test-kit/trusted-key.ts';

/** Every count that is not 0. */
function countsOf({ app }: TrustedKey): Record<string, number> {
  const { exchangeResults, identityTokens, keySets } = app.service.services;
  const all = { ...exchangeResults.counts, signatures: identityTokens.counts, fetches: keySets.counts };
  const named = Object.entries(all).flatMap(([of, counts]) =>
    Object.entries(counts).map(([result, count]) => [`${of} ${result}`, count] as const),
  );
  return Object.fromEntries(named.filter(([, count]) => count > 0));
}

test('each exchange is counted once, by its grant and result', async () => {
  await using at = await newTrustedKey({ claims: { repository_id: '4711', ref: 'refs/heads/main' } });
  const { app, keyId, token } = at;
  const grant_type = clientCredentialsGrant;
  const { id, key } = (await at.send('POST', '/auth/api-keys', { nickname: 'secret' })).json as {
    id: number;
    key: string;
  };
  const client = { grant_type, client_id: String(id), client_secret: key };
  const used = token();
  const statuses = [];
  for (const exchange of [
    () => at.exchange(used),
    () => at.exchange(used),
    () => at.exchange(token({ claims: { ref: 'refs/heads/other' } })),
    () => at.exchange(token({ signer: { ...newIssuerKey('ES256'), kid: at.issuer.keys[0]?.kid ?? '' } })),
    () => at.exchange(token({ audience: 'https://other.example.com' })),
    () => at.exchange('a.b.c'),
    () => exchangeSubjectToken(app, keyId, token()),
    () => exchangeSubjectToken(app, keyId + 1, token()),
    () => postForm(app, { grant_type: jwtBearerGrant, assertion: 'a.b.c' }),
    () => postForm(app, client),
    () => postForm(app, { ...client, client_secret: `${key}0` }),
    // Of no grant, and without a token: not counted.
    () => postForm(app, { ...client, grant_type: 'password' }),
    () => postForm(app, { grant_type: jwtBearerGrant, client_id: String(keyId) }),
  ])
    statuses.push((await exchange()).status);
  assert.deepEqual(statuses, [200, 400, 400, 400, 400, 400, 200, 400, 400, 200, 401, 400, 400]);
  assert.deepEqual(countsOf(at), {
    'public_key format': 1,
    'jwt_bearer accepted': 1,
    'jwt_bearer used': 1,
    'jwt_bearer claims': 1,
    'jwt_bearer token': 1,
    'jwt_bearer audience': 1,
    'jwt_bearer format': 1,
    'token_exchange accepted': 1,
    'token_exchange key_unknown': 1,
    'client_credentials accepted': 1,
    'client_credentials malformed': 1,
    // Of the used token twice.
    'signatures valid': 4,
    'signatures invalid': 1,
    'fetches fetched': 1,
  });
});

test('exchanges fail while no JWK set can be fetched', async () => {
  await using at = await newTrustedKey();
  at.issuer.setFault('jwks', 'unavailable');
  const answers = [await at.exchange(), await exchangeSubjectToken(at.app, at.keyId, at.token())];
  assert.deepEqual(
    answers.map(({ status }) => status),
    [503, 503],
  );
  // After a failed fetch, there is no other one for seconds.
  assert.deepEqual(countsOf(at), { 'jwt_bearer failed': 1, 'token_exchange failed': 1, 'fetches failed': 1 });
});
