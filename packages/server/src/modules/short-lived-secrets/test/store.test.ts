/** The insertion of a short-lived secret checks again what can change after the read of the exchange. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { limits } from '@keyreeve/contract';
import { addAccount, addKey, hashOf, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { aheadMsMax, dayMs } from '../../../foundation/clock.ts';
import { lookupOf } from '../../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { rulesVersion } from '../../../foundation/database/key-rules.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { noIdentity } from '../../api-keys/client-identity.ts';
import { insertBoundedShortLivedTx, insertShortLivedTx } from '../store.ts';

async function newPublicKey(db: Db) {
  const { id: keyId, hash } = await addKey(db, 'acc_ada', randomBytes(6).toString('hex'), {
    identity: { ...noIdentity, publicKey: '{}' },
    hint: null,
  });
  const issuedBy = lookupOf(hash);
  const insert = (assertionId = randomBytes(12).toString('hex')): Promise<boolean> =>
    db.transaction((tx) => {
      const row = { hash: hashOf(`${keyId} ${assertionId}`), keyId, issuedBy, assertionId };
      return insertShortLivedTx(tx, { ...row, now, expiresAt: now + 600_000 });
    });
  return { keyId, issuedBy, insert };
}

const replacement = 'update api_keys set lookup = lookup + 1 where id = $1';
const changes = Object.entries({
  'that needs newer rules': `update api_keys set rules = ${rulesVersion + 1} where id = $1`,
  'that is disabled': `update api_keys set disabled_at = 1 where id = $1`,
  'that has expired': `update api_keys set expires_at = ${now} where id = $1`,
  'whose public key was replaced': replacement,
  'whose account is disabled': `update accounts set disabled_at = 1
     where pk = (select account_pk from api_keys where id = $1)`,
  'that is deleted': `delete from api_keys where id = $1`,
});

for (const [name, change] of changes)
  onEachDatabase(`a key ${name} gets no short-lived secret`, async ({ db }) => {
    await addAccount(db);
    const { keyId, insert } = await newPublicKey(db);
    assert.equal(await insert(), true);
    assert.equal(await db.transaction((tx) => tx.run(sql('test_change', change), [keyId])), 1);
    assert.equal(await insert(), false);
  });

const keepPrevious = sql(
  'test_keep_previous',
  `insert into api_key_secrets (lookup, key_hash, key_id, expires_at) select $2, key_hash, id, $3 from api_keys where id = $1`,
);
onEachDatabase('a previous public key issues short-lived secrets until its overlap ends', async ({ db }) => {
  await addAccount(db);
  for (const [endsAt, expected] of [
    [now + 1, true],
    [now, false],
  ] as const) {
    const { keyId, issuedBy, insert } = await newPublicKey(db);
    await db.transaction(async (tx) => {
      await tx.run(keepPrevious, [keyId, issuedBy, endsAt]);
      await tx.run(sql('test_replace', replacement), [keyId]);
    });
    assert.equal(await insert(), expected);
  }
});

const countLive = sql<{ live: number }>(
  'test_count_live',
  'select count(*) as live from short_lived_secrets where key_id = $1 and expires_at > $2',
);
for (const [name, insertTx, max] of [
  ['with a public key', insertShortLivedTx, limits.shortLivedSecretsMax],
  ['with a trust', insertBoundedShortLivedTx, limits.trustLiveSecretsMax],
] as const)
  onEachDatabase(`secrets of a key ${name} that began while a clock was ahead do not count after`, async ({ db }) => {
    await addAccount(db);
    const { keyId, issuedBy } = await newPublicKey(db);
    const insertAt = (at: number): Promise<boolean> =>
      db.transaction((tx) => {
        const row = { hash: hashOf(randomBytes(6).toString('hex')), keyId, issuedBy };
        return insertTx(tx, { ...row, now: at, expiresAt: at + 600_000 });
      });
    const liveAt = async (at: number): Promise<number | undefined> => (await db.get(countLive, [keyId, at]))?.live;
    for (let n = 1; n < max; n++) await insertAt(now + 30 * dayMs);
    await insertAt(now + aheadMsMax);
    for (const live of [2, 3]) {
      assert.equal(await insertAt(now), true);
      assert.equal(await liveAt(now), live);
    }
    assert.equal(await liveAt(now + 30 * dayMs), 0);
  });
