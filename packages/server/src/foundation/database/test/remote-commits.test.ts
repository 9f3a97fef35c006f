/** Workers whose transactions another process runs, and the end of each side at each message. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { limits } from '@keyreeve/contract';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { DomainError } from '../../errors.ts';
import { until } from '../../../../test-kit/until.ts';
import { openDatabase, type EmbeddedWriter } from '../database.ts';
import type { Db, WorkerClient } from '../db.ts';
import { RemoteCommits } from '../remote-commits.ts';
import type { OperationPart, RemoteResponse } from '../remote-messages.ts';
import { accountShare, runInShare } from '../share.ts';
import { sql } from '../sql.ts';
import { SqliteConnection } from '../sqlite-connection.ts';
import { SqliteDb } from '../sqlite.ts';
import { isOutcomeUnknown } from '../unavailable.ts';
import { newPlace, testKeys } from '../../../../test-kit/new-db.ts';
import { codeOf, outcomes } from '../../../../test-kit/store-on-each-database.ts';
import { watchWriterMessages } from '../../../../test-kit/thread-messages.ts';
import { add, createTable, idsIn, insert } from './things.ts';

/** A worker in this process. Its messages can be held back. */
class TestWorker implements AsyncDisposable {
  readonly sent: (readonly OperationPart[])[] = [];
  readonly received: (readonly RemoteResponse[])[] = [];
  /** Whether a message is delivered. */
  mayPass: (message: readonly OperationPart[] | readonly RemoteResponse[]) => boolean = () => true;
  readonly remote: RemoteCommits;
  readonly client: WorkerClient;
  readonly db: SqliteDb;

  constructor(supervisor: Db, url: string) {
    this.remote = new RemoteCommits((parts) => {
      this.sent.push(parts);
      const copy = structuredClone(parts);
      if (this.mayPass(parts)) setImmediate(() => this.client.receive(copy));
    });
    const client = supervisor.serve?.((responses) => {
      this.received.push(responses);
      const copy = structuredClone(responses);
      if (this.mayPass(responses)) setImmediate(() => this.remote.receive(copy));
    });
    this.client = client ?? assert.fail();
    this.db = SqliteDb.openRemote(url.slice('sqlite:'.length), testKeys.auditChain, this.remote);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.end();
    this.remote.fail(new Error('the test has ended'));
    await this.db.close().catch(() => undefined);
  }
}

async function withWorkers(
  prove: (supervisor: Db, first: TestWorker, second: TestWorker) => Promise<void>,
  writer: EmbeddedWriter = 'direct',
): Promise<void> {
  await using place = await newPlace('sqlite');
  const supervisor = await openDatabase(databaseUrl(place.url), testKeys.auditChain, writer);
  try {
    await supervisor.transaction((tx) => tx.run(createTable));
    await using first = new TestWorker(supervisor, place.url);
    await using second = new TestWorker(supervisor, place.url);
    await prove(supervisor, first, second);
  } finally {
    await supervisor.close();
  }
}

const failureOf = (changed: Promise<unknown>): Promise<unknown> =>
  changed.then(
    () => assert.fail('acknowledged'),
    (error: unknown) => error,
  );

test('a change of a worker exchanges two messages with the supervisor, and all processes see it when it is acknowledged', async () => {
  await withWorkers(async (supervisor, first, second) => {
    assert.equal(await add(first.db, 1), 1);
    for (const db of [supervisor, first.db, second.db]) assert.deepEqual(await idsIn(db), [1, 101]);
    assert.deepEqual([first.sent.length, first.received.length], [2, 2]);
    assert.deepEqual([second.sent, second.received], [[], []]);
  });
});

test('a worker that starts while writes fail reports the failure and its end', async () => {
  await withWorkers(async (supervisor, first) => {
    first.mayPass = () => false;
    supervisor.writes.observe(false);
    await new Promise(setImmediate);
    assert.equal(first.db.writes.isHealthy, true);
    first.mayPass = () => true;
    first.client.start();
    await until('the worker reports the failure', async () => !first.db.writes.isHealthy);
    await add(first.db, 1);
    await until('the worker reports its end', async () => first.db.writes.isHealthy);
  });
});

test('changes of several workers share commits', async (t) => {
  // No change joins a commit after some milliseconds, which a busy machine exceeds.
  t.mock.method(performance, 'now', () => 0);
  await withWorkers(async (supervisor, first, second) => {
    const before = supervisor.writes.commits.committed;
    await Promise.all([add(first.db, 1), add(second.db, 2), add(first.db, 3), add(supervisor, 4)]);
    assert.ok(supervisor.writes.commits.committed - before < 4);
    assert.deepEqual(await idsIn(second.db), [1, 2, 3, 4, 101, 102, 103, 104]);
    assert.deepEqual(first.db.writes.commits, { committed: 0, failed: 0 });
  });
});

