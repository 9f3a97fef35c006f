/** The messages between the main thread and the writer thread, and the end of the thread at each of them. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { sql } from '../sql.ts';
import type { WriterResponse } from '../sqlite-writer.ts';
import { isOutcomeUnknown } from '../unavailable.ts';
import { newSqliteDb, testKeys, type TestDb } from '../../../../test-kit/new-db.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { SqliteDb } from '../sqlite.ts';
import { join } from 'node:path';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';
import { watchWriterMessages } from '../../../../test-kit/thread-messages.ts';
import { addThing } from './thing-procedures.ts';
import { add, createTable, idsIn, insert } from './things.ts';

const endTransaction = sql('test_end', 'rollback');

async function newSqlite(): Promise<TestDb> {
  const opened = await newSqliteDb();
  await opened.db.transaction((tx) => tx.run(createTable));
  return opened;
}

test('a change whose statements are issued together exchanges two messages with the writer thread', async (t) => {
  await using opened = await newSqlite();
  const messages = watchWriterMessages(t);
  assert.equal(await add(opened.db, 1), 1);
  assert.deepEqual(messages, ['begin savepoint run get', 'run release commit']);
});

test('a procedure exchanges one message with the writer thread, also several that wait together', async (t) => {
  await using opened = await newSqlite();
  const { db } = opened;
  const messages = watchWriterMessages(t);
  const perform = (id: number): Promise<number> => db.perform(addThing, { id });
  assert.equal(await perform(1), 1);
  assert.deepEqual(messages.splice(0), ['begin savepoint call release commit']);
  assert.deepEqual(await Promise.all([perform(2), perform(3), perform(4)]), [2, 3, 4]);
  const two = 'savepoint call release savepoint call release';
  assert.deepEqual(messages, [`begin ${two} savepoint call release commit`]);
});

test('many procedures that wait together are several messages with one commit', async (t) => {
  await using opened = await newSqlite();
  const { db } = opened;
  t.mock.method(performance, 'now', () => 0);
  const messages = watchWriterMessages(t);
  await Promise.all(Array.from({ length: 20 }, (_, id) => db.perform(addThing, { id })));
  assert.deepEqual(
    messages.map((message) => message.split(' ').filter((step) => step === 'call' || step === 'commit').length),
    [16, 5],
  );
});

test('a transaction in which everything was rejected writes nothing', async (t) => {
  using temp = newTempFolder();
  const path = join(temp.path, 'things.db');
  const db = await SqliteDb.open(path, testKeys.auditChain);
  t.after(() => db.close());
  await db.transaction((tx) => tx.run(createTable));
  const sizeOfLog = (): number => statSync(`${path}-wal`).size;
  const before = sizeOfLog();
  const rejected = { id: 1, isRejected: true };
  await assert.rejects(db.perform(addThing, rejected), { code: 'key_limit_reached' });
  const body = db.transaction(async (tx) => {
    await tx.run(insert, [2]);
    throw new Error('rejected');
  });
  await assert.rejects(body, /rejected/);
  assert.equal(sizeOfLog(), before);
  await Promise.allSettled([db.perform(addThing, rejected), db.perform(addThing, { id: 3 })]);
  assert.deepEqual(await idsIn(db), [3]);
  assert.ok(sizeOfLog() > before);
});

test('an input that cannot be copied fails its transaction, and the next one succeeds', async () => {
  await using opened = await newSqlite();
  const { db } = opened;
  const id = (() => 1) as unknown as number;
  await assert.rejects(db.perform(addThing, { id }), { code: 'unavailable' });
  assert.equal(await db.perform(addThing, { id: 2 }), 1);
});

test('procedures and bodies share a commit', async () => {
  await using opened = await newSqlite();
  const { db } = opened;
  assert.equal(db.isWriterFree, true);
  const body = add(db, 1);
  assert.equal(db.isWriterFree, false);
  const found = await Promise.all([body, db.perform(addThing, { id: 2 }), add(db, 3)]);
  assert.deepEqual(found, [1, 3, 4]);
  assert.equal(db.isWriterFree, true);
  assert.deepEqual(await idsIn(db), [1, 2, 3, 101, 103]);
});

test('a procedure that does not exist, or whose file does not, fails alone', async () => {
  await using opened = await newSqlite();
  const { db } = opened;
  const ids: number[] = [];
  for (const wrong of [{ name: 'missing' }, { script: 'foundation/database/test/missing' }]) {
    const other = add(db, ids.length + 1);
    await assert.rejects(db.perform({ ...addThing, ...wrong }, { id: 50 }), /missing/);
    ids.push(await other);
  }
  assert.deepEqual(await idsIn(db), [1, 2, 101, 102]);
});

test('changes that share a commit exchange one message each and one for the commit', async (t) => {
  await using opened = await newSqlite();
  // No change joins a commit after some milliseconds, which a busy machine exceeds.
  t.mock.method(performance, 'now', () => 0);
  const messages = watchWriterMessages(t);
  const { db } = opened;
  await Promise.all([
    add(db, 1),
    db.transaction((tx) => tx.run(insert, [2])),
    db.transaction(() => Promise.resolve()),
    add(db, 3),
  ]);
  assert.deepEqual(messages, [
    'begin savepoint run get',
    'run release savepoint run',
    'release savepoint release savepoint run get',
    'run release commit',
  ]);
  assert.deepEqual(await idsIn(db), [1, 2, 3, 101, 103]);
});

test('a statement that fails with the commit undoes its change and no other of the commit', async () => {
  await using opened = await newSqlite();
  const { db } = opened;
  const added = add(db, 1);
  const fails = db.transaction(async (tx) => {
    await tx.run(insert, [5]);
    tx.enqueue(insert, [1]);
    tx.enqueue(insert, [6]);
  });
  assert.deepEqual(await Promise.all([added, fails.catch(codeOf)]), [1, 'unavailable']);
  assert.deepEqual(await idsIn(db), [1, 101]);
});

test('a transaction that SQLite ends commits nothing of its changes, and the next one succeeds', async () => {
  await using opened = await newSqlite();
  const { db } = opened;
  // As after a full disk: without its transaction, the next statement would commit alone.
  const ending = db.transaction(async (tx) => {
    await tx.run(insert, [1]);
    await tx.run(endTransaction);
    await tx.run(insert, [2]);
  });
  const next = add(db, 3);
  const error: unknown = await ending.catch((reason: unknown) => reason);
  assert.deepEqual([codeOf(error), isOutcomeUnknown(error)], ['unavailable', false]);
  assert.equal(await next, 1);
  assert.deepEqual(await idsIn(db), [3, 103]);
});

test('a statement after the end of its transaction is rejected', async () => {
  await using opened = await newSqlite();
  const { db } = opened;
  const tx = await db.transaction((it) => Promise.resolve({ it }));
  assert.throws(
    () => tx.it.enqueue(insert, [1]),
    (error) => codeOf(error) === 'unavailable',
  );
  assert.equal(await tx.it.run(insert, [2]).catch(codeOf), 'unavailable');
  await add(db, 3);
  assert.deepEqual(await idsIn(db), [3, 103]);
});

/** The thread ends at a message of the change: before it arrives, or after it is performed and before the response. */
const ends = {
  'before the first message': { message: 1, isPerformed: false, isUnknown: false, stored: [] },
  'after the first message': { message: 1, isPerformed: true, isUnknown: false, stored: [] },
  'before the message with the commit': { message: 2, isPerformed: false, isUnknown: true, stored: [] },
  'after the commit, before the response': { message: 2, isPerformed: true, isUnknown: true, stored: [1, 101] },
} as const;

