/** The worker of the outbox: all jobs run, none twice at the same time, and a failing queue does not delay others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import type { Db } from '../../../foundation/database/db.ts';
import { JobFailure, type Handler } from '../job.ts';
import * as store from '../store.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { SteppedTimers } from '../../../../test-kit/stepped-timers.ts';
import { until } from '../../../../test-kit/until.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { gate, isEmpty, newWorker, numbered, untilEmpty } from './outbox-kit.ts';
import { now } from '../../../../test-kit/rows.ts';

onEachDatabase('two instances run all jobs, each once', async ({ db, connect }) => {
  const clock = new FakeClock(now);
  const done: unknown[] = [];
  const handler: Handler = ({ payload }) => Promise.resolve(void done.push(payload));
  await using one = newWorker(db, clock, handler);
  await using two = newWorker(await connect(), clock, handler);
  one.outbox.start();
  two.outbox.start();
  const payloads = numbered('p', 60);
  await one.put('mail', ...payloads.slice(0, 30));
  await two.put('other', ...payloads.slice(30));
  // A worker counts a job after the response to its commit, when the other worker may already find no row.
  await until(
    'all jobs are done',
    async () => (await isEmpty(db)) && one.outbox.runningCount + two.outbox.runningCount === 0,
  );
  assert.deepEqual(done.map(String).toSorted(), payloads.toSorted());
  assert.equal((one.outbox.counts.get('mail')?.done ?? 0) + (two.outbox.counts.get('mail')?.done ?? 0), 60);
  assert.deepEqual([...one.failures, ...two.failures], []);
});

onEachDatabase('a receiver that never responds delays no other queue', async ({ db }) => {
  const clock = new FakeClock(now);
  const slow = gate();
  const done: unknown[] = [];
  await using worker = newWorker(db, clock, async ({ payload }) => {
    if (String(payload).startsWith('slow')) await slow.opened;
    done.push(payload);
  });
  worker.outbox.start();
  await worker.put('a', ...numbered('slow', 20));
  await worker.put('b', ...numbered('quick', 20));
  await until('the other jobs are done', () => done.length === 20);
  assert.ok(done.every((payload) => String(payload).startsWith('quick')));
  slow.open();
  await untilEmpty(db, worker, clock);
});

// On SQLite only: on a slow machine, 16 concurrent commits may exceed a timeout of PostgreSQL, and this clock stands
// still, so there would be no retry.
test('running jobs are bounded in total and for each queue, and every queue gets its turn', async () => {
  await using embedded = await (databases['sqlite'] ?? assert.fail())();
  const { db } = embedded;
  const running: string[] = [];
  const begun: string[] = [];
  let full = gate();
  await using worker = newWorker(db, new FakeClock(now), async ({ payload }) => {
    const queue = `webhook:${String(payload).slice(0, 2)}`;
    running.push(queue);
    begun.push(queue);
    await full.opened;
    running.splice(running.indexOf(queue), 1);
  });
  const queues = numbered('webhook:q', 8);
  for (const queue of queues) await worker.put(queue, ...numbered(queue.slice('webhook:'.length), 8));
  worker.outbox.start();
  for (let round = 1; round <= 4; round++) {
    await until('all slots are used', () => begun.length === round * limits.outboxUnderWayMax);
    await new Promise(setImmediate);
    assert.equal(running.length, limits.outboxUnderWayMax);
    assert.ok(queues.every((queue) => running.filter((name) => name === queue).length <= 4));
    // The queues of the first round have more jobs, but it is not their turn.
    if (round === 2) assert.equal(new Set(begun).size, queues.length);
    const opened = full;
    full = gate();
    opened.open();
  }
  await until('all jobs are done', () => isEmpty(db));
  assert.deepEqual(
    begun.toSorted(),
    queues.flatMap((queue) => Array.from({ length: 8 }, () => queue)),
  );
});

onEachDatabase('mail is sent while the receivers in all slots for webhooks never respond', async ({ db }) => {
  const clock = new FakeClock(now);
  const slow = gate();
  const begun: string[] = [];
  await using worker = newWorker(db, clock, async ({ payload }) => {
    begun.push(String(payload));
    if (String(payload).startsWith('slow')) await slow.opened;
  });
  worker.outbox.start();
  for (const queue of numbered('webhook:', 8)) await worker.put(queue, ...numbered('slow', 4));
  await until('every slot for webhooks is taken', () => begun.length === limits.outboxUnderWayMax);
  await worker.put('mail', 'letter');
  await until('the mail is sent', () => begun.includes('letter'));
  assert.equal(begun.length, limits.outboxUnderWayMax + 1);
  slow.open();
  await untilEmpty(db, worker, clock);
});

onEachDatabase('a failed job is retried with delays that double up to one hour', async ({ db }) => {
  const clock = new FakeClock(now);
  const triedAt: number[] = [];
  await using worker = newWorker(db, clock, () => {
    triedAt.push(clock.now());
    return Promise.reject(new Error('not now'));
  });
  worker.outbox.start();
  await worker.put('mail', 'one');
  for (let attempt = 1; attempt <= 14; attempt++) {
    await until(`attempt ${attempt}`, () => {
      worker.outbox.pollSoon();
      return triedAt.length === attempt && worker.outbox.runningCount === 0;
    });
    const seconds = Math.min(3_600, 5 * 2 ** (attempt - 1));
    clock.advance({ seconds: seconds - 1 });
    assert.deepEqual(await store.findDueQueues(db, clock.now()), [], `too early after attempt ${attempt}`);
    clock.advance({ seconds: 1 });
  }
  assert.deepEqual(
    worker.failures.slice(0, 14).map(({ attempts, isFinal }) => [attempts, isFinal]),
    numbered('', 14).map((index) => [Number(index) + 1, false]),
  );
});

onEachDatabase('a failure of a queue pauses that queue only, and all its jobs run later', async ({ db }) => {
  const clock = new FakeClock(now);
  let isDown = true;
  const tried: string[] = [];
  const done: string[] = [];
  await using worker = newWorker(db, clock, ({ payload }) => {
    tried.push(String(payload));
    if (isDown && String(payload).startsWith('m')) return Promise.reject(new JobFailure('unreachable', 'queue'));
    done.push(String(payload));
    return Promise.resolve();
  });
  worker.outbox.start();
  await worker.put('mail', ...numbered('m', 12));
  await until('the job was tried', () => worker.failures.length >= 1);
  await worker.put('other', ...numbered('o', 5));
  await until('the other queue is done', () => done.length === 5);
  // One hour in steps of a minute.
  for (let minute = 0; minute < 60; minute++) {
    clock.advance({ seconds: 60 });
    worker.outbox.pollSoon();
    await new Promise(setImmediate);
  }
  assert.ok(tried.length < 12 * 20, `${tried.length} attempts in an hour`);
  assert.equal(done.length, 5);
  isDown = false;
  clock.advance({ seconds: 300 });
  worker.outbox.pollSoon();
  await untilEmpty(db, worker, clock);
  assert.deepEqual(done.toSorted(), [...numbered('m', 12), ...numbered('o', 5)].toSorted());
});

onEachDatabase(
  'a job that cannot succeed is given up immediately, every other one after the configured days',
  async ({ db }) => {
    const clock = new FakeClock(now);
    await using worker = newWorker(db, clock, ({ payload }) =>
      Promise.reject(payload === 'final' ? new JobFailure('refused for good', 'final') : new Error('not now')),
    );
    worker.outbox.start();
    await worker.put('mail', 'final');
    await until('the job is given up', () => isEmpty(db));
    assert.deepEqual(
      worker.failures.map(({ isFinal, attempts }) => [isFinal, attempts]),
      [[true, 1]],
    );
    await worker.put('mail', 'late');
    await until('the job has failed', () => worker.failures.length === 2 && worker.outbox.runningCount === 0);
    clock.advance({ days: limits.outboxKeptDays });
    worker.outbox.pollSoon();
    await until('the job has failed again', () => worker.failures.length === 3 && worker.outbox.runningCount === 0);
    assert.equal(worker.failures[2]?.isFinal, false);
    clock.advance({ seconds: 3_600 });
    await until('the job is given up', () => {
      worker.outbox.pollSoon();
      return isEmpty(db);
    });
    assert.deepEqual(worker.outbox.counts.get('mail'), { done: 0, failed: 2, givenUp: 2 });
  },
);

onEachDatabase(
  'a job that its handler removes in its own transaction is done if and only if that commits',
  async ({ db }) => {
    let fails = true;
    const clock = new FakeClock(now);
    await using worker = newWorker(db, clock, async ({ finishTx }) => {
      await db.transaction(async (tx) => {
        await finishTx(tx);
        await store.insertJobTx(tx, worker.outbox.prepare('webhook', 'next', 'follows', 'follows'));
        if (fails) throw new Error('rolled back');
      });
    });
    worker.outbox.start();
    await worker.put('mail', 'one');
    await until('the job has failed', () => worker.failures.length === 1 && worker.outbox.runningCount === 0);
    assert.deepEqual(
      (await store.countJobs(db, 10)).map(({ kind }) => kind),
      ['mail'],
    );
    fails = false;
    clock.advance({ seconds: 5 });
    worker.outbox.pollSoon();
    await until('the job is done', async () => (await store.countJobs(db, 10)).every(({ kind }) => kind === 'webhook'));
  },
);

onEachDatabase('a stopping process releases the jobs that it has claimed and not started', async ({ db }) => {
  const claimed = gate();
  const stopping = gate();
  const watched = withTransaction(db, async (work, options) => {
    const result = await db.transaction(work, options);
    claimed.open();
    await stopping.opened;
    return result;
  });
  let begun = 0;
  const worker = newWorker(watched, new FakeClock(now), () => Promise.resolve(void begun++));
  const row = worker.outbox.prepare('mail', 'mail', 'one');
  await db.transaction((tx) => store.insertJobTx(tx, row));
  worker.outbox.start();
  await claimed.opened;
  const stopped = worker.outbox.stop();
  stopping.open();
  await stopped;
  assert.equal(begun, 0);
  const [again] = await store.claimJobs(db, 'mail', { now, claimedUntil: now + 1, max: 1 });
  assert.deepEqual([again?.id, again?.attempts], [row.id, 1]);
});

onEachDatabase('stopping waits for running jobs for five seconds', async ({ db }) => {
  const slow = gate();
  let begun = 0;
  let ended = 0;
  const timers = new SteppedTimers();
  const handler = async (): Promise<void> => {
    begun++;
    await slow.opened;
    ended++;
  };
  const worker = newWorker(db, new FakeClock(now), handler, { timers });
  worker.outbox.start();
  await worker.put('mail', 'one');
  await until('the job has started', () => begun === 1);
  let isStopped = false;
  const stopped = worker.outbox.stop().then(() => (isStopped = true));
  await timers.pause(4_999);
  assert.equal(isStopped, false);
  await timers.pause(1);
  await stopped;
  assert.equal(ended, 0);
  const again = worker.outbox.stop();
  slow.open();
  await again;
  assert.equal(ended, 1);
  assert.ok(await isEmpty(db));
});

onEachDatabase('a job without a handler waits for an instance that has one', async ({ db }) => {
  const clock = new FakeClock(now);
  await using worker = newWorker(db, clock, () => Promise.resolve(), { kind: 'webhook' });
  worker.outbox.start();
  await worker.put('mail', 'one');
  await until('the job is postponed', () => worker.failures.length === 1 && worker.outbox.runningCount === 0);
  assert.deepEqual(await store.findDueQueues(db, now + 4_999), []);
  assert.deepEqual(await store.findDueQueues(db, now + 5_000), ['mail']);
  assert.equal(worker.failures.length, 1);
  assert.match(String(worker.failures[0]?.error), /no handler for mail/);
});

onEachDatabase('an unreachable database is reported once, and jobs run when it is reachable again', async ({ db }) => {
  let isDown = true;
  let polls = 0;
  const broken: Db = {
    ...withTransaction(db, (work, options) => db.transaction(work, options)),
    all: (...args) => {
      polls++;
      return isDown ? Promise.reject(new Error('down')) : db.all(...args);
    },
  };
  const done: unknown[] = [];
  await using worker = newWorker(broken, new FakeClock(now), ({ payload }) => Promise.resolve(void done.push(payload)));
  worker.outbox.start();
  await worker.put('mail', 'one');
  await until('the database was polled repeatedly', () => {
    worker.outbox.pollSoon();
    return polls >= 5;
  });
  assert.deepEqual(
    worker.failures.map(({ kind }) => kind),
    ['any'],
  );
  isDown = false;
  await until('the job is done', () => done.length === 1);
});
