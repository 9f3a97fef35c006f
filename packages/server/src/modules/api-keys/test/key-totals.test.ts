/** Totals of an account's keys: counted to a bound of the keys that are read, whether they match or not. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { insertKeys } from '../../../../test-kit/many-rows.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { addAccount } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { countKeys } from '../key-list.ts';
import { countListedKeys } from '../list-store.ts';

const analyze = sql('test_analyze_keys', 'analyze api_keys');
const max = limits.countedEntriesMax;
const named = (id: number) => ({ id, nickname: `key ${String(id).padStart(6, '0')}`, createdAt: 1 });

onEachDatabase('a total reads a bounded number of keys, also if few of them match', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  await insertKeys(db, await addAccount(db, 'bob'), [{ id: max * 2, nickname: 'key of bob', createdAt: 1 }]);
  const keys = Array.from({ length: max - 1 }, (_, index) => named(index + 1));
  await insertKeys(db, ada, [...keys, { ...named(max), nickname: 'last' }]);
  const total = (search: string) => countKeys(db, 5, ada, { search });
  assert.deepEqual(await total(''), { count: max, isExact: true });
  assert.deepEqual(await total('last'), { count: 1, isExact: true });
  assert.deepEqual(await total('key 00012'), { count: 10, isExact: true });

  await insertKeys(db, ada, [named(max + 1), named(max + 2)]);
  assert.deepEqual(await total(''), { count: max, isExact: false });
  assert.deepEqual(await total('last'), { count: 0, isExact: false }, 'the last nickname is not read');

  await db.transaction((tx) => tx.run(analyze));
  const filter = {
    accountId: ada,
    nicknamePart: 'last',
    hintEnd: 'last',
    state: '',
    now: 5,
    expiringUntil: 9,
    hidesReserved: false,
  } as const;
  const plan = await planOf(db, (reader) => countListedKeys(reader, filter, 'key 005000', 100));
  const byIndex = {
    sqlite: /SEARCH api_keys USING INDEX sqlite_autoindex_api_keys_\d \(account_pk=\? AND nickname>\?\)/,
    postgres: /Index Scan using api_keys_account_pk_nickname_key/,
  } as const;
  assert.match(plan, byIndex[db.dialect]);
  assert.doesNotMatch(plan, /TEMP B-TREE|Sort/);
});
