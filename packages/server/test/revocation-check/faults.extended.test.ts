/**
 * The revocation check on one to three instances, on PostgreSQL and on the embedded database, while instances, the database and
 * their connections fail. `npm run prove` is the long run.
 */
import { after, before, test } from 'node:test';
import { skipWithoutPgBouncer } from '../../test-kit/postgres/pgbouncer.ts';
import { PostgresServer } from '../../test-kit/postgres/server.ts';
import { assertRejectsDeletedKeys } from './fault-check.ts';
import { faults, verifierFaults } from './faults.ts';
import { serverOptions } from './mutant-run.ts';

let postgres: PostgresServer;
before(async () => {
  postgres = await PostgresServer.start(serverOptions);
});
after(() => postgres[Symbol.asyncDispose]());

test('one instance on PostgreSQL rejects deleted keys while connections are cut around commits, responses are slow and rows are locked', () =>
  assertRejectsDeletedKeys({ instances: 1, postgres }, [
    faults.cutAfter,
    faults.cutBefore,
    faults.slow,
    faults.locked,
  ]));

test('two instances on PostgreSQL reject deleted keys while they are killed, paused, cut off and without a free connection', () =>
  assertRejectsDeletedKeys({ instances: 2, postgres }, [faults.killed, faults.paused, faults.refused, faults.full]));

test('three instances reject deleted keys while PostgreSQL crashes, is restarted, paused and unreachable, and commits are cut', () =>
  assertRejectsDeletedKeys({ instances: 3, postgres }, [
    faults.databaseCrashed,
    faults.cutAfter,
    faults.databaseRestarted,
    faults.databasePaused,
    faults.dropped,
  ]));

test(
  'two instances behind PgBouncer in session mode reject deleted keys while PostgreSQL crashes, commits are cut, and connections are dropped',
  { skip: skipWithoutPgBouncer() },
  () =>
    assertRejectsDeletedKeys({ instances: 2, postgres, hasPooler: true }, [
      faults.databaseCrashed,
      faults.cutAfter,
      faults.cutBefore,
      faults.dropped,
      faults.killed,
      faults.databaseRestarted,
    ]),
);

test('two processes on one embedded file reject deleted keys while they are killed and paused', () =>
  assertRejectsDeletedKeys({ instances: 2 }, [faults.killed, faults.paused]));

test('the verifiers of two instances on PostgreSQL reject deleted keys while one is killed, one is paused, main processes are killed and paused, and commits are cut', () =>
  assertRejectsDeletedKeys({ instances: 2, postgres, verifiers: 1 }, [
    verifierFaults.killed,
    verifierFaults.paused,
    faults.killed,
    faults.paused,
    faults.cutBefore,
  ]));

test('two verifiers on one embedded file reject deleted keys while one is killed, one is paused, and the main process is killed and paused', () =>
  assertRejectsDeletedKeys({ instances: 1, verifiers: 2 }, [
    verifierFaults.killed,
    verifierFaults.paused,
    faults.killed,
    faults.paused,
  ]));

test('two instances on PostgreSQL apply the scope catalogue while connections are cut around commits and one is killed', () =>
  assertRejectsDeletedKeys({ instances: 2, postgres, scopes: 'catalogue' }, [
    faults.cutAfter,
    faults.cutBefore,
    faults.killed,
  ]));
