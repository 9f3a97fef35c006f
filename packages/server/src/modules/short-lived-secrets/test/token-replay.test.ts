/** How often an identity token is accepted, and how many secrets a key with a trust has. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { addIssuer } from '../../../../test-kit/issuers.ts';
import { type Answered } from '../../../../test-kit/new-app.ts';
import { newTrustedKey, oauthErrorOf, secretOf, type TrustedKey } from '../../../../test-kit/trusted-key.ts';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import { recordRestoreTx } from '../../../foundation/database/installation.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { insertBoundedShortLivedTx } from '../store.ts';

const parallel = 50;

const statusesOf = async (answers: readonly Promise<Answered>[]): Promise<number[]> =>
  (await Promise.all(answers)).map(({ status }) => status).toSorted((one, other) => one - other);

const countSecrets = sql<{ count: number }>('test_count_secrets', 'select count(*) as count from short_lived_secrets');
const secretsIn = async ({ app }: TrustedKey): Promise<number> => (await app.db.get(countSecrets))?.count ?? 0;

testOnBoth(`of ${parallel} exchanges at once of a token that is accepted once, one succeeds`, async () => {
  await using at = await newTrustedKey();
  const token = at.token();
  const statuses = await statusesOf(Array.from({ length: parallel }, () => at.exchange(token)));
  assert.deepEqual(statuses, [200, ...Array.from({ length: parallel - 1 }, () => 400)]);
  assert.equal(await secretsIn(at), 1);
  assert.equal((await at.exchange(token)).status, 400, 'later, a read rejects it');
  assert.deepEqual(
    (await at.tokens()).rejected.map(({ reason }) => reason),
    ['used'],
  );
});

testOnBoth(
  'of exchanges at once of one token by two keys of an issuer that accepts it once, one succeeds',
  async () => {
    await using at = await newTrustedKey();
    const other = await at.addKey({ issuer: at.issuer.url, claims: { repository_id: '4711' } });
    for (let round = 0; round < 4; round++) {
      const token = at.token();
      const answers = [at.keyId, other, at.keyId, other].map((id) => at.exchange(token, id));
      assert.deepEqual(await statusesOf(answers), [200, 400, 400, 400]);
    }
  },
);

testOnBoth(`all of ${parallel} exchanges at once of a token that is accepted until it expires succeed`, async () => {
  await using at = await newTrustedKey({ issuer: { replay: 'until-exp' } });
  const token = at.token();
  const statuses = await statusesOf(Array.from({ length: parallel }, () => at.exchange(token)));
  assert.deepEqual(
    statuses,
    Array.from({ length: parallel }, () => 200),
  );
  assert.equal(await secretsIn(at), parallel);
});

testOnBoth('at the bound of valid secrets, an exchange is refused, and no secret ends', async () => {
  await using at = await newTrustedKey();
  const first = await at.newSecret();
  const now = at.clock.now();
  const { hash } = keyOf(await at.app.db.all(selectKeys), at.keyId);
  const secrets = limits.trustLiveSecretsMax - 1;
  await at.app.db.transaction(async (tx) => {
    for (let index = 0; index < secrets; index++) {
      const own = Buffer.concat([Buffer.of(1), Buffer.alloc(28), Buffer.from(Uint32Array.of(index + 1).buffer)]);
      own.writeUInt32BE(index + 1, 1);
      const row = { hash: own, keyId: at.keyId, issuedBy: lookupOf(hash), now, expiresAt: now + 120_000 };
      assert.ok(await insertBoundedShortLivedTx(tx, row));
    }
  });
  const token = at.token();
  const refused = await at.exchange(token);
  assert.equal(refused.status, 429, refused.text);
  assert.equal(refused.headers.get('retry-after'), '120', 'when the first one ends');
  assert.ok(await at.isAccepted(first));
  at.clock.advance({ seconds: 120 });
  assert.ok(await at.isAccepted(secretOf(await at.exchange(token))), 'the refused token is still unused');
});

test('a key with a trust exchanges at most 1,200 tokens in a minute, and rejected ones do not count', async () => {
  await using at = await newTrustedKey({ issuer: { replay: 'until-exp' } });
  const token = at.token();
  await at.exchange(token);
  await at.app.db.transaction((tx) => tx.run(setCounts, [limits.trustExchangesPerMinuteMax - 1]));
  assert.equal((await at.exchange(at.token({ claims: { repository_id: '1' } }))).status, 400);
  assert.equal((await at.exchange(token)).status, 200);
  const refused = await at.exchange(token);
  assert.equal(oauthErrorOf(refused), 'too_many_exchanges');
  assert.equal(refused.status, 429);
  const { accepted, claims, limited } = at.app.service.services.exchangeResults.counts.jwt_bearer;
  assert.deepEqual([accepted, claims, limited], [2, 1, 1]);
  at.clock.advance({ seconds: 60 });
  assert.equal((await at.exchange(token)).status, 200);
});

testOnBoth('after a restore, a token that was issued before it and is accepted once is rejected', async () => {
  await using at = await newTrustedKey();
  const lasting = await addIssuer(at.app.db, { url: 'https://other.example.com' });
  assert.ok(lasting);
  const before = at.token();
  await at.app.db.transaction((tx) => recordRestoreTx(tx, at.clock.now()));
  assert.equal((await at.exchange(before)).status, 400);
  assert.deepEqual(
    (await at.tokens()).rejected.map(({ reason }) => reason),
    ['restored'],
  );
  at.clock.advance({ seconds: limits.identityTokenSkewSeconds });
  assert.equal((await at.exchange(before)).status, 400);
  assert.equal((await at.exchange()).status, 200);
});

const selectKeys = sql<{ id: number; hash: Uint8Array }>(
  'test_key_hashes',
  'select id, key_hash as hash from api_keys',
);
const setCounts = sql('test_set_counts', 'update rate_limit_buckets set count = $1');

function keyOf(rows: readonly { readonly id: number; readonly hash: Uint8Array }[], id: number): { hash: Buffer } {
  const row = rows.find((one) => one.id === id);
  assert.ok(row);
  return { hash: Buffer.from(row.hash) };
}
