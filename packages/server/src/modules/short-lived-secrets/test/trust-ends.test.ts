/** Changes that end the short-lived secrets of a key with a trust: of the key, of the trust and of the issuer. */
import assert from 'node:assert/strict';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { addIssuer } from '../../../../test-kit/issuers.ts';
import { newTrustedKey, type TrustedKey } from '../../../../test-kit/trusted-key.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { findIssuer, removeIssuerTx, updateIssuerTx } from '../../issuers/store.ts';

const trustOf = ({ issuer }: TrustedKey, claims: object = { repository_id: '4711' }) => ({
  issuer: issuer.url,
  claims,
});

async function narrow({ app, issuerId, clock }: TrustedKey): Promise<void> {
  const row = await findIssuer(app.db, issuerId);
  assert.ok(row);
  await app.db.transaction((tx) => updateIssuerTx(tx, { ...row, version: row.version + 1, updatedAt: clock.now() }));
}

for (const [what, change] of Object.entries<(at: TrustedKey) => Promise<unknown>>({
  'the deletion of the key': (at) => at.send('DELETE', `/auth/api-keys/${at.keyId}`),
  'disabling the key': (at) => at.send('PATCH', `/auth/api-keys/${at.keyId}`, { disabled: true }),
  'a narrower trust without an overlap': (at) =>
    at.send('POST', `/auth/api-keys/${at.keyId}/rotate`, {
      trust: trustOf(at, { repository_id: '4711', ref: 'refs/heads/main' }),
      overlapSeconds: 0,
    }),
  'the removal of the issuer': (at) => at.app.db.transaction((tx) => removeIssuerTx(tx, at.issuerId)),
  'an issuer that accepts fewer tokens': narrow,
}))
  testOnBoth(`${what} ends the secrets that were issued for identity tokens`, async () => {
    await using at = await newTrustedKey();
    const secret = await at.newSecret();
    const { id: otherId } = (await at.send('POST', '/auth/api-keys', { nickname: 'other' })).json as { id: number };
    assert.ok(otherId);
    assert.ok(await at.isAccepted(secret));
    await change(at);
    assert.equal(await at.isAccepted(secret), false);
  });

testOnBoth('the previous trust issues secrets until its overlap ends, and they end with it', async () => {
  await using at = await newTrustedKey();
  const before = await at.newSecret();
  const rotation = { trust: trustOf(at, { repository_id: '7' }), overlapSeconds: 120 };
  assert.equal((await at.send('POST', `/auth/api-keys/${at.keyId}/rotate`, rotation)).status, 200);
  assert.ok(await at.isAccepted(before));
  const current = await at.newSecret(at.token({ claims: { repository_id: '7' } }));
  const answer = await at.exchange();
  assert.equal((answer.json as { expires_in: number }).expires_in, 120, 'the overlap ends earlier than the token');
  assert.equal((await at.send('DELETE', `/auth/api-keys/${at.keyId}/previous`)).status, 200);
  assert.deepEqual([await at.isAccepted(before), await at.isAccepted(current)], [false, true]);
  assert.equal((await at.exchange()).status, 400);
});

test('after the end of the overlap, the previous trust issues nothing', async () => {
  await using at = await newTrustedKey();
  const rotation = { trust: trustOf(at, { repository_id: '7' }), overlapSeconds: 60 };
  assert.equal((await at.send('POST', `/auth/api-keys/${at.keyId}/rotate`, rotation)).status, 200);
  at.clock.advance({ seconds: 60 });
  assert.equal((await at.exchange()).status, 400);
  assert.equal((await at.exchange(at.token({ claims: { repository_id: '7' } }))).status, 200);
});

test('during an overlap, each of two trusts has the issuer that it was created with', async () => {
  await using at = await newTrustedKey();
  await at.app.db.transaction((tx) => removeIssuerTx(tx, at.issuerId));
  assert.equal((await at.exchange()).status, 400, 'the issuer is gone');
  await addIssuer(at.app.db, { url: at.issuer.url, preset: 'github', algorithms: ['ES256'] });
  assert.equal((await at.exchange()).status, 400, 'an issuer that is added again does not revive the trust');
  const rotation = { trust: trustOf(at), overlapSeconds: 60 };
  assert.equal((await at.send('POST', `/auth/api-keys/${at.keyId}/rotate`, rotation)).status, 200);
  const secret = await at.newSecret();
  assert.equal((await at.send('DELETE', `/auth/api-keys/${at.keyId}/previous`)).status, 200);
  assert.ok(await at.isAccepted(secret), 'the current trust issued it');
});

testOnBoth('a change between the reads and the insertion issues no secret', async () => {
  for (const change of [
    narrow,
    (at: TrustedKey) => at.app.db.transaction((tx) => removeIssuerTx(tx, at.issuerId)),
    (at: TrustedKey) => at.app.db.transaction((tx) => tx.run(replaceTrust, [at.keyId])),
  ]) {
    await using at = await newTrustedKey();
    // The JWK set is fetched after the read of the key and the issuer.
    at.issuer.setFault('jwks', 'held');
    const exchanged = at.exchange();
    await at.issuer.untilRequests(2);
    await change(at);
    at.issuer.setFault('jwks', undefined);
    assert.equal((await exchanged).status, 400);
    assert.equal((await at.app.db.get(countSecrets))?.count, 0);
  }
});

const replaceTrust = sql('test_replace_trust', 'update api_keys set lookup = lookup + 1 where id = $1');
const countSecrets = sql<{ count: number }>('test_count_secrets', 'select count(*) as count from short_lived_secrets');
