/** The guarantees of the database interface (`db.ts`), on which every store relies. */
import assert from 'node:assert/strict';
import { test, type TestOptions } from 'node:test';
import { limits } from '@keyreeve/contract';
import type { Db } from '../db.ts';
import { sql, sqlMany, type SqlValue } from '../sql.ts';
import { DomainError } from '../../errors.ts';
import { emptyDatabases, type TestDb } from '../../../../test-kit/new-db.ts';
import { codeOf, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';

const createTable = sql('test_create', 'create table things (id integer primary key, n integer not null)');
const insert = sql('test_insert', 'insert into things (id, n) values ($1, $2)');
const add = sql('test_add', 'update things set n = n + $2 where id = $1');
const addToAll = sql('test_add_to_all', 'update things set n = n + 1');
const select = sql<{ id: number; n: number }>('test_select', 'select id, n from things where id = $1');
const selectMany = sqlMany<{ id: number; n: number }>('test_select_many', {
  sqlite: 'select id, n from things where id = $1',
  postgres: `select lookup.ordinal, t.id, t.n from unnest($1::bigint[]) with ordinality as lookup (id, ordinal)
    join things t on t.id = lookup.id`,
});
const brokenMany = sqlMany('test_broken_many', {
  sqlite: 'select 1 from no_such_table where id = $1',
  postgres: 'select 1 as ordinal from no_such_table where id = any($1)',
});
const list = sql<{ id: number; n: number }>('test_list', 'select id, n from things order by id');
const broken = sql('test_broken', 'insert into no_such_table (id) values ($1)');

/** The writers of the service: SQLite with its thread, and PostgreSQL. */

type Prove = (opened: TestDb) => Promise<void>;

function onEachDriver(guarantee: string, ...rest: [prove: Prove] | [options: TestOptions, prove: Prove]): void {
  const [options, body] = rest;
  const [settings, prove] = typeof options === 'function' ? [{}, options] : [options, body];
  for (const [name, open] of Object.entries(emptyDatabases)) {
    test(`${guarantee} (${name})`, settings, async () => {
      await using opened = await open();
      await prove?.(opened);
    });
  }
}

async function withThings(db: Db, ...things: readonly (readonly [id: number, n: number])[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(createTable);
    for (const thing of things) await tx.run(insert, thing);
  });
}

/** The parameters of one read for each id. */
const each = (...ids: readonly number[]): readonly (readonly SqlValue[])[] => ids.map((id) => [id]);

onEachDriver(
  'a transaction sees its own writes, and others see them after its commit is acknowledged',
  async ({ db, connect }) => {
    await withThings(db);
    const other = await connect();
    const seenInside = await db.transaction(async (tx) => {
      assert.equal(await tx.run(insert, [1, 10]), 1);
      assert.deepEqual(await db.all(list), []);
      assert.deepEqual(await other.all(list), []);
      assert.equal(await tx.get(select, [2]), undefined);
      return { one: { ...(await tx.get(select, [1])) }, all: (await tx.all(list)).length };
    });
    assert.deepEqual(seenInside, { one: { id: 1, n: 10 }, all: 1 });
    for (const connection of [db, other]) {
      assert.deepEqual({ ...(await connection.get(select, [1])) }, { id: 1, n: 10 });
      assert.equal(await connection.get(select, [2]), undefined);
    }
  },
);

onEachDriver('an enqueued statement runs before later statements and commits with the transaction', async ({ db }) => {
  await withThings(db, [1, 10]);
  await db.transaction(async (tx) => {
    tx.enqueue(insert, [2, 19]);
    await tx.run(addToAll);
    tx.enqueue(insert, [5, 50]);
  });
  const rolledBack = db.transaction(async (tx) => {
    tx.enqueue(insert, [3, 30]);
    throw new DomainError('nickname_taken');
  });
  await assert.rejects(rolledBack, (error) => codeOf(error) === 'nickname_taken');
  const failed = db.transaction(async (tx) => {
    await tx.run(insert, [4, 40]);
    tx.enqueue(broken, [1]);
  });
  await assert.rejects(failed, (error) => codeOf(error) === 'unavailable');
  const rows = (await db.all(list)).map((row) => ({ ...row }));
  assert.deepEqual(rows, [
    { id: 1, n: 11 },
    { id: 2, n: 20 },
    { id: 5, n: 50 },
  ]);
});

