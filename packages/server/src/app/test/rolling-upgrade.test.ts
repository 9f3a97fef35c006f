/**
 * Release 0.1.0 and this version on one database. The statements are those of release 0.1.0 (`api-keys/store.ts`): it must
 * reject keys whose restrictions it does not know, and its writes must not damage what it does not know.
 */
import assert from 'node:assert/strict';
import { findKeyDetails } from '../../modules/api-keys/change-store.ts';
import { changesIn, NarrowedKeys, since, type Name } from '../../modules/backup/test/narrowed-keys.ts';
import { toLimitsText } from '../../modules/key-limits/definition.ts';
import { lookupOf } from '../../foundation/crypto/keyed-hash.ts';
import type { Db } from '../../foundation/database/db.ts';
import { sql, sqlMany } from '../../foundation/database/sql.ts';
import { onEachDatabase } from '../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, hashOf, now, operator } from '../../../test-kit/rows.ts';

const stateColumns = `k.id, k.scopes, k.expires_at as "expiresAt"`;
const selectState = sqlMany<{ id: number; scopes: string; expiresAt: number | null }>('test_earlier_state', {
  sqlite: `select ${stateColumns} from api_keys k join accounts a on a.pk = k.account_pk
    where k.lookup = $1 and k.key_hash = $2`,
  postgres: `select asked.ordinal, ${stateColumns}
    from unnest($1::bigint[], $2::bytea[]) with ordinality as asked (lookup, key_hash, ordinal)
      join api_keys k on k.lookup = asked.lookup and k.key_hash = asked.key_hash
      join accounts a on a.pk = k.account_pk`,
});
const insertKey = sql(
  'test_earlier_insert',
  `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, expires_at, last_used_at, created_at, updated_at)
   values ($1, $2, $3, 1, $4, $5, $6, null, $7, $7) on conflict (account_pk, nickname) do nothing`,
);
const deleteKey = sql(
  'test_earlier_delete',
  `delete from api_keys where id = $1 and account_pk = (select pk from accounts where id = $2) returning nickname`,
);
const touchKeys = sql('test_earlier_touch', {
  sqlite: `update api_keys set last_used_at = used.at
    from (select cast(key as integer) as id, value as at from json_each($1)) as used
    where api_keys.id = used.id and (last_used_at is null or last_used_at < used.at)`,
  postgres: `update api_keys set last_used_at = used.at
    from (select k.id, (j.value)::bigint as at from json_each_text($1::json) j join api_keys k on k.id = j.key::bigint
      order by k.id for update of k skip locked) as used
    where api_keys.id = used.id and (last_used_at is null or last_used_at < used.at)`,
});
const countSecrets = sql<{ count: number }>(
  'test_count_previous',
  `select count(*) as count from api_key_secrets where key_id = $1`,
);

