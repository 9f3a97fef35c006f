/** The table of usage, whose primary key has several columns, in a backup. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { sql } from '../../../foundation/database/sql.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { databaseKinds, databases } from '../../../../test-kit/new-db.ts';
import { test } from 'node:test';
import { backUp, restore } from './backup-kit.ts';
import { contentsOf, fill } from './whole-installation.ts';

const insertUsage = sql(
  'test_insert_usage',
  `with recursive n (n) as (select 0 union all select n + 1 from n where n < 799)
   insert into key_usage (step, at, key_id, accepted, refused)
   select case when n % 2 = 0 then 'hour' else 'day' end, 1000 * (n % 3), n, n, 0 from n`,
);

for (const from of databaseKinds) {
  for (const to of databaseKinds) {
    test(`usage that needs several pages is restored completely (${from} to ${to})`, async () => {
      using temp = newTempFolder();
      await using source = await databases[from]!();
      await using target = await databases[to]!();
      await fill(source.db);
      await source.db.usage.transaction((tx) => tx.run(insertUsage));
      const path = join(temp.path, 'backup');
      const { key_usage: count } = await backUp(source.db, path);
      assert.equal(count, 801);
      await restore(target.db, path, { acceptsRevival: true });
      const [expected, found] = await Promise.all([contentsOf(source.db), contentsOf(target.db)]);
      assert.deepEqual(found['key_usage'], expected['key_usage']);
    });
  }
}