for (const [name, { message, isPerformed, isUnknown, stored }] of Object.entries(ends)) {
  test(`a writer thread that ends ${name}: the change is not acknowledged and its outcome is ${isUnknown ? 'unknown' : 'known'}`, async (t) => {
    await using opened = await newSqlite();
    const { db } = opened;
    let isLost = false;
    const emit = Reflect.get(Worker.prototype, 'emit') as (...args: unknown[]) => boolean;
    t.mock.method(Worker.prototype, 'emit', function (this: Worker, event: string, ...args: unknown[]): boolean {
      if (event !== 'message' || !isLost) return Reflect.apply(emit, this, [event, ...args]);
      isLost = false;
      void this.terminate();
      return true;
    });
    watchWriterMessages(t, (worker, number) => {
      if (number !== message) return true;
      if (isPerformed) isLost = true;
      else void worker.terminate();
      return isPerformed;
    });
    const error: unknown = await add(db, 1).catch((reason: unknown) => reason);
    assert.deepEqual([codeOf(error), isOutcomeUnknown(error)], ['unavailable', isUnknown]);
    assert.equal(db.writes.isHealthy, false);
    assert.deepEqual(await idsIn(db), stored);
    assert.equal(await add(db, 7), stored.length + 1);
    assert.equal(db.writes.isHealthy, true);
  });
}

/** Replaces the response to the next message of so many steps by one in which the commit has failed. */
function failCommit(t: TestContext, steps: number): void {
  const emit = Reflect.get(Worker.prototype, 'emit') as (...args: unknown[]) => boolean;
  let isFailing = true;
  t.mock.method(Worker.prototype, 'emit', function (this: Worker, event: string, ...args: unknown[]): boolean {
    const [results, failures] = event === 'message' ? (args[0] as WriterResponse) : [];
    if (!isFailing || results?.length !== steps) return Reflect.apply(emit, this, [event, ...args]);
    isFailing = false;
    const failed = new Map([...(failures ?? []), [steps - 1, { message: 'disk I/O error', isOutcomeUnknown: true }]]);
    return Reflect.apply(emit, this, [event, [results, failed] satisfies WriterResponse]);
  });
}

test('a commit that fails leaves the outcome of procedures unknown, except of those that were rejected', async (t) => {
  await using opened = await newSqlite();
  const { db } = opened;
  const perform = (id: number, isRejected = false): Promise<unknown> =>
    db.perform(addThing, { id, isRejected }).catch((reason: unknown) => reason);
  await perform(1);
  failCommit(t, 8);
  const errors = await Promise.all([perform(2), perform(3, true)]);
  assert.deepEqual(errors.map(codeOf), ['unavailable', 'unavailable']);
  assert.deepEqual(errors.map(isOutcomeUnknown), [true, false]);
  assert.deepEqual(await idsIn(db), [1, 2]);
  assert.equal(await perform(4), 3);
});

test('a commit that fails leaves the outcome of all its changes unknown, and the file is opened again', async (t) => {
  await using opened = await newSqlite();
  const { db } = opened;
  const threads = new Set<Worker>();
  watchWriterMessages(t, (worker) => threads.add(worker) !== undefined);
  failCommit(t, 3);
  const error: unknown = await add(db, 1).catch((reason: unknown) => reason);
  assert.deepEqual([codeOf(error), isOutcomeUnknown(error)], ['unavailable', true]);
  await add(db, 2);
  assert.equal(threads.size, 2);
});
