/** The program is killed while clients change keys. */
import { test } from 'node:test';
import { assertKeptAfterKills } from './crash.ts';

test(
  'after SIGKILL at any moment, all acknowledged changes are in force, and the audit log matches the changes',
  { tags: ['asvs:2.3.3'] },
  () => assertKeptAfterKills(2),
);
