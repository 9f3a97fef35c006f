/** A pooler that shares sessions is refused by name; what a deletion's durability needs does not depend on the session. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientBase } from 'pg';
import { databaseChecks } from '../../../app/installation/checks.ts';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { readConfig } from '../../../app/configuration/config.ts';
import { PgBouncer, skipWithoutPgBouncer, type PoolMode } from '../../../../test-kit/postgres/pgbouncer.ts';
import { PostgresDatabases } from '../../../../test-kit/postgres/databases.ts';
import { newPlace, testKeys } from '../../../../test-kit/new-db.ts';
import { until } from '../../../../test-kit/until.ts';
import { FaultProxy } from '../../../../test/revocation-check/fault-proxy.ts';
import { DomainError } from '../../errors.ts';
import { openDatabase } from '../database.ts';
import { assertOwnSessions, PoolerError, type PooledSession } from '../postgres-pooler.ts';
import type { PostgresDb } from '../postgres.ts';
import { sql } from '../sql.ts';

const skip = skipWithoutPgBouncer();
const one = sql<{ one: number }>('test_one', 'select 1 as one');
const refusal =
  /^PgBouncer between Keyreeve and PostgreSQL does not keep sessions: it is in transaction or statement mode$/;

const isRefusal = (error: unknown): boolean =>
  error instanceof DomainError &&
  error.code === 'unavailable' &&
  error.cause instanceof PoolerError &&
  refusal.test(error.cause.message);

const open = (url: string): Promise<PostgresDb> =>
  openDatabase(databaseUrl(url), testKeys.auditChain) as Promise<PostgresDb>;

/** What PgBouncer can have in either mode. */
const settings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'the session that was free last': {},
  'the session that was free longest': { server_round_robin: '1' },
  'one session': { default_pool_size: '1' },
};

for (const [taken, more] of Object.entries(settings))
  for (const mode of ['transaction', 'statement'] as const satisfies readonly PoolMode[])
    test(`PgBouncer in ${mode} mode is refused by name: it takes ${taken}`, { skip }, async () => {
      await using place = await newPlace('postgres');
      await using bouncer = await PgBouncer.start(place.url, mode, more);
      await assert.rejects(open(bouncer.through(place.url)), isRefusal);
    });

test('PgBouncer in session mode is accepted, and doctor names it', { skip }, async () => {
  await using place = await newPlace('postgres', { isMigrated: true });
  await using bouncer = await PgBouncer.start(place.url, 'session');
  const db = await open(bouncer.through(place.url));
  try {
    assert.equal(db.pooler, 'PgBouncer');
    const checks = await databaseChecks({ config: readConfig(place.environment), db });
    assert.deepEqual(
      checks.find(({ name }) => name === 'pooler'),
      { name: 'pooler', state: 'ok', detail: 'PgBouncer between Keyreeve and PostgreSQL, in session mode' },
    );
    assert.deepEqual(await db.get(one), { one: 1 });
    const direct = await open(place.url);
    assert.equal(direct.pooler, undefined);
    await direct.close();
  } finally {
    await db.close();
  }
});

test(
  'a pooler that changes to transaction mode under a running service is refused, and accepted again',
  { skip },
  async () => {
    await using place = await newPlace('postgres');
    await using bouncer = await PgBouncer.start(place.url, 'session');
    const db = await open(bouncer.through(place.url));
    const outcome = (run: Promise<unknown>): Promise<unknown> =>
      run.then(
        () => 'accepted',
        (error: unknown) => (isRefusal(error) ? 'refused' : error),
      );
    try {
      bouncer.setMode('transaction');
      // Its connections keep their sessions until they close.
      await until('the check finds it', async () => {
        await db.checkPooler();
        return (await outcome(db.get(one))) === 'refused';
      });
      assert.equal(await outcome(db.all(one, [], { isShared: true })), 'refused');
      assert.equal(await outcome(db.transaction((tx) => tx.get(one))), 'refused');
      assert.equal(await outcome(db.snapshot((reader) => reader.get(one))), 'refused');
      bouncer.setMode('session');
      await until('the check accepts it', async () => {
        await db.checkPooler();
        return (await outcome(db.get(one))) === 'accepted';
      });
    } finally {
      await db.close();
    }
  },
);

