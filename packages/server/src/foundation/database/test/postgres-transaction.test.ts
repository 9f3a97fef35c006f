/** Transactions on PostgreSQL: statements are sent together, and a failure at any point has the right outcome. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { newPlace, testKeys } from '../../../../test-kit/new-db.ts';
import { until } from '../../../../test-kit/until.ts';
import { FaultProxy, type MessageCut } from '../../../../test/revocation-check/fault-proxy.ts';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';
import { openDatabase } from '../database.ts';
import type { Db, Transaction } from '../db.ts';
import { sql } from '../sql.ts';
import { isOutcomeUnknown, isUniqueViolation } from '../unavailable.ts';

const createThings = sql(
  'test_create',
  `create table things (id integer primary key, n integer not null unique deferrable initially deferred)`,
);
const insert = sql('test_insert', 'insert into things (id, n) values ($1, $2)');
const insertReturning = sql<{ id: number; n: number }>(
  'test_insert_returning',
  'insert into things (id, n) values ($1, $2) returning id, n',
);
const select = sql<{ id: number; n: number }>('test_select', 'select id, n from things where id = $1');
const list = sql<{ id: number }>('test_list', 'select id from things order by id');
const warn = sql('test_warn', `do $$ begin raise warning 'a warning of a statement'; end $$`);
const createWarning = sql(
  'test_create_warning',
  `create function warn() returns trigger language plpgsql as $$ begin raise warning 'a warning of the commit'; return null; end $$`,
);
const warnAtCommit = sql(
  'test_warn_at_commit',
  `create constraint trigger warned after insert on things deferrable initially deferred for each row execute function warn()`,
);
const conflict = sql('test_conflict', `do $$ begin raise exception 'a conflict' using errcode = '40001'; end $$`);
const sleep = sql('test_sleep', 'select pg_sleep(10)');

interface Fixture extends AsyncDisposable {
  /** Through the proxy. */
  readonly db: Db;
  readonly proxy: FaultProxy;
  readonly ids: () => Promise<number[]>;
  /** Number of round trips of each transaction that has sent a commit. */
  readonly roundTrips: number[];
}

