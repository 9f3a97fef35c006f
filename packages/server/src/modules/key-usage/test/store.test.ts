/** The table of usage on each database. */
import assert from 'node:assert/strict';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addUsage, hourMs, totalSince } from '../store.ts';

const hour = Date.UTC(2026, 10, 21, 9);

onEachDatabase('counts of the same key and hour add up', async ({ db }) => {
  const of = (keyId: number, at: number, accepted: number, refused: number) => ({ keyId, at, accepted, refused });
  await addUsage(db, [of(7, hour, 3, 1), of(7, hour - hourMs, 10, 0), of(8, hour, 100, 0)]);
  await addUsage(db, [of(7, hour, 4, 0)]);
  const total = async (keyId: number, since: number) => ({ ...(await totalSince(db, keyId, since)) });
  assert.deepEqual(await total(7, hour), { accepted: 7, refused: 1 });
  assert.deepEqual(await total(7, hour - hourMs), { accepted: 17, refused: 1 });
  assert.deepEqual(await total(9, 0), { accepted: 0, refused: 0 });
});
