/** PostgreSQL settings that could lose an acknowledged deletion are reported or overridden. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { openDatabase } from '../database.ts';
import type { Db } from '../db.ts';
import { durabilityOf } from '../durability.ts';
import { sql } from '../sql.ts';
import { readConfig } from '../../../app/configuration/config.ts';
import { Secret } from '../../crypto/secret.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { wire } from '../../../app/wiring/wire.ts';
import { PostgresDatabases } from '../../../../test-kit/postgres/databases.ts';
import { sharedPostgres } from '../../../../test-kit/postgres/running.ts';
import { PostgresServer } from '../../../../test-kit/postgres/server.ts';
import { until } from '../../../../test-kit/until.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, operator } from '../../../../test-kit/rows.ts';

const durable = PostgresServer.start({ durable: true });
after(async () => (await durable)[Symbol.asyncDispose]());

/** @param settings of the database, which apply to a session unless it has its own */
async function on(settings: Readonly<Record<string, string>>, prove: (db: Db) => Promise<void>): Promise<void> {
  const server = await durable;
  const { url } = await server.createDatabase();
  for (const [name, value] of Object.entries(settings))
    await new PostgresDatabases(server.url()).run(
      `alter database ${new URL(url).pathname.slice(1)} set ${name} = '${value}'`,
    );
  await onUrl(url, prove);
}

async function onUrl(url: string, prove: (db: Db) => Promise<void>): Promise<void> {
  const db = await openDatabase(databaseUrl(url), keys.auditChain);
  try {
    await prove(db);
  } finally {
    await db.close();
  }
}

const commitsWait = sql<{ setting: string }>('test_commits', `select current_setting('synchronous_commit') as setting`);

test('synchronous_commit = off is overridden', async () => {
  await on({ synchronous_commit: 'off' }, async (db) => {
    assert.equal((await db.get(commitsWait))?.setting, 'on');
    assert.equal(await db.transaction(async (tx) => (await tx.get(commitsWait))?.setting), 'on');
    assert.deepEqual((await durabilityOf(db)).warnings, []);
  });
});

test('a stronger setting of synchronous_commit is kept', async () => {
  await on({ synchronous_commit: 'remote_apply' }, async (db) =>
    assert.equal((await db.get(commitsWait))?.setting, 'remote_apply'),
  );
});

test('a server that never flushes causes a warning', async () => {
  const { url } = await (await sharedPostgres()).createDatabase();
  await onUrl(url, async (db) => {
    const { version, warnings } = await durabilityOf(db);
    assert.match(version, /^\d+\.\d+/);
    assert.deepEqual(warnings, [
      'fsync or full_page_writes is off on the PostgreSQL server: a crash of its machine may revive deleted keys',
    ]);
  });
});

test('a role without warnings still gets the warning of a commit that stopped waiting', async () => {
  await on({ client_min_messages: 'error' }, async (db) => {
    assert.equal(
      (
        await db.get(
          sql<{ setting: string }>('test_messages', `select current_setting('client_min_messages') as setting`),
        )
      )?.setting,
      'warning',
    );
  });
});

const createTable = sql('test_create', 'create table things (id integer primary key)');
const insert = sql('test_insert', 'insert into things (id) values ($1)');
const now = sql<{ now: string }>('test_now', 'select clock_timestamp()::text as now');
const waitingSince = sql<{ count: number }>(
  'test_waiting_since',
  `select count(*) as count from pg_stat_activity where wait_event = 'SyncRep' and query_start < $1::timestamptz`,
);

const remove = sql('test_delete', 'delete from things where id = $1');
/** The number of changed rows if the commit was acknowledged, otherwise the error code. */
const outcomeOf = (change: Promise<number>): Promise<unknown> => change.catch(codeOf);

test('without its standby, the server acknowledges no commit, and no waiting commit keeps a connection', async () => {
  await on({}, async (db) => {
    await db.transaction((tx) => tx.run(createTable));
    for (const id of [1, 2]) await db.transaction((tx) => tx.run(insert, [id]));
    await db.all(sql('test_standby', `alter system set synchronous_standby_names = 'absent'`));
    await db.all(sql('test_reload', 'select pg_reload_conf()'));
    // The processes of the server read the setting some time after this statement.
    let probe = 100;
    const isWaiting = async (): Promise<boolean> =>
      (await outcomeOf(db.transaction((tx) => tx.run(insert, [probe++])))) === 'unavailable';
    await until('a commit waits for the absent standby', isWaiting);
    const remove1 = (): Promise<unknown> => outcomeOf(db.transaction((tx) => tx.run(remove, [1])));
    assert.equal(await remove1(), 'unavailable');
    // The row is deleted only on the primary: a repeated deletion must not report that nothing is left.
    assert.equal(await remove1(), 'unavailable');
    assert.equal(db.writes.isHealthy, false);
    // A plain read that finds nothing also waits for a commit that the standby has confirmed.
    const confirmations = Array.from({ length: 16 }, () => outcomeOf(db.confirm().then(() => 0)));
    assert.deepEqual(new Set(await Promise.all(confirmations)), new Set(['unavailable']));
    const writes = Array.from({ length: 16 }, (_, id) => outcomeOf(db.transaction((tx) => tx.run(insert, [10 + id]))));
    for (const outcome of await Promise.all(writes)) assert.equal(outcome, 'unavailable');
    // Only the probe, which runs every second while writes fail, still waits, and each probe is cancelled. So
    // a commit that began before now and waits longer than a probe is one of those above.
    const answeredAt = (await db.get(now))?.now ?? '';
    const isNoneLeft = async (): Promise<boolean> => (await db.get(waitingSince, [answeredAt]))?.count === 0;
    await until('no backend waits for a commit that was answered', isNoneLeft);

    await db.all(sql('test_no_standby', `alter system reset synchronous_standby_names`));
    await db.all(sql('test_reload', 'select pg_reload_conf()'));
    const isAcknowledged = async (): Promise<boolean> =>
      (await outcomeOf(db.transaction((tx) => tx.run(insert, [probe++])))) === 1;
    await until('a commit needs no standby', isAcknowledged);
    assert.equal(await outcomeOf(db.transaction((tx) => tx.run(remove, [2]))), 1);
    assert.equal(await remove1(), 0);
    await db.confirm();
    assert.equal(db.writes.isHealthy, true);
  });
});

onEachDatabase('a repeated sign-out is as durable as the first, without its own write', async ({ db }) => {
  let commits = 0;
  let confirmations = 0;
  const counting = withTransaction(db, async (body, options) => {
    const value = await db.transaction(body, options);
    commits++;
    return value;
  });
  const confirm = async (): Promise<void> => {
    await db.confirm();
    confirmations++;
  };
  const counted = { ...counting, confirm };
  const argon2 = { memoryKib: 64, passes: 1, lanes: 1 };
  const installation = { db: counted, keys, migrated: [] };
  const clock = new FakeClock();
  const services = wire({ config: readConfig({}), installation, clock, issuer: 'http://localhost', argon2 });
  const { accounts, signingKeys, tokenPairs } = services;
  await signingKeys.ensure();
  const password = new Secret('wombat orbit velvet 42');
  await accounts.create(operator, 'you@example.com', password, 'user');
  const { refreshToken } = await tokenPairs.signIn('you@example.com', password, {
    clientIp: '192.0.2.1',
    userAgent: '',
  });
  commits = 0;
  await tokenPairs.signOut(refreshToken);
  assert.deepEqual([commits, confirmations], [1, 0]);
  await tokenPairs.signOut(refreshToken);
  assert.deepEqual([commits, confirmations], [1, 1]);
});