onEachDriver(
  'a transaction whose body throws is rolled back and throws the same error',
  { tags: ['asvs:2.3.3', 'asvs:16.5.3'] },
  async ({ db }) => {
    await withThings(db, [1, 10]);
    const mistake = new Error('the body failed');
    const failing = db.transaction(async (tx) => {
      await tx.run(insert, [2, 20]);
      assert.equal(await tx.run(add, [1, 5]), 1);
      throw mistake;
    });
    await assert.rejects(failing, (error) => error === mistake);
    assert.deepEqual(plain(await db.all(list)), [{ id: 1, n: 10 }]);
  },
);

onEachDriver('a transaction that fails does not affect the others of the same commit', async ({ db }) => {
  await withThings(db, [1, 0]);
  const settled = await Promise.allSettled(
    Array.from({ length: 100 }, (_, index) =>
      db.transaction(async (tx) => {
        await tx.run(insert, [1_000 + index, index]);
        await tx.run(add, [1, 1]);
        if (index % 4 === 1) throw new RangeError(`rejected ${index}`);
        if (index % 4 === 2) await tx.run(insert, [1, 0]);
        if (index % 4 === 3) await tx.run(broken, [1]);
        return index;
      }),
    ),
  );
  for (const [index, result] of settled.entries()) {
    if (index % 4 === 0) assert.deepEqual(result, { status: 'fulfilled', value: index });
    else if (index % 4 === 1) assert.equal(reasonOf(result).message, `rejected ${index}`);
    else assert.equal(codeOf(reasonOf(result)), 'unavailable');
  }
  const kept = Array.from({ length: 25 }, (_, index) => ({ id: 1_000 + index * 4, n: index * 4 }));
  assert.deepEqual(plain(await db.all(list)), [{ id: 1, n: 25 }, ...kept]);
});

onEachDriver('after a failed statement, the rest of the transaction fails and nothing commits', async ({ db }) => {
  await withThings(db, [1, 10]);
  const together = db.transaction(async (tx) => {
    await Promise.all([tx.run(add, [1, 1]), tx.run(broken, [1]), tx.run(insert, [2, 20]), tx.get(select, [1])]);
  });
  const later: unknown[] = [];
  const ignored = db.transaction(async (tx) => {
    const failing = tx.run(broken, [1]);
    const issuedTogether = [tx.run(insert, [3, 30]), tx.all(list)];
    for (const statement of [failing, ...issuedTogether]) later.push(await statement.catch(codeOf));
    later.push(await tx.run(insert, [4, 40]).catch(codeOf));
  });
  const other = db.transaction((tx) => tx.run(add, [1, 5]));
  const settled = await Promise.allSettled([together, ignored]);
  assert.deepEqual(settled.map(reasonOf).map(codeOf), ['unavailable', 'unavailable']);
  assert.deepEqual(
    later,
    Array.from({ length: 4 }, () => 'unavailable'),
  );
  assert.equal(await other, 1);
  assert.deepEqual(plain(await db.all(list)), [{ id: 1, n: 15 }]);
});

onEachDriver('public error texts do not contain messages of the database', async ({ db }) => {
  const failures = [
    () => db.transaction((tx) => tx.run(broken, [1])),
    () => db.all(broken),
    () => db.get(broken),
    () => db.getMany(brokenMany, [[1]]),
  ];
  for (const failure of failures) {
    await assert.rejects(failure, (error) => {
      assert.ok(error instanceof DomainError);
      assert.equal(error.code, 'unavailable');
      assert.equal(error.options.retryAfterSeconds, 1);
      assert.doesNotMatch(error.message, /no_such_table/);
      return true;
    });
  }
});

