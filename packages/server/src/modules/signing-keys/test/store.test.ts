/** The table of signing keys, on each database. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import type { Db } from '../../../foundation/database/db.ts';
import * as store from '../store.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { addSigningKey, newSigningKey, now, operator } from '../../../../test-kit/rows.ts';

const listed = async (db: Db): Promise<string[]> => (await store.listSigningKeys(db)).map(({ kid }) => kid);

onEachDatabase('a signing key is read as it was written', async ({ db }) => {
  const key = await addSigningKey(db, 'one', { privateJwk: Uint8Array.of(0, 255, 10), activatesAt: now + 600 });
  const [row] = await store.listSigningKeys(db);
  assert.ok(row);
  assert.deepEqual({ ...row, privateJwk: Uint8Array.from(row.privateJwk) }, key);
});

onEachDatabase('instances that start at once create one first key', async (opened) => {
  await raceToValues(opened, rivalsMin * 2, (connection, rival) =>
    store.createFirstSigningKey(connection, newSigningKey(`k${rival}`)),
  );
  const kids = await listed(opened.db);
  assert.equal(kids.length, 1);
  const recorded = await listAuditEvents(opened.db);
  assert.deepEqual(
    recorded.map(({ actor, action, target }) => ({ actor, action, target })),
    [{ actor: 'system', action: 'signing_key.created', target: kids[0] }],
  );
});

onEachDatabase('each algorithm has its own first key, also after all were revoked', async ({ db }) => {
  await store.createFirstSigningKey(db, newSigningKey('es'));
  await store.createFirstSigningKey(db, newSigningKey('ed', { alg: 'EdDSA' }));
  await store.createFirstSigningKey(db, newSigningKey('es again'));
  assert.deepEqual((await listed(db)).toSorted(), ['ed', 'es']);
  await store.replaceSigningKeys(db, operator, newSigningKey('rs', { alg: 'RS256' }));
  await store.createFirstSigningKey(db, newSigningKey('es later'));
  assert.deepEqual((await listed(db)).toSorted(), ['ed', 'es', 'es later', 'rs']);
});

onEachDatabase('keys are listed in the order of their activation', async ({ db }) => {
  await addSigningKey(db, 'third', { activatesAt: now + 20, createdAt: now });
  await addSigningKey(db, 'second', { alg: 'EdDSA', activatesAt: now + 10, createdAt: now + 1 });
  await addSigningKey(db, 'first', { alg: 'RS256', activatesAt: now + 10, createdAt: now });
  assert.deepEqual(await listed(db), ['first', 'second', 'third']);
});

onEachDatabase(
  'a rotation with revocation revokes all other keys and leaves earlier revocations unchanged',
  async ({ db }) => {
    await addSigningKey(db, 'one');
    await addSigningKey(db, 'two', { alg: 'EdDSA' });
    const states = async () =>
      Object.fromEntries((await store.listSigningKeys(db)).map((key) => [key.kid, key.revokedAt]));
    assert.deepEqual(await states(), { one: null, two: null });
    await store.replaceSigningKeys(db, operator, newSigningKey('three', { createdAt: now + 1 }));
    assert.deepEqual(await states(), { one: now + 1, two: now + 1, three: null });
    await store.replaceSigningKeys(db, operator, newSigningKey('four', { createdAt: now + 2 }));
    assert.deepEqual(await states(), { one: now + 1, two: now + 1, three: now + 2, four: null });
  },
);

onEachDatabase('concurrent rotations with revocation leave exactly one unrevoked key', async (opened) => {
  await raceToValues(opened, rivalsMin, (connection, rival) =>
    store.replaceSigningKeys(connection, operator, newSigningKey(`k${rival}`)),
  );
  const unrevoked = (await store.listSigningKeys(opened.db)).filter(({ revokedAt }) => revokedAt === null);
  assert.equal(unrevoked.length, 1);
});

onEachDatabase('concurrent rotations create one next key, with one event', async (opened) => {
  await addSigningKey(opened.db, 'active');
  const next = (kid: string) => newSigningKey(kid, { createdAt: now + 1, activatesAt: now + 600 });
  const created = await raceToValues(opened, rivalsMin, (connection, rival) =>
    store.createNextSigningKey(connection, operator, next(`k${rival}`)),
  );
  assert.equal(created.filter(Boolean).length, 1);
  const [, kid, ...others] = await listed(opened.db);
  assert.deepEqual(others, []);
  const targets = (await listAuditEvents(opened.db)).map(({ target }) => target);
  assert.deepEqual(targets, ['active', kid]);
  assert.equal(await store.createNextSigningKey(opened.db, operator, { ...next('other'), alg: 'EdDSA' }), true);
  assert.equal(await store.createNextSigningKey(opened.db, operator, { ...next('later'), createdAt: now + 600 }), true);
});

onEachDatabase('a rotation that the guard rejects changes nothing', async ({ db }) => {
  await addSigningKey(db, 'one');
  const guard = () => Promise.reject(new Error('rejected'));
  for (const rotate of [store.createNextSigningKey, store.replaceSigningKeys])
    await assert.rejects(rotate(db, operator, newSigningKey('two'), guard), /rejected/);
  const [one, ...others] = await store.listSigningKeys(db);
  assert.deepEqual([one?.kid, one?.revokedAt, others], ['one', null, []]);
});
