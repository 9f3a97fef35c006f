/** Short-lived secrets of a key with a trust have the limits, the IP ranges and the usage of their key. */
import assert from 'node:assert/strict';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import { newTrustedKey, type TrustedKey } from '../../../../test-kit/trusted-key.ts';

const statusOf = async ({ app }: TrustedKey, secret: string, headers: Record<string, string> = {}): Promise<number> =>
  (await app.call('GET', '/auth/forward', { headers: { ...bearer(secret), ...headers } })).status;

for (const [what, limits] of Object.entries({
  quota: { quota: { limit: 1, per: 'day' } },
  rate: { rate: { limit: 1, windowSeconds: 3_600 } },
}))
  test(`all secrets of a key with a trust share its ${what}, which no exchange spends`, async () => {
    await using at = await newTrustedKey({ creation: { limits } });
    const secrets = [await at.newSecret(), await at.newSecret()];
    const statuses = [];
    for (const secret of secrets) statuses.push(await statusOf(at, secret));
    assert.deepEqual(statuses, [200, 429]);
    await at.newSecret();
  });

test('a secret of a key with a trust is rejected outside of the IP ranges of the key', async () => {
  await using at = await newTrustedKey({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32' } });
  const secret = await at.newSecret();
  const changed = await at.send('PATCH', `/auth/api-keys/${at.keyId}`, { addresses: ['203.0.113.0/24'] });
  assert.equal(changed.status, 200, changed.text);
  assert.equal(await statusOf(at, secret, { 'x-forwarded-for': '203.0.113.7' }), 200);
  assert.equal(await statusOf(at, secret, { 'x-forwarded-for': '198.51.100.1' }), 403);
});

test('verifications of secrets of a key with a trust count as usage of the key', async () => {
  await using at = await newTrustedKey();
  const secrets = [await at.newSecret(), await at.newSecret()];
  for (const secret of secrets) assert.equal(await statusOf(at, secret), 200);
  await at.app.service.services.uses.flush();
  const { apiKeys } = (await at.send('GET', '/auth/api-keys?view=full&usage=7d')).json as {
    apiKeys: { id: number; usage: { accepted: number }; lastUsedAt: string | null }[];
  };
  const key = apiKeys.find(({ id }) => id === at.keyId);
  assert.equal(key?.usage.accepted, 2);
  assert.equal(key.lastUsedAt, new Date(at.clock.now()).toISOString());
});