onEachDriver('a read sees every commit that was acknowledged before it, on any connection', async ({ db, connect }) => {
  await withThings(db, [1, 0]);
  const other = await connect();
  for (let n = 1; n <= 50; n++) {
    await (n % 2 === 0 ? db : other).transaction((tx) => tx.run(add, [1, 1]));
    for (const connection of [db, other]) {
      assert.equal((await connection.get(select, [1]))?.n, n);
      assert.equal((await connection.all(list))[0]?.n, n);
      assert.equal((await connection.getMany(selectMany, each(1)))[0]?.n, n);
    }
  }
});

onEachDriver('getMany returns rows in the order of its values', async ({ db }) => {
  await withThings(db, [1, 10], [2, 20], [3, 30]);
  const found = await db.getMany(selectMany, each(3, 99, 1, 3, 2));
  assert.deepEqual(
    found.map((row) => row?.n),
    [30, undefined, 10, 30, 20],
  );
  assert.deepEqual(await db.getMany(selectMany, []), []);
});

onEachDriver('all rows of getMany come from one snapshot', async ({ db, connect }) => {
  const ids = Array.from({ length: 200 }, (_, index) => index);
  await withThings(db, ...ids.map((id) => [id, 0] as const));
  const writer = await connect();
  const progress = { isWriting: true };
  const writing = (async () => {
    for (let round = 0; round < 100; round++) await writer.transaction((tx) => tx.run(addToAll));
    progress.isWriting = false;
  })();
  const seen = new Set<number>();
  while (progress.isWriting) {
    const moment = new Set((await db.getMany(selectMany, each(...ids))).map((row) => row?.n));
    assert.equal(moment.size, 1);
    for (const n of moment) seen.add(n ?? -1);
    // Lets the writer's acknowledgements arrive.
    await new Promise(setImmediate);
  }
  await writing;
  assert.ok(seen.size > 1, 'the reads must have run beside the writes');
});

onEachDriver('a snapshot shows the state after the call, regardless of later writes', async (opened) => {
  const { db, connect } = opened;
  const writer = await connect();
  await withThings(db, [1, 0], [2, 0]);
  await writer.transaction((tx) => tx.run(addToAll));
  const seen = await db.snapshot(async (reader) => {
    const rows: object[] = [];
    for (let round = 0; round < 3; round++) {
      for (const connection of [db, writer]) await connection.transaction((tx) => tx.run(addToAll));
      await writer.transaction((tx) => tx.run(insert, [10 + round, 0]));
      rows.push(...plain(await reader.all(list)), { ...(await reader.get(select, [2])) });
    }
    return rows;
  });
  const moment = [
    { id: 1, n: 1 },
    { id: 2, n: 1 },
    { id: 2, n: 1 },
  ];
  assert.deepEqual(seen, [...moment, ...moment, ...moment]);
  assert.equal((await db.all(list)).length, 5);
});

onEachDriver('a snapshot cannot write, and ends when its body returns or throws', async ({ db }) => {
  await withThings(db, [1, 0]);
  const mistake = new Error('enough');
  const failing = db.snapshot(async (reader) => {
    await assert.rejects(reader.all(insert, [2, 0]), (error) => codeOf(error) === 'unavailable');
    throw mistake;
  });
  await assert.rejects(failing, (error) => error === mistake);
  assert.deepEqual(plain(await db.all(list)), [{ id: 1, n: 0 }]);
  assert.equal(await db.snapshot(async (reader) => (await reader.all(list)).length), 1);
});

onEachDriver('two processes can write to one database at the same time', async ({ db, connect }) => {
  await withThings(db, [1, 0]);
  const other = await connect();
  await Promise.all(
    Array.from({ length: rivalsMin * 10 }, (_, index) =>
      (index % 2 === 0 ? db : other).transaction(async (tx) => {
        await tx.run(add, [1, 1]);
        await tx.run(insert, [100 + index, 1]);
      }),
    ),
  );
  assert.equal((await db.get(select, [1]))?.n, rivalsMin * 10);
  assert.equal((await db.all(list)).length, 1 + rivalsMin * 10);
});