test('a change of a worker that throws or fails stores nothing and throws its own error', async () => {
  await withWorkers(async (supervisor, first, second) => {
    const thrown = new DomainError('nickname_taken');
    const failing = [
      first.db.transaction(async (tx) => {
        await tx.run(insert, [1]);
        throw thrown;
      }),
      first.db.transaction(async (tx) => {
        const failed = tx.all(sql('test_broken', 'select * from no_such_table'));
        await tx.run(insert, [2]).catch(() => undefined);
        await failed;
      }),
      first.db.transaction(async (tx) => {
        await tx.run(insert, [3]);
        tx.enqueue(insert, [3]);
      }),
      first.db.transaction(async () => Promise.reject(thrown)),
    ];
    const other = add(second.db, 9);
    const errors = await Promise.all(failing.map(failureOf));
    assert.deepEqual([errors[0], errors[3]], [thrown, thrown]);
    assert.deepEqual([codeOf(errors[1]), codeOf(errors[2])], ['unavailable', 'unavailable']);
    assert.deepEqual(errors.map(isOutcomeUnknown), [false, false, false, false]);
    await other;
    assert.deepEqual(await idsIn(supervisor), [9, 109]);
  });
});

test('the bound on an account’s waiting changes holds over all workers, and its changes delay no other account', async () => {
  await withWorkers(async (_, first, second) => {
    const order: string[] = [];
    const change = (worker: TestWorker, account: string, id: number) =>
      runInShare(accountShare(account, 'ordinary'), () => worker.db.transaction((tx) => tx.run(insert, [id]))).then(
        () => order.push(account),
      );
    const beyond = 50;
    const attacking = Promise.allSettled(
      Array.from({ length: limits.writesWaitingPerOwnerMax + beyond }, (_unused, id) =>
        change(id % 2 === 0 ? first : second, 'attacker', id),
      ),
    );
    await change(second, 'other', 10_000);
    assert.ok(order.indexOf('other') < limits.writesWaitingPerOwnerMax / 2);
    const { too_many_in_progress: rejected = 0 } = outcomes(await attacking);
    assert.ok(rejected >= beyond / 2 && rejected <= beyond, `${rejected} rejected`);
  });
});

/** A change of the first worker whose message with this number, from the worker, is held back. */
async function changeUpTo(worker: TestWorker, message: number): Promise<{ error: Promise<unknown> }> {
  const held = new Promise<void>((resolve) => {
    worker.mayPass = (parts) => {
      const mayPass = parts !== worker.sent[message - 1];
      if (!mayPass) resolve();
      return mayPass;
    };
  });
  const error = failureOf(add(worker.db, 1));
  await held;
  return { error };
}

test('a worker that ends before the last message of a change: the change is undone and the others continue', async () => {
  for (const message of [1, 2]) {
    await withWorkers(async (supervisor, first, second) => {
      const { error } = await changeUpTo(first, message);
      const other = add(second.db, 2);
      first.client.end();
      assert.equal(await other, 1);
      assert.deepEqual(await idsIn(supervisor), [2, 102]);
      first.remote.fail(new Error('the test has ended'));
      assert.equal(codeOf(await error), 'unavailable');
    });
  }
});

test('a worker that ends after the last message of a change: the change is stored', async () => {
  await withWorkers(async (supervisor, first, second) => {
    const change = failureOf(add(first.db, 1));
    first.mayPass = (message) => first.sent.length < 2 || message === first.sent[1];
    while (first.sent.length < 2) await new Promise(setImmediate);
    // The message arrives in the next turn.
    await new Promise(setImmediate);
    first.client.end();
    assert.equal(await add(second.db, 2), 3);
    assert.deepEqual(await idsIn(supervisor), [1, 2, 101, 102]);
    first.remote.fail(new Error('ended'));
    assert.equal(isOutcomeUnknown(await change), true);
  });
});

test('a supervisor that ends before a message of a change arrives: the change has not happened', async () => {
  for (const message of [1, 2]) {
    await withWorkers(async (supervisor, first) => {
      first.mayPass = () => first.sent.length < message;
      const change = failureOf(add(first.db, 1));
      while (first.sent.length < message) await new Promise(setImmediate);
      // With the second message lost, the worker cannot determine the outcome, and reports that.
      first.remote.fail(new Error('the supervisor has exited'));
      assert.equal(isOutcomeUnknown(await change), message === 2);
      first.client.end();
      assert.deepEqual(await idsIn(supervisor), []);
      assert.equal(await failureOf(add(first.db, 2)).then(codeOf), 'unavailable');
    });
  }
});

test('a supervisor that ends after the commit and before the response leaves the outcome unknown', async () => {
  await withWorkers(async (supervisor, first) => {
    first.mayPass = (message) => !message.some((part) => 'ended' in part);
    const change = failureOf(add(first.db, 1));
    while (first.received.length < 2) await new Promise(setImmediate);
    first.remote.fail(new Error('the supervisor has exited'));
    assert.equal(isOutcomeUnknown(await change), true);
    assert.deepEqual(await idsIn(supervisor), [1, 101]);
  });
});

