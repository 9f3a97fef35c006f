/** What searches of administrators read, at any number of keys. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { addAccount } from '../../../../test-kit/rows.ts';
import { findAfter, findHinted, findNamed, indexNames } from '../name-store.ts';
import { listOwnedKeys } from '../owned-key-store.ts';
import { findOwnedKeys } from '../owned-keys.ts';

const columns = 'lookup, key_hash, id, account_pk, nickname, scopes, created_at, updated_at, hint, folded';
const insertMany = sql('test_insert_keys_by_number', {
  sqlite: `insert into api_keys (${columns})
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < $1)
    select n, cast(x'01' || randomblob(32) as blob), n, (select max(pk) from accounts), 'Worker ' || n, '', 1, 1,
      'krv_…' || printf('%04x', n % 65536), 'worker ' || n from numbers`,
  postgres: `insert into api_keys (${columns})
    select n, decode('01' || md5(n::text) || md5(n::text), 'hex'), n, (select max(pk) from accounts), 'Worker ' || n, '', 1, 1,
      'krv_…' || lpad(to_hex(n % 65536), 4, '0'), 'worker ' || n from generate_series(1, $1::bigint) n`,
});
// One build of the index takes less time than a million inserts.
const dropNames = sql('test_drop_names_index', { sqlite: 'select 1', postgres: 'drop index api_keys_names' });
const createNames = sql('test_create_names_index', {
  sqlite: 'select 1',
  postgres: 'create index api_keys_names on api_keys using gin (key_name_trigrams(folded))',
});
const analyze = sql('test_analyze_keys', 'analyze api_keys');

async function insertNumbered(db: Db, count: number): Promise<void> {
  await addAccount(db, 'ada');
  await db.transaction(
    async (tx) => {
      await tx.all(dropNames);
      await tx.run(insertMany, [count]);
      await tx.all(createNames);
      await tx.run(analyze);
    },
    { isLong: true },
  );
  while (await indexNames(db));
}

const noFilter = {
  hintEnd: '',
  accountId: '',
  scope: '',
  unusedSince: Number.MAX_SAFE_INTEGER,
  expiresBefore: null,
} as const;

/** Inserts so many keys and asserts that each search reads them by an index. */
export async function assertSearchPlans(db: Db, count: number): Promise<void> {
  await insertNumbered(db, count);
  const rare = `KER ${count}`;
  const { rows, nextCursor } = await findOwnedKeys(db, { nickname: rare });
  assert.deepEqual([rows.map(({ id }) => id), nextCursor], [[count], null]);
  const end = (count % 65_536).toString(16).padStart(4, '0');
  const hinted = await findOwnedKeys(db, { hint: end, limit: '100' });
  assert.deepEqual(hinted.rows.map(({ id }) => id).at(-1), count);
  const page = await findOwnedKeys(db, { nickname: 'worker', limit: '100' });
  assert.deepEqual([page.rows.length, page.rows.at(-1)?.id], [100, 100]);

  const plans = {
    after: await planOf(db, (reader) => findAfter(reader, '', 5, 100)),
    named: await planOf(db, (reader) => findNamed(reader, rare.toLowerCase(), 5, 100)),
    hinted: await planOf(db, (reader) => findHinted(reader, end, 5, 100)),
    hintedByPart: await planOf(db, (reader) => findHinted(reader, end.slice(1), 5, 100)),
    listed: await planOf(db, (reader) =>
      listOwnedKeys(
        Object.assign(reader, { usage: db.usage }),
        [1, 2, 3],
        { ...noFilter, nicknamePart: 'worker' },
        100,
      ),
    ),
  };
  const expected = {
    sqlite: {
      after: [/SEARCH api_keys USING COVERING INDEX sqlite_autoindex_api_keys_1 \(id>\?\)/],
      named: [/SCAN api_key_names VIRTUAL TABLE/, /api_key_names_queue USING INTEGER PRIMARY KEY/],
      hinted: [/api_keys_hint \(<expr>=\? AND id>\?\)/],
      hintedByPart: [/api_keys_hint \(<expr>>\? AND <expr><\?\)/],
      listed: [/SEARCH k USING INDEX sqlite_autoindex_api_keys_1 \(id=\?\)/],
    },
    postgres: {
      after: [/Index Only Scan using api_keys_id_key|Index Scan using api_keys_id_key/],
      named: [/Bitmap Index Scan on api_keys_names/],
      hinted: [/api_keys_hint/],
      hintedByPart: [/api_keys_hint/],
      listed: [/api_keys_id_key/],
    },
  } as const;
  for (const [name, patterns] of Object.entries(expected[db.dialect]))
    for (const pattern of patterns) assert.match(plans[name as keyof typeof plans], pattern, name);
  for (const [name, plan] of Object.entries(plans)) {
    assert.doesNotMatch(plan, /SCAN (?:k|api_keys)\b|Seq Scan on api_keys/, name);
    // The order is that of an index, so the read ends with the page. PostgreSQL may sort the few keys with a hint.
    if (name === 'after' || (name === 'hinted' && db.dialect === 'sqlite'))
      assert.doesNotMatch(plan, /TEMP B-TREE|Sort/, name);
  }
  assert.ok(limits.adminRowsPerPageMax < count);
}