onEachDriver('closing waits for operations in progress and rejects later ones', async ({ db, connect }) => {
  await withThings(db);
  const closing = await connect();
  const acknowledged = Array.from({ length: 200 }, (_, id) => closing.transaction((tx) => tx.run(insert, [id, id])));
  await closing.close();
  assert.deepEqual(
    await Promise.all(acknowledged),
    acknowledged.map(() => 1),
  );
  assert.equal((await db.all(list)).length, 200);
  const late = [
    () => closing.transaction((tx) => tx.run(insert, [999, 0])),
    () => closing.all(list),
    () => closing.getMany(selectMany, each(1)),
  ];
  for (const attempt of late) await assert.rejects(attempt, (error) => codeOf(error) === 'unavailable');
  assert.equal(await db.get(select, [999]), undefined);
});

onEachDriver('values are returned as they were stored', async ({ db }) => {
  const create = sql('test_values', {
    sqlite: 'create table many_kinds (a text, b integer, c blob, d text) strict',
    postgres: 'create table many_kinds (a text, b bigint, c bytea, d text)',
  });
  const put = sql('test_put', 'insert into many_kinds (a, b, c, d) values ($1, $2, $3, $4)');
  type Row = { a: string; b: number; c: Uint8Array; d: null };
  const take = sql<Row>('test_take', 'select a, b, c, d from many_kinds');
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const text = 'Ünïcode 👩‍🚀 \'"; drop table many_kinds; --';
  await db.transaction(async (tx) => {
    await tx.run(create);
    await tx.run(put, [text, Number.MAX_SAFE_INTEGER, bytes, null]);
  });
  const row = await db.get(take);
  assert.ok(row);
  assert.deepEqual({ ...row, c: [...row.c] }, { a: text, b: Number.MAX_SAFE_INTEGER, c: [...bytes], d: null });
});

onEachDriver('the durations of reads and commits are reported', async ({ db }) => {
  await withThings(db);
  const seen: string[] = [];
  db.times.observe = (operation, ms) => {
    assert.ok(ms >= 0);
    seen.push(operation);
  };
  await db.transaction((tx) => tx.run(insert, [1, 1]));
  await db.getMany(selectMany, each(1));
  assert.deepEqual(seen, ['commit', 'read']);
});

function reasonOf(result: PromiseSettledResult<unknown>): Error {
  assert.equal(result.status, 'rejected');
  assert.ok(result.reason instanceof Error);
  return result.reason;
}

/** Rows of a driver may have another prototype than literals. */
const plain = <Row extends object>(rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row }));

const causeOf = (error: unknown): string =>
  error instanceof Error && error.cause instanceof Error ? error.cause.message : '';

onEachDriver('the number of waiting writes is bounded, and a rejected write changes nothing', async ({ db }) => {
  await withThings(db, [1, 0]);
  const max = limits.writesWaitingMax;
  // The first is in progress, the others wait.
  const writes = Array.from({ length: max + 50 }, () => db.transaction((tx) => tx.run(add, [1, 1])));
  const settled = await Promise.allSettled(writes);
  const done = settled.filter(({ status }) => status === 'fulfilled').length;
  // On a slow machine, some of the accepted writes wait too long.
  assert.ok(done > 0 && done < max + 50, `${done} done`);
  const rejected = settled.filter(({ status }) => status === 'rejected');
  for (const result of rejected) assert.equal(codeOf(reasonOf(result)), 'unavailable');
  const causes = rejected.map((result) => causeOf(reasonOf(result)));
  assert.ok(causes.includes(`${max} operations wait already`));
  assert.equal((await db.get(select, [1]))?.n, done);
  // Now there is capacity again.
  await db.transaction((tx) => tx.run(add, [1, 1]));
  assert.equal((await db.get(select, [1]))?.n, done + 1);
});
