/** The last identity tokens of a key with a trust, as its owner, a manager and an administrator see them. */
import assert from 'node:assert/strict';
import { limits, type KeyTokens } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import { newTrustedKey, type TrustedKey } from '../../../../test-kit/trusted-key.ts';
import { operator } from '../../../../test-kit/new-app.ts';

const instantOf = ({ clock }: TrustedKey): string => new Date(clock.now()).toISOString();
const subject = 'repo:octo-org/octo-repo:ref:refs/heads/main';
/** A token that does not match. */
const wrong = (at: TrustedKey, claims: object = {}): string => at.token({ claims: { repository_id: '1', ...claims } });

testOnBoth(
  'the owner sees issuer and subject of accepted tokens, and the claims of ones that did not match',
  async () => {
    await using at = await newTrustedKey();
    assert.deepEqual(await at.tokens(), { accepted: [], rejected: [] });
    const first = instantOf(at);
    await at.newSecret();
    at.clock.advance({ seconds: 1 });
    const second = instantOf(at);
    await at.newSecret(at.token({ claims: { sub: undefined } }));
    const token = wrong(at);
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object;
    assert.equal((await at.exchange(token)).status, 400);
    const issuer = at.issuer.url;
    assert.deepEqual(await at.tokens(), {
      accepted: [
        { at: second, issuer, subject: null },
        { at: first, issuer, subject },
      ],
      rejected: [{ at: second, issuer, subject, reason: 'claims', claims }],
    } satisfies KeyTokens);
    const stored = JSON.stringify(await at.tokens());
    assert.equal(stored.includes(token.split('.')[2] ?? ''), false, 'no token is stored');
  },
);

test('only tokens with a valid signature and audience are recorded', async () => {
  await using at = await newTrustedKey();
  const [first = '', second = ''] = at.token().split('.');
  for (const token of [
    'abc',
    `${first}.${second}.${'A'.repeat(86)}`,
    at.token({ audience: 'https://example.com' }),
    at.token({ claims: { iss: 'https://example.com', repository_id: '1' } }),
    at.token({ claims: { exp: Math.floor(at.clock.now() / 1_000) - 60, repository_id: '1' } }),
  ])
    assert.equal((await at.exchange(token)).status, 400);
  assert.deepEqual((await at.tokens()).rejected, []);
});

testOnBoth('a key shows the last tokens, and a stranger with a token of the issuer causes few writes', async () => {
  await using at = await newTrustedKey();
  const subjectsOf = async (): Promise<(string | null)[]> => (await at.tokens()).rejected.map((one) => one.subject);
  for (let index = 0; index <= limits.keyTokensMax; index++) {
    await at.newSecret(at.token({ claims: { sub: `accepted ${index}` } }));
    await at.exchange(wrong(at, { sub: `rejected ${index}` }));
    at.clock.advance({ seconds: 1 });
  }
  const { accepted } = await at.tokens();
  const last = [5, 4, 3, 2, 1];
  assert.deepEqual(
    accepted.map((one) => one.subject),
    last.map((index) => `accepted ${index}`),
  );
  assert.deepEqual(
    await subjectsOf(),
    [4, 3, 2, 1, 0].map((index) => `rejected ${index}`),
    'the sixth replaces none of the last seconds',
  );
  at.clock.advance({ seconds: limits.rejectedTokenSeconds });
  await at.exchange(wrong(at, { sub: 'rejected 6' }));
  assert.deepEqual(
    await subjectsOf(),
    ['rejected 6', ...[4, 3, 2, 1].map((index) => `rejected ${index}`)],
    'it replaces the oldest one',
  );
  await at.exchange(wrong(at, { sub: 'rejected 3' }));
  assert.deepEqual(
    await subjectsOf(),
    ['rejected 3', 'rejected 6', 'rejected 4', 'rejected 2', 'rejected 1'],
    'a workload replaces its own token',
  );
});

test('of a token with many claims, only those that the trust names are shown, as far as they fit', async () => {
  await using at = await newTrustedKey({ claims: { repository_id: '4711', ref: 'refs/heads/main' } });
  const padding = 'ä'.repeat(limits.rejectedTokenBytesMax / 2);
  await at.exchange(wrong(at, { padding }));
  const [first] = (await at.tokens()).rejected;
  assert.deepEqual(first?.claims, { '/ref': 'refs/heads/main', '/repository_id': '1' });
  at.clock.advance({ seconds: limits.rejectedTokenSeconds });
  await at.exchange(wrong(at, { ref: padding }));
  assert.deepEqual((await at.tokens()).rejected[0]?.claims, { '/repository_id': '1' });
});

test('only the owner of a key, its managers and administrators see its tokens', async () => {
  await using at = await newTrustedKey();
  const { app, keyId } = at;
  await at.newSecret();
  const stranger = await app.signIn('stranger@example.com');
  const get = (path: string, accessToken: string) => app.call('GET', path, { headers: bearer(accessToken) });
  assert.equal((await get(`/auth/api-keys/${keyId}/tokens`, stranger.accessToken)).status, 401);
  const adminPath = `/admin/accounts/${at.user.account.id}/api-keys/${keyId}/tokens`;
  assert.equal((await app.call('GET', adminPath, { headers: bearer(stranger.accessToken) })).status, 403);
  await app.service.services.accounts.setRole(operator, stranger.account.id, 'admin');
  const shown = await app.call('GET', adminPath, { headers: bearer(stranger.accessToken) });
  assert.deepEqual(shown.json, await at.tokens());
});
