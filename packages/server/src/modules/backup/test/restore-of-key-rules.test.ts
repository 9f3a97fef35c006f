/** Restores of keys that need newer rules than the program knew that made the backup. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addKey, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { rulesVersion } from '../../../foundation/database/key-rules.ts';
import { disableBeyondTx } from '../../api-keys/keys-beyond-rules.ts';
import { listAccountKeys } from '../../api-keys/store.ts';
import { backUp, restore } from './backup-kit.ts';

const setRules = sql('test_set_rules', `update api_keys set rules = ${rulesVersion + 1} where nickname <> 'plain'`);

const disable = sql(
  'test_disable_key',
  'update api_keys set disabled_at = $2, disabled_reason = $3 where nickname = $1',
);

const reasonsIn = async (db: Db) =>
  Object.fromEntries((await listAccountKeys(db, 'acc_ada')).map((key) => [key.nickname, key.disabledReason]));

onEachDatabase(
  'a restore disables keys whose restrictions the backup may lack, because its program did not know their rules',
  async ({ db }) => {
    using temp = newTempFolder();
    const path = join(temp.path, 'backup');
    const ada = await addAccount(db);
    for (const nickname of ['plain', 'newer', 'disabled', 'banned']) await addKey(db, ada, nickname);
    await db.transaction(async (tx) => {
      await tx.run(setRules);
      await tx.run(disable, ['disabled', now, 'owner']);
      await tx.run(disable, ['banned', now, 'administrator']);
    });
    await backUp(db, path);
    for (const openTarget of Object.values(databases)) {
      await using target = await openTarget();
      const { replayed } = await restore(target.db, path, { acceptsRevival: true });
      assert.equal(replayed.apiKeysDisabled, 2);
      // Its owner cannot enable what only the backup's restriction would stop.
      const reasons = { plain: null, newer: 'restore', disabled: 'restore', banned: 'administrator' };
      assert.deepEqual(await reasonsIn(target.db), reasons);
      const events = (await listAuditEvents(target.db)).filter(({ action }) => action === 'api_key.disabled');
      assert.deepEqual(
        events.map(({ actor, details }) => [actor, details]),
        Array.from({ length: 2 }, () => ['system', '{"by":"restore","reason":"restore"}']),
      );
    }
  },
);

onEachDatabase('every such key is disabled, however many a statement disables', async ({ db }) => {
  const ada = await addAccount(db);
  for (const nickname of ['a', 'b', 'c', 'plain']) await addKey(db, ada, nickname);
  await db.transaction((tx) => tx.run(setRules));
  assert.equal(await db.transaction((tx) => disableBeyondTx(tx, rulesVersion, now, 2)), 3);
  assert.equal(await db.transaction((tx) => disableBeyondTx(tx, rulesVersion, now, 2)), 0);
  assert.equal(await db.transaction((tx) => disableBeyondTx(tx, rulesVersion + 1, now, 2)), 0);
});