async function newFixture(): Promise<Fixture> {
  const place = await newPlace('postgres');
  const proxy = await FaultProxy.start(place.url);
  const open = (url: string): Promise<Db> => openDatabase(databaseUrl(url), testKeys.auditChain);
  const [db, direct] = [await open(proxy.through(place.url)), await open(place.url)];
  await direct.transaction((tx) => tx.run(createThings));
  const roundTrips: number[] = [];
  proxy.onCommit = (_, count) => roundTrips.push(count);
  return {
    db,
    proxy,
    roundTrips,
    ids: async () => (await direct.all(list)).map(({ id }) => id),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([db.close(), direct.close()]);
      await proxy[Symbol.asyncDispose]();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Fails the test if a rejected promise is not handled. */
function watchRejections(t: TestContext): void {
  const onRejection = (reason: unknown): void => assert.fail(`unhandled rejection: ${String(reason)}`);
  process.on('unhandledRejection', onRejection);
  t.after(() => process.off('unhandledRejection', onRejection));
}

/** That of the transactions, and that of the check for poolers at the start. */
const connectionsOfOne = 2;

test('statements that are issued together share a round trip, and the last ones share that of the commit', async () => {
  await using fixture = await newFixture();
  const { db, proxy, roundTrips, ids } = fixture;
  for (const id of [1, 2]) {
    await db.transaction(async (tx) => {
      const results = await Promise.all([
        tx.run(insert, [id, id]),
        tx.get(select, [id]),
        tx.all(insertReturning, [id + 10, id + 10]),
        tx.get(select, [99]),
      ]);
      assert.deepEqual(results, [1, { id, n: id }, [{ id: id + 10, n: id + 10 }], undefined]);
      tx.enqueue(insert, [id + 20, id + 20]);
    });
    await db.transaction(async () => undefined);
    await db.transaction(async (tx) => {
      tx.enqueue(insert, [id + 30, id + 30]);
      assert.deepEqual(await tx.get(select, [id + 30]), { id: id + 30, n: id + 30 });
      assert.deepEqual(await tx.get(select, [id]), { id, n: id });
    });
  }
  assert.deepEqual(roundTrips, [2, 1, 3, 2, 1, 3]);
  assert.deepEqual(await ids(), [1, 2, 11, 12, 21, 22, 31, 32]);
  // One for writes; none was closed.
  assert.equal(proxy.counts.connections, connectionsOfOne);
});

/** Two round trips, with a read and writes in each place. */
const change = (id: number) => async (tx: Transaction) => {
  await Promise.all([tx.get(select, [id]), tx.run(insert, [id, id])]);
  tx.enqueue(insert, [id + 1_000, id + 1_000]);
};

for (const direction of ['request', 'response'] as const) {
  test(`a connection that breaks before any ${direction} of a transaction leaves its outcome unknown only if the commit was sent`, async () => {
    await using fixture = await newFixture();
    const { db, proxy, ids } = fixture;
    const outcomes: string[] = [];
    for (let index = 0; outcomes.at(-1) !== 'committed'; index++) {
      // The connection has prepared the statements.
      await db.transaction(change(10_000 + 2 * index));
      const cut: MessageCut = { direction, index };
      proxy.messageCut = cut;
      const error = await db.transaction(change(index)).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error === undefined) outcomes.push('committed');
      else {
        assert.equal(codeOf(error), 'unavailable');
        assert.equal(proxy.messageCut, undefined);
        outcomes.push(isOutcomeUnknown(error) ? 'unknown' : 'rolled back');
      }
      proxy.clearFaults();
    }
    const firstUnknown = outcomes.indexOf('unknown');
    assert.ok(firstUnknown > 3 && outcomes.length - firstUnknown > 3, outcomes.join());
    assert.deepEqual(
      outcomes,
      outcomes.map((_, index) =>
        index === outcomes.length - 1 ? 'committed' : index < firstUnknown ? 'rolled back' : 'unknown',
      ),
    );
    const committed = new Set(await ids());
    for (const [index, outcome] of outcomes.entries()) {
      assert.equal(committed.has(index), committed.has(index + 1_000), 'a transaction is all or nothing');
      if (outcome !== 'unknown') assert.equal(committed.has(index), outcome === 'committed', `${index}: ${outcome}`);
    }
  });
}

test('the outcome of a commit is unknown when the server shuts down after it, before the end of the batch', async () => {
  await using fixture = await newFixture();
  const { db, proxy, ids } = fixture;
  await db.transaction(change(1));
  proxy.isShutDownAfterCommit = true;
  await assert.rejects(db.transaction(change(2)), isOutcomeUnknown);
  assert.equal(proxy.isShutDownAfterCommit, false);
  assert.equal(db.writes.isHealthy, false);
  assert.deepEqual(await ids(), [1, 2, 1_001, 1_002]);
});

test('after a statement fails, the others of its batch, later ones and the commit fail with its error', async (t) => {
  watchRejections(t);
  await using fixture = await newFixture();
  const { db, proxy, roundTrips, ids } = fixture;
  await db.transaction((tx) => tx.run(insert, [1, 1]));
  const bodies: ((tx: Transaction) => Promise<unknown>)[] = [
    (tx) => Promise.all([tx.run(insert, [2, 2]), tx.run(insert, [1, 3]), tx.get(select, [1])]),
    async (tx) => {
      const results = await Promise.allSettled([tx.run(insert, [2, 2]), tx.run(insert, [1, 3]), tx.get(select, [1])]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected'],
      );
      await assert.rejects(tx.get(select, [1]), isUniqueViolation);
    },
    async (tx) => void tx.run(insert, [1, 3]),
    async (tx) => {
      void tx.run(insert, [1, 3]);
      await new Promise(setImmediate);
    },
    async (tx) => tx.enqueue(insert, [1, 3]),
    async (tx) => {
      tx.enqueue(insert, [1, 3]);
      await tx.get(select, [1]);
    },
    // The constraint is checked by the commit.
    async (tx) => tx.enqueue(insert, [2, 1]),
  ];
  for (const [index, body] of bodies.entries()) {
    await assert.rejects(db.transaction(body), (error) => {
      assert.ok(isUniqueViolation(error), `body ${index}: ${String(error)}`);
      assert.ok(!isOutcomeUnknown(error));
      return true;
    });
  }
  assert.equal(db.writes.isHealthy, true);
  assert.deepEqual(await ids(), [1]);
  assert.deepEqual(roundTrips.length, 4, 'only the commits after enqueued statements were sent');
  assert.equal(proxy.counts.connections, connectionsOfOne);
});

test('a body that throws while statements run is rolled back after them, and the connection is used again', async (t) => {
  watchRejections(t);
  await using fixture = await newFixture();
  const { db, proxy, ids } = fixture;
  const mistake = new Error('the body failed');
  for (const wait of [() => undefined, () => new Promise(setImmediate)]) {
    const failing = db.transaction(async (tx) => {
      tx.enqueue(insert, [1, 1]);
      void tx.run(insert, [2, 2]);
      await wait();
      void tx.run(insert, [3, 3]);
      throw mistake;
    });
    await assert.rejects(failing, (error) => error === mistake);
  }
  await db.transaction((tx) => tx.run(insert, [4, 4]));
  assert.deepEqual(await ids(), [4]);
  assert.equal(proxy.counts.connections, connectionsOfOne);
});

test('a statement that is issued after the end of its transaction is rejected and never sent', async () => {
  await using fixture = await newFixture();
  const { db, ids } = fixture;
  let leaked: Transaction | undefined;
  await db.transaction(async (tx) => void (leaked = tx));
  assert.ok(leaked);
  await assert.rejects(leaked.run(insert, [1, 1]), /the transaction has ended/);
  const failing = db.transaction(async (tx) => {
    leaked = tx;
    throw new RangeError();
  });
  await assert.rejects(failing, RangeError);
  await assert.rejects(leaked.run(insert, [1, 1]), /the transaction has ended/);
  await db.transaction((tx) => tx.run(insert, [2, 2]));
  assert.deepEqual(await ids(), [2]);
});

test('a transaction that conflicts runs again, also if the conflict appears together with the commit', async () => {
  await using fixture = await newFixture();
  const { db, ids } = fixture;
  for (const [id, report] of [
    [1, (tx: Transaction) => tx.run(conflict)],
    [2, async (tx: Transaction) => tx.enqueue(conflict)],
  ] as const) {
    let attempts = 0;
    await db.transaction(async (tx) => {
      await tx.run(insert, [id, id]);
      if (++attempts < 3) await report(tx);
    });
    assert.equal(attempts, 3);
  }
  assert.deepEqual(await ids(), [1, 2]);
  assert.equal(db.writes.commits.failed, 0);
});

test('a warning of a statement is not a warning of the commit that it is sent with', async () => {
  await using fixture = await newFixture();
  const { db, ids } = fixture;
  await db.transaction(async (tx) => {
    tx.enqueue(insert, [1, 1]);
    tx.enqueue(warn);
  });
  assert.deepEqual(await ids(), [1]);
});

test('a commit that succeeds with a warning has an unknown outcome, because its standby may not have it', async () => {
  await using fixture = await newFixture();
  const { db, ids } = fixture;
  await db.transaction(async (tx) => {
    await tx.run(createWarning);
    await tx.run(warnAtCommit);
  });
  await assert.rejects(
    db.transaction(async (tx) => tx.enqueue(insert, [1, 1])),
    isOutcomeUnknown,
  );
  assert.deepEqual(await ids(), [1]);
  await db.transaction(async () => undefined);
});

test('a statement without a response fails within its time, and only a commit that was sent has an unknown outcome', async () => {
  await using fixture = await newFixture();
  const { db, proxy, ids } = fixture;
  const outcomeOf = (body: (tx: Transaction) => Promise<unknown>): Promise<boolean> =>
    db.transaction(body).then(() => assert.fail('it has no response'), isOutcomeUnknown);
  const [isReadUnknown, isSleepUnknown] = await Promise.all([
    outcomeOf(async (tx) => {
      await tx.run(insert, [1, 1]);
      proxy.isBlackHole = true;
      await tx.get(select, [1]);
    }),
    outcomeOf((tx) => tx.run(sleep)),
  ]);
  proxy.clearFaults();
  const isCommitUnknown = await outcomeOf(async (tx) => {
    await tx.run(insert, [2, 2]);
    proxy.isBlackHole = true;
  });
  assert.deepEqual([isReadUnknown, isSleepUnknown, isCommitUnknown], [false, false, true]);
  assert.equal(db.writes.isHealthy, false);
  proxy.clearFaults();
  await until('a commit succeeds', () => Promise.resolve(db.writes.isHealthy));
  assert.deepEqual(await ids(), []);
});
