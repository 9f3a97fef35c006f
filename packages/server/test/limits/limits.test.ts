/**
 * Limits of keys on several processes: they accept a limit completely, and never more, also with wrong clocks.
 * `limits.extended.test.ts` adds faults.
 */
import { test } from 'node:test';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { assertKeepsLimits } from './limit-check.ts';
import { shiftedClocks } from './shifted-clocks.ts';

test(
  'three instances with different clocks accept a quota completely, and never more',
  { tags: ['asvs:2.3.2'] },
  async () => assertKeepsLimits({ instances: 3, postgres: await sharedPostgres(), environmentOf: shiftedClocks }, []),
);