test('a worker that stalls in a change delays the others once, for a bounded time, and recovers', async (t) => {
  await withWorkers(async (supervisor, first, second) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    first.mayPass = (parts) => first.sent.indexOf(parts as readonly OperationPart[]) <= 0;
    const stalled = [1, 2, 3].map((id) => failureOf(add(first.db, id)));
    while (first.sent.length < 2) await new Promise(setImmediate);
    const other = add(second.db, 9);
    t.mock.timers.tick(limits.workerStallMsMax);
    assert.equal(await other, 1);
    const errors = await Promise.all(stalled);
    assert.deepEqual(errors.map(codeOf), ['unavailable', 'unavailable', 'unavailable']);
    assert.deepEqual(errors.map(isOutcomeUnknown), [false, false, false]);
    first.mayPass = () => true;
    await add(first.db, 4);
    assert.deepEqual(await idsIn(supervisor), [4, 9, 104, 109]);
  });
});

test('a long change of a worker has no time limit', async (t) => {
  await withWorkers(async (supervisor, first) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const change = first.db.transaction(
      async (tx) => {
        await tx.run(insert, [1]);
        t.mock.timers.tick(limits.workerStallMsMax * 10);
        await tx.run(insert, [2]);
      },
      { isLong: true },
    );
    await change;
    assert.deepEqual(await idsIn(supervisor), [1, 2]);
  });
});

/** Ends the writer thread at the message with this number. */
const endThreadAt = (t: TestContext, message: number): void =>
  void watchWriterMessages(t, (thread, number) => {
    if (number === message) void thread.terminate();
    return number !== message;
  });

for (const message of [1, 2]) {
  test(`a writer thread that ends at message ${message} of a worker’s change: the workers report the outcome and that writes fail`, async (t) => {
    await withWorkers(async (supervisor, first, second) => {
      endThreadAt(t, message);
      const error = await failureOf(add(first.db, 1));
      assert.deepEqual([codeOf(error), isOutcomeUnknown(error)], ['unavailable', message === 2]);
      await new Promise(setImmediate);
      assert.deepEqual([first.db.writes.isHealthy, second.db.writes.isHealthy], [false, false]);
      assert.equal(await add(second.db, 2), 1);
      await new Promise(setImmediate);
      assert.deepEqual([first.db.writes.isHealthy, second.db.writes.isHealthy], [true, true]);
      assert.deepEqual(await idsIn(supervisor), [2, 102]);
    }, 'thread');
  });
}

test('closing a worker’s database waits for its changes', async () => {
  await withWorkers(async (supervisor, first) => {
    const changes = Array.from({ length: 20 }, (_, id) => first.db.transaction((tx) => tx.run(insert, [id])));
    await first.db.close();
    assert.equal((await Promise.all(changes)).length, 20);
    assert.equal((await idsIn(supervisor)).length, 20);
    assert.equal(codeOf(await failureOf(add(first.db, 50))), 'unavailable');
  });
});

test('the supervisor serves other events while another process holds the lock of the file', async () => {
  await using place = await newPlace('sqlite');
  const db = await openDatabase(databaseUrl(place.url), testKeys.auditChain, 'direct');
  await db.transaction((tx) => tx.run(createTable));
  const other = new DatabaseSync(place.url.slice('sqlite:'.length));
  other.exec('begin immediate');
  const changes = Promise.all([add(db, 1), add(db, 2)]);
  let isDone = false;
  void changes.then(() => (isDone = true));
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
  assert.equal(isDone, false);
  other.exec('commit');
  other.close();
  assert.deepEqual(await changes, [1, 3]);
  await db.close();
});

test('a commit of the supervisor that fails leaves the outcome unknown, and the file is opened again', async (t) => {
  await using place = await newPlace('sqlite');
  const db = await openDatabase(databaseUrl(place.url), testKeys.auditChain, 'direct');
  await db.transaction((tx) => tx.run(createTable));
  const prepare = Reflect.get(SqliteConnection.prototype, 'prepare') as (...args: unknown[]) => unknown;
  const connections = new Set<unknown>();
  let isFailing = true;
  t.mock.method(SqliteConnection.prototype, 'prepare', function (this: unknown, text: string): unknown {
    if (text === 'begin immediate') connections.add(this);
    if (text !== 'commit' || !isFailing) return Reflect.apply(prepare, this, [text]);
    isFailing = false;
    throw new Error('disk I/O error');
  });
  const error = await failureOf(add(db, 1));
  assert.deepEqual([codeOf(error), isOutcomeUnknown(error), db.writes.isHealthy], ['unavailable', true, false]);
  assert.equal(await add(db, 2), 1);
  assert.deepEqual([connections.size, db.writes.isHealthy], [2, true]);
  assert.deepEqual(await idsIn(db), [2, 102]);
  await db.close();
});
