/** The program is killed while clients change keys, again and again on the same database. */
import { test } from 'node:test';
import { assertKeptAfterKills } from './crash.ts';

test('after SIGKILL at any moment, all acknowledged changes are in force, and the audit log matches the changes (8 rounds)', () =>
  assertKeptAfterKills(8));