test('a pooler that is put in place behind a running service serves no statement', { skip }, async () => {
  await using place = await newPlace('postgres');
  await using bouncer = await PgBouncer.start(place.url, 'transaction');
  await using proxy = await FaultProxy.start(place.url);
  const db = await open(proxy.through(place.url));
  try {
    assert.deepEqual(await db.get(one), { one: 1 });
    proxy.retarget(bouncer.through(place.url));
    proxy.cutAll();
    await assert.rejects(db.get(one), isRefusal);
    await assert.rejects(db.all(one, [], { isShared: true }), isRefusal);
    await assert.rejects(
      db.transaction((tx) => tx.get(one)),
      isRefusal,
    );
  } finally {
    await db.close();
  }
});

/** A pool of sessions, of which each connection takes one for a transaction. */
class SimulatedPool {
  readonly #free: number[];
  readonly #takesLast: boolean;
  readonly #held = new Map<string, number>();

  constructor(free: readonly number[], takesLast: boolean) {
    this.#free = [...free];
    this.#takesLast = takesLast;
  }

  connection(name: string, backend: number): PooledSession {
    const query = (text: string): Promise<unknown> => {
      if (text === 'begin') this.#held.set(name, (this.#takesLast ? this.#free.pop() : this.#free.shift()) ?? 0);
      if (text === 'commit') this.#free.push(this.#held.get(name) ?? 0);
      return Promise.resolve({ rows: [{ backend: this.#held.get(name) }] });
    };
    return { client: { query: query as ClientBase['query'] }, backend };
  }
}

for (const takesLast of [true, false])
  for (const free of [
    [1, 2],
    [2, 1],
    [1, 2, 3, 4],
  ])
    test(`two connections of a pool with the sessions ${free.join(', ')} are recognised: ${takesLast ? 'last' : 'first'} one free`, async () => {
      const pool = new SimulatedPool(free, takesLast);
      await assert.rejects(
        assertOwnSessions(pool.connection('a', 1), pool.connection('b', 2)),
        /a connection has changed its session/,
      );
    });

const settingsAtCommit = sql<{ durability: string; messages: string; isolation: string }>(
  'test_settings',
  `select current_setting('synchronous_commit') as durability, current_setting('client_min_messages') as messages,
     current_setting('transaction_isolation') as isolation`,
);

test('a commit is durable although its session has lost its settings', async () => {
  await using place = await newPlace('postgres');
  const direct = new PostgresDatabases(place.url);
  await direct.run('create table things (id integer primary key)');
  await direct.run('create table commits (durability text, messages text, isolation text)');
  await direct.run(`create function record_settings() returns trigger language plpgsql as $$
    begin insert into commits values (current_setting('synchronous_commit'), current_setting('client_min_messages'),
      current_setting('transaction_isolation')); return null; end $$`);
  // Runs at the commit, after all statements of the transaction.
  await direct.run(
    'create constraint trigger at_commit after insert on things deferrable initially deferred for each row execute function record_settings()',
  );
  const db = await open(place.url);
  try {
    // As a pooler leaves it, whose other connections have the settings of the database.
    const lose = sql<object>(
      'test_lose_settings',
      `select set_config('synchronous_commit', 'off', false), set_config('client_min_messages', 'error', false),
         set_config('default_transaction_isolation', 'serializable', false)`,
    );
    await db.transaction((tx) => tx.get(lose));
    await db.transaction((tx) => tx.run(sql('test_insert', 'insert into things values (1)')));
    assert.deepEqual(await db.all(sql('test_commits', 'select * from commits')), [
      { durability: 'on', messages: 'warning', isolation: 'read committed' },
    ]);
    assert.equal((await db.get(settingsAtCommit))?.durability, 'off');
  } finally {
    await db.close();
  }
});
