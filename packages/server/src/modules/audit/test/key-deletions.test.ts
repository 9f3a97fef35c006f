/** The number of deletions of each key in the audit log, which the revocation check uses. */
import assert from 'node:assert/strict';
import { countKeyDeletions } from '../audit.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, addKey, now, operator } from '../../../../test-kit/rows.ts';
import { deleteKey } from '../../../../test-kit/store-changes.ts';

onEachDatabase('only deletions of the account’s own keys are counted', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  const [first, second, other] = [await addKey(db, ada, '1'), await addKey(db, ada, '2'), await addKey(db, bob, '3')];
  assert.deepEqual(await countKeyDeletions(db, ada), new Map());
  await deleteKey(db, { principal: operator, now }, ada, first.id);
  await assert.rejects(deleteKey(db, { principal: operator, now }, ada, first.id), { code: 'key_not_found' });
  await assert.rejects(deleteKey(db, { principal: operator, now }, ada, other.id), { code: 'not_key_owner' });
  await deleteKey(db, { principal: operator, now }, bob, other.id);
  assert.deepEqual(await countKeyDeletions(db, ada), new Map([[first.id, 1]]));
  assert.deepEqual(await countKeyDeletions(db, bob), new Map([[other.id, 1]]));
  assert.deepEqual(await countKeyDeletions(db, 'acc_unknown'), new Map());
  assert.notEqual(second.id, first.id);
});
