/** The bounds of the scope catalogue and of entitlements. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { storeScopeTx } from '../store.ts';

const open = { description: '', entitled: false };
const servicesOn = (db: Db): Services => wireOn(db, { clock: new FakeClock(now) });

/** Declares scopes that need an entitlement. @returns their names */
async function declare(db: Db, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, n) => `scope-${n}`);
  const row = { description: '', needsEntitlement: 1, createdAt: now, updatedAt: now, deletedAt: null, revision: 1 };
  await db.transaction(async (tx) => {
    for (const name of names) await storeScopeTx(tx, { name, ...row });
  });
  return names;
}

onEachDatabase('a full catalogue takes no further name, and a deleted name can be declared again', async ({ db }) => {
  const { scopeCatalogue } = servicesOn(db);
  await declare(db, limits.catalogueScopesMax - 1);
  await scopeCatalogue.set(operator, 'last', open);
  await assert.rejects(scopeCatalogue.set(operator, 'one-too-many', open), { code: 'catalogue_full' });
  await scopeCatalogue.delete(operator, 'last');
  await assert.rejects(scopeCatalogue.set(operator, 'one-too-many', open), { code: 'catalogue_full' });
  assert.equal((await scopeCatalogue.set(operator, 'last', open)).deletedAt, null);
  assert.equal((await scopeCatalogue.list()).length, limits.catalogueScopesMax);
});

onEachDatabase('an account has at most the maximum number of entitlements', async ({ db }) => {
  const { entitlements } = servicesOn(db);
  const id = await addAccount(db);
  const names = await declare(db, limits.entitlementsPerAccountMax + 1);
  await assert.rejects(entitlements.set(operator, id, names), { code: 'invalid_request' });
  assert.deepEqual(await entitlements.list(id), []);
  await entitlements.set(operator, id, names.slice(1));
  assert.deepEqual(await entitlements.list(id), names.slice(1).toSorted());
});
