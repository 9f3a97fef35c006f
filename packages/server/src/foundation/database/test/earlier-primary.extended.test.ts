/** PostgreSQL whose standby is promoted while the earlier primary still answers: what processes read and change then. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { databaseUrl } from '../../../app/configuration/config-values.ts';
import { testKeys } from '../../../../test-kit/new-db.ts';
import { PostgresDatabases } from '../../../../test-kit/postgres/databases.ts';
import { PostgresServer } from '../../../../test-kit/postgres/server.ts';
import { until } from '../../../../test-kit/until.ts';
import { FaultProxy } from '../../../../test/revocation-check/fault-proxy.ts';
import { DomainError } from '../../errors.ts';
import { openDatabase } from '../database.ts';
import type { Db } from '../db.ts';
import { failoverStateOf } from '../failover.ts';
import type { PostgresLocation } from '../postgres-url.ts';
import { accountShare, removingRights, runInShare } from '../share.ts';
import { sql } from '../sql.ts';

const rights = sql<{ id: number }>('test_rights', 'select id from rights');
const removeRight = sql('test_remove_right', 'delete from rights where id = $1');
const unfenced = { validMs: 3_000, settleMs: 3_200 };

const stack = new AsyncDisposableStack();
let [earlier, promoted]: PostgresServer[] = [];
before(async () => {
  earlier = stack.use(await PostgresServer.start());
  promoted = stack.use(await PostgresServer.startStandbyOf(earlier, 'promoted'));
  // The promoted server needs a standby too.
  stack.use(await PostgresServer.startStandbyOf(promoted, 'third'));
  await new PostgresDatabases(earlier.url()).run('create table rights as select generate_series(1, 10) as id');
});
after(() => stack.disposeAsync());

async function open(url: string, options: Partial<PostgresLocation> = { unfenced }): Promise<Db> {
  const location = databaseUrl(url) as PostgresLocation;
  const db = await openDatabase({ ...location, ...options }, testKeys.auditChain);
  stack.defer(() => db.close().catch(() => undefined));
  return db;
}

const isRefused = (error: unknown): boolean =>
  error instanceof DomainError && error.code === 'unavailable' && /not proven/.test(String(error.cause));

/** In the share of a request. */
const remove = (db: Db, id: number): Promise<number> =>
  runInShare(accountShare('acc_ada', 'narrowing'), () =>
    removingRights(() => db.transaction((tx) => tx.run(removeRight, [id]))),
  );

async function removed(db: Db, id: number): Promise<void> {
  await until('the right is removed', () =>
    remove(db, id).then(
      (count) => count === 1,
      (error: unknown) => {
        assert.ok(error instanceof DomainError && error.code === 'unavailable', String(error));
        return false;
      },
    ),
  );
}

test('a primary is read only if the standbys that may be promoted confirm a write, and the role can see it', async () => {
  assert.ok(earlier);
  const databases = new PostgresDatabases(earlier.url());
  const names = async (value: string): Promise<void> => {
    await databases.run(`alter system set synchronous_standby_names = '${value}'`);
    await databases.run('select pg_reload_conf()');
  };
  const refusals: readonly (readonly [names: string, reason: RegExp])[] = [
    ['', /synchronous_standby_names is empty/],
    ['*', /must be the name of one standby/],
    ['ANY 1 (promoted, other)', /must be the name of one standby/],
  ];
  for (const [value, reason] of refusals) {
    await names(value);
    const setting = sql<{ value: string }>(
      'test_names',
      `select current_setting('synchronous_standby_names') as value`,
    );
    const fenced = await open(earlier.url(), {});
    await until('the setting applies', async () => (await fenced.get(setting))?.value === value);
    const db = await open(earlier.url());
    await assert.rejects(db.all(rights), (error) => isRefused(error) && reason.test(String((error as Error).cause)));
    await assert.rejects(db.all(rights, [], { isShared: true }), isRefused);
    assert.equal(db.primaryProof?.refusedReads, 2);
    await names('promoted');
    await until('a write is confirmed', () => db.all(rights).then(() => true, isFalse));
    assert.equal(db.primaryProof?.problem, undefined);
  }

  const confirmed = await open(earlier.url());
  const warnings = async (): Promise<readonly string[]> => (await failoverStateOf(confirmed))?.warnings ?? [];
  const [warning = '', ...others] = await warnings();
  assert.match(warning, /^wal_sender_timeout is 60 s: /);
  assert.deepEqual(others, []);
  assert.equal((await failoverStateOf(confirmed))?.names, 'promoted');
  await databases.run(`alter system set wal_sender_timeout = '5s'`);
  await databases.run('select pg_reload_conf()');
  await until('the setting applies', async () => (await warnings()).length === 0);

  await databases.run(`create role plain login password 'plain' in role pg_read_all_data`);
  const url = new URL(earlier.url());
  [url.username, url.password] = ['plain', 'plain'];
  const plain = await open(url.href);
  await assert.rejects(plain.all(rights), (error) => /pg_read_all_stats/.test(String((error as Error).cause)));
  await databases.run('grant pg_read_all_stats to plain');
  await until('the role can see it', () => plain.all(rights).then(() => true, isFalse));
});

test('after a promotion, a removed right is not read from the earlier primary, by whichever path', async () => {
  assert.ok(earlier && promoted);
  const promotedUrl = promoted.url();
  const databases = new PostgresDatabases(promotedUrl);
  await using front = await FaultProxy.start(earlier.url());
  /** Cut off: it reaches only the earlier primary. */
  const cutOff = await open(earlier.url());
  /** Its proxy keeps its connections to the earlier primary open. */
  const kept = await open(front.through(earlier.url()));
  const fenced = await open(earlier.url(), {});
  await using moved = await FaultProxy.start(earlier.url());
  const current = await open(moved.through(earlier.url()));
  for (const db of [cutOff, kept])
    await until('it reads', () => db.all(rights, [], { isShared: true }).then(({ length }) => length === 10, isFalse));

  await promoted.promote();
  moved.retarget(promoted.url());
  moved.cutAll();
  front.retarget(promoted.url());

  await removed(current, 1);
  // Without a proof, the earlier primary would be read.
  assert.equal((await fenced.all(rights)).length, 10);
  for (let reads = 0; reads < 5; reads++) {
    await assert.rejects(cutOff.all(rights, [], { isShared: true }), isRefused);
    await assert.rejects(cutOff.all(rights), isRefused);
    await assert.rejects(
      cutOff.snapshot((reader) => reader.all(rights)),
      isRefused,
    );
    const read = await kept.all(rights, [], { isShared: true }).catch((error: unknown) => {
      assert.ok(isRefused(error), String(error));
      return undefined;
    });
    assert.ok(read === undefined || read.length === 9);
  }
  await until('the instance whose connections were kept uses the promoted server', () =>
    kept.all(rights).then(({ length }) => length === 9, isFalse),
  );

  // Its own connections to the earlier primary wait for a standby, and are cancelled.
  const waiting = `select from pg_stat_activity where wait_event = 'SyncRep'`;
  const atEarlier = new PostgresDatabases(earlier.url());
  await until('no write waits', async () => (await atEarlier.all(waiting)).length <= 2);

  // A process that starts learns from the others that they have waited. They take the lock with their next proof.
  let started: Db | undefined;
  await until('a process has shared that it has waited', async () => {
    await started?.close();
    started = await open(promotedUrl);
    return started.primaryProof?.unsettledMs === 0;
  });
  assert.equal(started && (await remove(started, 2)), 1);
  assert.ok((await databases.all('select from rights')).length === 8);
});

const isFalse = (): boolean => false;