/** @returns by key: the scopes and the expiry that release 0.1.0 finds for each secret, oldest first */
async function foundByEarlier(db: Db, { secrets }: NarrowedKeys): Promise<Record<Name, string[]>> {
  const entries = [...secrets].map(async ([name, hashes]) => {
    const found = await db.getMany(
      selectState,
      hashes.map((hash) => [lookupOf(hash), hash]),
    );
    const texts = found.map((row) => (row ? [row.scopes, row.expiresAt].filter(Boolean).join(' ') : 'not found'));
    return [name, texts] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<Name, string[]>;
}

onEachDatabase(
  'release 0.1.0 beside this version accepts only current secrets of keys without restrictions',
  async ({ db }) => {
    const made = await NarrowedKeys.create(db);
    await made.narrow(db);
    const found = await foundByEarlier(db, made);
    const states = await made.statesIn(db);
    for (const name of ['disabled', 'addresses', 'locked', 'deleted'] as const)
      assert.deepEqual(found[name], ['not found'], name);
    for (const name of ['kept', 'renamed', 'scopes', 'expiry', 'enabled'] as const)
      assert.deepEqual(found[name], states[name], name);
    assert.deepEqual([states.scopes, states.expiry[0]?.startsWith('a b 1')], [['a'], true]);
    // It rejects previous secrets, also during their overlap: no key is rotated until every instance is upgraded.
    assert.deepEqual(
      [found.overlap, states.overlap],
      [
        ['not found', 'a b'],
        ['a b', 'a b'],
      ],
    );
    assert.deepEqual(found.replaced, ['not found', 'a b']);
    // Without restrictions, it accepts the key again.
    const changes = changesIn(db, since + 1_000);
    await changes.change(operator, 'acc_ada', made.idOf('addresses'), { addresses: null });
    await changes.change(operator, 'acc_ada', made.idOf('disabled'), { disabled: false });
    const again = await foundByEarlier(db, made);
    assert.deepEqual([again.addresses, again.disabled], [['a b'], ['a b']]);
  },
);

onEachDatabase('the writes of release 0.1.0 keep restrictions, metadata and previous secrets', async ({ db }) => {
  const made = await NarrowedKeys.create(db);
  await made.narrow(db);
  const states = await made.statesIn(db);
  const changed = await findKeyDetails(db, made.idOf('addresses'));
  const uses = Object.fromEntries([...made.ids.values()].map((id) => [id, since + 9]));
  await db.transaction((tx) => tx.run(touchKeys, [JSON.stringify(uses)]));
  assert.deepEqual(await made.statesIn(db), states);
  assert.deepEqual({ ...(await findKeyDetails(db, made.idOf('addresses'))) }, { ...changed, lastUsedAt: since + 9 });

  const hash = hashOf('of the earlier program');
  await db.transaction((tx) => tx.run(insertKey, [lookupOf(hash), hash, 77, 'earlier', 'a', null, now]));
  const key = await changesIn(db).change(operator, 'acc_ada', 77, { metadata: { team: 7 }, disabled: true });
  assert.deepEqual([key.hint, key.revision, key.disabledReason], [null, 1, 'administrator']);

  const id = made.idOf('overlap');
  assert.equal((await db.get(countSecrets, [id]))?.count, 1);
  await db.transaction((tx) => tx.run(deleteKey, [id, 'acc_ada']));
  assert.equal((await db.get(countSecrets, [id]))?.count, 0);
  assert.deepEqual((await made.statesIn(db)).overlap, ['not found', 'not found']);
});

onEachDatabase('release 0.1.0 accepts a key with limits, and its writes keep the limits', async ({ db }) => {
  const limits = toLimitsText({ quota: { limit: 1, per: 'day' } });
  const key = await addKey(db, await addAccount(db), 'limited', { limits });
  assert.equal((await db.getMany(selectState, [[lookupOf(key.hash), key.hash]]))[0]?.id, key.id);
  await db.transaction((tx) => tx.run(touchKeys, [JSON.stringify({ [key.id]: since })]));
  const { lastUsedAt, limits: kept } = (await findKeyDetails(db, key.id)) ?? {};
  assert.deepEqual([lastUsedAt, kept], [since, limits]);
});

onEachDatabase(
  'release 0.1.0 finds no key of a further environment, and its writes keep the environment',
  async ({ db }) => {
    const ada = await addAccount(db);
    const live = await addKey(db, ada, 'live');
    const inTest = await addKey(db, ada, 'test', { environment: 'test' });
    const found = await db.getMany(
      selectState,
      [live, inTest].map(({ hash }) => [lookupOf(hash), hash]),
    );
    assert.deepEqual(
      found.map((row) => row?.id),
      [live.id, undefined],
    );
    await db.transaction((tx) => tx.run(touchKeys, [JSON.stringify({ [inTest.id]: since })]));
    const { lastUsedAt, environment } = (await findKeyDetails(db, inTest.id)) ?? {};
    assert.deepEqual([lastUsedAt, environment], [since, 'test']);
  },
);
