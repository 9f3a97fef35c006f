/** Claims of the outbox: one process runs a job, and another takes over soon after that process was killed. */
import assert from 'node:assert/strict';
import type { Handler } from '../job.ts';
import * as store from '../store.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { until } from '../../../../test-kit/until.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { gate, isEmpty, newWorker } from './outbox-kit.ts';
import { now } from '../../../../test-kit/rows.ts';

onEachDatabase('the jobs of a killed process run elsewhere within 15 seconds', async (opened) => {
  const { db } = opened;
  const clock = new FakeClock(now);
  const begun: unknown[] = [];
  const done: unknown[] = [];
  const never = gate();
  // A killed process: its handler never ends, and it renews no claim.
  const killed = newWorker(await opened.connect(), clock, async ({ payload }) => {
    begun.push(payload);
    await never.opened;
  });
  await killed.put('mail', 'one');
  killed.outbox.start();
  await until('the job has started', () => begun.length === 1);
  await killed.outbox.stop(1);
  await using worker = newWorker(db, clock, ({ payload, attempts }) =>
    Promise.resolve(void done.push([payload, attempts])),
  );
  worker.outbox.start();
  await worker.put('other', 'two');
  await until('the other job is done', () => done.length === 1);
  assert.deepEqual(done, [['two', 1]]);
  clock.advance({ seconds: 15 });
  worker.outbox.pollSoon();
  await until('all jobs are done', () => isEmpty(db));
  assert.deepEqual(done[1], ['one', 2]);
});

onEachDatabase('another process does not start a job that a live process runs, for any duration', async (opened) => {
  const clock = new FakeClock(now);
  const slow = gate();
  const begun: string[] = [];
  const beginAs =
    (name: string): Handler =>
    async () => {
      begun.push(name);
      await slow.opened;
    };
  await using one = newWorker(opened.db, clock, beginAs('one'));
  await using two = newWorker(await opened.connect(), clock, beginAs('two'));
  one.outbox.start();
  await one.put('mail', 'letter');
  await until('the job has started', () => begun.length === 1);
  two.outbox.start();
  for (let passed = 0; passed < 60; passed += 5) {
    clock.advance({ seconds: 5 });
    one.outbox.pollSoon();
    // Waits until the claim lasts beyond the next time of the clock.
    await until(
      'the claim is renewed',
      async () => (await store.findDueQueues(opened.db, clock.now() + 14_999)).length === 0,
    );
    two.outbox.pollSoon();
  }
  slow.open();
  await until('the job is done', () => isEmpty(opened.db));
  assert.deepEqual(begun, ['one']);
});

onEachDatabase('a job that runs longer than its claim is not started again by the same process', async ({ db }) => {
  const clock = new FakeClock(now);
  const slow = gate();
  let begun = 0;
  await using worker = newWorker(db, clock, async () => {
    begun++;
    await slow.opened;
  });
  worker.outbox.start();
  await worker.put('mail', 'one');
  await until('the job has started', () => begun === 1);
  clock.advance({ seconds: 16 });
  await until('the job is claimed again', async () => {
    worker.outbox.pollSoon();
    return (await store.findDueQueues(db, clock.now())).length === 0;
  });
  slow.open();
  await until('the job is done', () => isEmpty(db));
  assert.equal(begun, 1);
});
