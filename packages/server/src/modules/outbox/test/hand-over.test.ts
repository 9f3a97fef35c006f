/** Jobs whose effect may have happened although no reply arrived: they are repeated at most once, and delay no other job. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { JobFailure, type Handler, type Job } from '../job.ts';
import * as store from '../store.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { SteppedTimers } from '../../../../test-kit/stepped-timers.ts';
import { until } from '../../../../test-kit/until.ts';
import { gate, isEmpty, newWorker, numbered, untilEmpty } from './outbox-kit.ts';
import { now } from '../../../../test-kit/rows.ts';

const noReply = (): JobFailure => new JobFailure('no reply arrived', 'unknown');

onEachDatabase('a job with an unknown outcome is repeated once, an hour later, and then given up', async ({ db }) => {
  const clock = new FakeClock(now);
  const triedAt: number[] = [];
  await using worker = newWorker(db, clock, async ({ handOver }) => {
    triedAt.push((clock.now() - now) / 1000);
    await handOver();
    throw noReply();
  });
  worker.outbox.start();
  await worker.put('mail', 'one');
  await until('the job has failed', () => worker.failures.length === 1 && worker.outbox.runningCount === 0);
  clock.advance({ seconds: 3_599 });
  assert.deepEqual(await store.findDueQueues(db, clock.now()), []);
  clock.advance({ seconds: 1 });
  worker.outbox.pollSoon();
  await until('the job is given up', () => isEmpty(db));
  assert.deepEqual(triedAt, [0, 3_600]);
  assert.deepEqual(
    worker.failures.map(({ isFinal }) => isFinal),
    [false, true],
  );
});

onEachDatabase('an unknown outcome does not pause the queue', async ({ db }) => {
  const clock = new FakeClock(now);
  const done: unknown[] = [];
  await using worker = newWorker(db, clock, async ({ payload, handOver }) => {
    if (payload === 'lost') {
      await handOver();
      throw noReply();
    }
    done.push(payload);
  });
  worker.outbox.start();
  await worker.put('mail', 'lost');
  await until('the job has failed', () => worker.failures.length === 1);
  await worker.put('mail', 'next');
  await until('the next job is done', () => done.length === 1);
});

onEachDatabase('a job that was rejected after its end was sent is retried as often as other jobs', async ({ db }) => {
  const clock = new FakeClock(now);
  let attempts = 0;
  await using worker = newWorker(db, clock, async ({ handOver }) => {
    attempts++;
    await handOver();
    if (attempts < 6) throw new JobFailure('451 come back later', 'job');
  });
  worker.outbox.start();
  await worker.put('mail', 'one');
  for (let attempt = 1; attempt < 6; attempt++) {
    await until(`attempt ${attempt}`, () => worker.failures.length === attempt && worker.outbox.runningCount === 0);
    assert.deepEqual(await store.findDueQueues(db, clock.now() + 5_000 * 2 ** (attempt - 1)), ['mail']);
    clock.advance({ seconds: 5 * 2 ** (attempt - 1) });
    worker.outbox.pollSoon();
  }
  await until('the job is done', () => isEmpty(db));
  assert.equal(attempts, 6);
});

onEachDatabase(
  'after a process was killed between the end of a message and its reply, the job is repeated once',
  async (opened) => {
    const { db } = opened;
    const clock = new FakeClock(now);
    const never = gate();
    const triedAt: number[] = [];
    const killAfterHandOver = async (): Promise<void> => {
      let isHandedOver = false;
      const killed = newWorker(await opened.connect(), clock, async ({ handOver }: Job) => {
        triedAt.push((clock.now() - now) / 1000);
        await handOver();
        isHandedOver = true;
        await never.opened;
      });
      killed.outbox.start();
      await until('the end of the message is recorded', () => isHandedOver);
      await killed.outbox.stop(1);
    };
    await newWorker(db, clock, () => Promise.resolve()).put('mail', 'one');
    await killAfterHandOver();
    clock.advance({ seconds: 3_599 });
    assert.deepEqual(await store.findDueQueues(db, clock.now()), []);
    clock.advance({ seconds: 1 });
    await killAfterHandOver();
    clock.advance({ seconds: 3_600 });
    await using worker = newWorker(db, clock, () => Promise.resolve(void triedAt.push(-1)));
    worker.outbox.start();
    await until('the job is given up', () => isEmpty(db));
    assert.deepEqual(triedAt, [0, 3_600]);
    assert.deepEqual(
      worker.failures.map(({ isFinal }) => isFinal),
      [true],
    );
  },
);

onEachDatabase('of two processes that run a job after a stall, one sends the end of the message', async (opened) => {
  const clock = new FakeClock(now);
  const stalled = gate();
  const handedOver: string[] = [];
  const begun: string[] = [];
  const handlerOf =
    (name: string, waits: Promise<void>) =>
    async ({ handOver }: Job) => {
      begun.push(name);
      await waits;
      await handOver();
      handedOver.push(name);
    };
  await using one = newWorker(opened.db, clock, handlerOf('one', stalled.opened));
  await using two = newWorker(await opened.connect(), clock, handlerOf('two', Promise.resolve()));
  one.outbox.start();
  await one.put('mail', 'letter');
  await until('the job has started', () => begun.length === 1);
  await one.outbox.stop(1);
  clock.advance({ seconds: 15 });
  two.outbox.start();
  await until('the job is done', () => isEmpty(opened.db));
  stalled.open();
  await until('the stalled job has failed', () => one.failures.length === 1);
  assert.deepEqual(handedOver, ['two']);
  assert.match(String(one.failures[0]?.error), /another process has the job/);
});

onEachDatabase('jobs that wait for a reply delay no other job, up to the bound of connections', async ({ db }) => {
  const clock = new FakeClock(now);
  const replied = gate();
  let waiting = 0;
  const done: unknown[] = [];
  await using worker = newWorker(db, clock, async ({ payload, handOver, freeSlot }) => {
    if (String(payload).startsWith('slow')) {
      if (String(payload).endsWith('0')) await handOver();
      else freeSlot();
      waiting++;
      await replied.opened;
    }
    done.push(payload);
  });
  worker.outbox.start();
  await worker.put('mail', ...numbered('slow', 40));
  await until('all of them wait', () => waiting === 40);
  await worker.put('mail', 'letter');
  await until('the other job is done', () => done.length === 1);
  assert.deepEqual(done, ['letter']);
  // Beyond the bound, they take the slots of their queue.
  await worker.put('mail', ...numbered('slow', limits.outboxWaitingMax));
  await until('the bound is reached', () => waiting === limits.outboxWaitingMax + 4);
  await new Promise(setImmediate);
  assert.equal(worker.outbox.runningCount, limits.outboxWaitingMax + 4);
  replied.open();
  await untilEmpty(db, worker, clock);
});

onEachDatabase('a stop waits one second for a job that waits for a reply', async ({ db }) => {
  const replied = gate();
  let isHandedOver = false;
  const timers = new SteppedTimers();
  const handler: Handler = async ({ handOver }) => {
    await handOver();
    isHandedOver = true;
    await replied.opened;
  };
  const worker = newWorker(db, new FakeClock(now), handler, { timers });
  worker.outbox.start();
  await worker.put('mail', 'one');
  await until('the end of the message is recorded', () => isHandedOver);
  let isStopped = false;
  const stopped = worker.outbox.stop().then(() => (isStopped = true));
  await timers.pause(999);
  assert.equal(isStopped, false);
  await timers.pause(1);
  await stopped;
  replied.open();
});
