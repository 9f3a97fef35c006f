/**
 * The revocation check on PostgreSQL and on the embedded database while instances and connections fail.
 * `faults.extended.test.ts` injects all faults in all deployments.
 */
import { test } from 'node:test';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { assertRejectsDeletedKeys } from './fault-check.ts';
import { faults } from './faults.ts';

test('two instances on PostgreSQL reject deleted keys while connections are cut after commits and one is killed', async () =>
  assertRejectsDeletedKeys({ instances: 2, postgres: await sharedPostgres() }, [faults.cutAfter, faults.killed]));

test('one process on the embedded database rejects deleted keys while it is killed and stopped', () =>
  assertRejectsDeletedKeys({ instances: 1 }, [faults.killed, faults.stopped]));
