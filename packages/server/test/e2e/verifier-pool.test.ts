/** The time limits of the main process for its verifiers. Only the test advances its timers; the verifiers are real processes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { VerifierPool } from '../../src/app/processes/verifier-pool.ts';
import { createLog } from '../../src/foundation/log.ts';
import { newApp } from '../../test-kit/new-app.ts';
import { SteppedTimers } from '../../test-kit/stepped-timers.ts';
import { until } from '../../test-kit/until.ts';
import { ended, stopProcess } from './verifier-kit.ts';

type Line = Readonly<Record<string, unknown>>;

/** The main process is the one of the test, with one verifier. */
async function newPool() {
  const app = await newApp();
  const before = process.env;
  // Of the verifiers.
  process.env = { ...before, ...app.place.environment, NODE_OPTIONS: '--conditions=keyreeve-sources' };
  const lines: Line[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line) as Line) });
  const timers = new SteppedTimers();
  const pool = new VerifierPool({ count: 1, address: { kind: 'port', host: '127.0.0.1', port: 0 }, log, timers });
  const { pending, draws } = app.service.services;
  const ignored = { onReport: () => undefined, onUses: () => undefined };
  await pool.start({ pending, draws, publicUrl: app.url, database: undefined, ...ignored });
  const of = (event: string): Line[] => lines.filter((line) => line['event'] === event);
  return {
    pool,
    timers,
    of,
    /** The process ids of the verifiers that have listened. */
    pids: () => of('verifier_listening').map(({ verifierPid }) => Number(verifierPid)),
    async [Symbol.asyncDispose]() {
      pool.kill();
      for (const pid of this.pids()) await ended(pid);
      process.env = before;
      await app[Symbol.asyncDispose]();
    },
  };
}

test('a verifier that sends no message for longer than the limit is killed, and replaced at once', async () => {
  await using at = await newPool();
  const { timers, of, pids } = at;
  const [first = 0] = pids();
  await stopProcess(first);
  // Messages from before may arrive.
  await new Promise(setImmediate);
  await timers.pass(limits.verifierSilenceMsMax);
  assert.deepEqual(of('verifier_unresponsive'), []);
  await timers.pass(limits.verifierSilenceMsMax);
  assert.deepEqual(
    of('verifier_unresponsive').map(({ verifierPid }) => verifierPid),
    [first],
  );
  await until('the end is known', () => of('verifier_ended').length === 1);
  await timers.pass(10);
  await until('the replacement listens', () => pids().length === 2);
});

test('a verifier that ends early is replaced after a delay that doubles each time', async () => {
  await using at = await newPool();
  const { pool, timers, of, pids } = at;
  for (const [index, delayMs] of [100, 200, 400].entries()) {
    process.kill(pids()[index] ?? 0, 'SIGKILL');
    await until('the end is known', () => of('verifier_ended').length === index + 1);
    await timers.pass(delayMs - 10);
    assert.deepEqual([pool.listening, pids().length], [0, index + 1]);
    await timers.pass(10);
    await until('the replacement listens', () => pids().length === index + 2);
  }
  assert.equal(pool.replaced, 3);
});
