/** Procedures: the same result and the same errors on each database, wherever their bodies run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../errors.ts';
import { emptyDatabases } from '../../../../test-kit/new-db.ts';
import { addThing } from './thing-procedures.ts';
import { createTable, idsIn } from './things.ts';

for (const [name, open] of Object.entries(emptyDatabases)) {
  test(`a procedure commits everything and returns its result, or nothing and its error (${name})`, async () => {
    await using opened = await open();
    const { db } = opened;
    await db.transaction((tx) => tx.run(createTable));
    assert.equal(await db.perform(addThing, { id: 1 }), 1);
    await assert.rejects(db.perform(addThing, { id: 2, isRejected: true }), (error) => {
      assert.ok(error instanceof DomainError);
      assert.equal(error.code, 'key_limit_reached');
      assert.equal(error.message, 'no thing 2');
      assert.deepEqual(error.options, { detail: 'no thing 2', retryAfterSeconds: 2 });
      return true;
    });
    await assert.rejects(db.perform(addThing, { id: 1 }), { code: 'unavailable' });
    assert.deepEqual(await idsIn(db), [1]);
  });
}
