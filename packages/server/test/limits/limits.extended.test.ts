/**
 * Limits of keys on several processes: they never accept more than a limit, whatever crashes, stalls or is cut, and with wrong
 * clocks. `KEYREEVE_TEST_QUOTA=10000 KEYREEVE_TEST_RUNS=100` is the long run.
 */
import { test } from 'node:test';
import { sharedPostgres } from '../../test-kit/postgres/running.ts';
import { assertKeepsLimits } from './limit-check.ts';
import { shiftedClocks } from './shifted-clocks.ts';

test('three instances never accept more than a limit while they are killed and paused, and connections and commits are cut', async () =>
  assertKeepsLimits({ instances: 3, postgres: await sharedPostgres(), environmentOf: shiftedClocks }, [
    'killed',
    'cutBefore',
    'paused',
    'cutAfter',
    'cutAll',
  ]));

test('an instance and its verifier on an embedded database accept a quota completely, and never more', () =>
  assertKeepsLimits({ instances: 1, verifiers: 1 }, []));

test('an instance and its two verifiers never accept more than a limit while they are killed and paused', () =>
  assertKeepsLimits({ instances: 1, verifiers: 2 }, ['verifierKilled', 'paused', 'killed']));
