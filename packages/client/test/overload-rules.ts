/** Rules about many verifications at once: the batches in flight, and the failures of an overload. */
import assert from 'node:assert/strict';
import { settled } from './held-transport.ts';
import type { Library } from './library.ts';
import { held, isUnavailable, many, outcomeNow, type Held, type Rule } from './rule.ts';

const stepMs = 20;

/** Answers each batch of a client when it has taken its time, until none is in flight. @returns the most that were in flight */
async function serve({ sent, timers }: Held, durationMs: (started: number) => number): Promise<number> {
  const dueMs: number[] = [];
  let answered = new Set<number>();
  let most = 0;
  for (;;) {
    await settled();
    // The batches that have arrived since the last step.
    while (dueMs.length < sent.length) dueMs.push(timers.now() + durationMs(dueMs.length - answered.size));
    const inFlight = dueMs.length - answered.size;
    if (inFlight === 0) return most;
    most = Math.max(most, inFlight);
    timers.move(stepMs);
    for (const [index, due] of dueMs.entries())
      if (due <= timers.now() && !answered.has(index)) {
        answered = answered.add(index);
        sent[index]?.answer();
      }
  }
}

async function unavailableOf(verified: readonly Promise<unknown>[], library: Library): Promise<number> {
  const outcomes = await Promise.allSettled(verified);
  const failed = outcomes.filter((outcome) => outcome.status === 'rejected');
  for (const { reason } of failed) assert.ok(isUnavailable(library)(reason), String(reason));
  return failed.length;
}

export const overloadRules: readonly Rule[] = [
  {
    name: 'the batches in flight follow a service with 200 ms per batch: none of 12,000 verifications is unavailable',
    async check(library) {
      const client = held(library);
      const verified = many(12_000, (index) => client.start(`key ${index}`));
      const most = await serve(client, () => 200);
      assert.equal(await unavailableOf(verified, library), 0);
      assert.ok(most > 4 && most <= 16, `${most} batches in flight`);
    },
  },
  {
    name: 'a service that works on one batch at a time gets few of them',
    async check(library) {
      const client = held(library);
      const verified = many(12_000, (index) => client.start(`key ${index}`));
      // Each batch waits for those before it.
      const most = await serve(client, (before) => (before + 1) * stepMs * 2);
      assert.equal(await unavailableOf(verified, library), 0);
      assert.ok(most <= 4, `${most} batches in flight`);
    },
  },
  {
    name: 'the batches in flight follow a service that becomes slower, and one that has failed',
    async check(library) {
      const client = held(library);
      const verified = many(8_000, (index) => client.start(`fast ${index}`));
      await serve(client, () => stepMs);
      assert.equal(await unavailableOf(verified, library), 0);
      const failed = many(600, (index) => client.start(`failed ${index}`));
      await settled();
      for (const batch of client.sent.slice(-2)) batch.refuse({ status: 503, text: '' });
      await settled();
      client.sent.at(-1)?.refuse({ status: 503, text: '' });
      assert.equal(await unavailableOf(failed, library), 600);
      const later = many(12_000, (index) => client.start(`slow ${index}`));
      const most = await serve(client, () => 200);
      assert.equal(await unavailableOf(later, library), 0);
      assert.ok(most > 4, `${most} batches in flight`);
    },
  },
  {
    name: 'questions wait for a third batch until it is full, because they share its request',
    async check(library) {
      const { start, sent } = held(library);
      const verified = [start('a')];
      await settled();
      verified.push(start('b'));
      await settled();
      for (let index = 0; index < 255; index++) {
        verified.push(start(`key ${index}`));
        if (index % 50 === 0) await settled();
      }
      await settled();
      assert.equal(sent.length, 2);
      for (const index of [0, 1, 2]) {
        sent[index]?.answer();
        await settled();
      }
      assert.equal(sent[2]?.questions.length, 255);
      assert.equal(await unavailableOf(verified, library), 0);
    },
  },
  {
    name: 'in an overload, a question that would get its result after its deadline is not sent',
    async check(library) {
      const { start, sent, timers } = held(library);
      const first = many(512, (index) => start(`first ${index}`));
      await settled();
      const old = many(256, (index) => start(`old ${index}`));
      timers.move(2_000);
      const young = many(256, (index) => start(`young ${index}`));
      sent[0]?.answer();
      sent[1]?.answer();
      await settled();
      // A batch takes 2 s, and the old questions have waited for 2 s of 3.
      const failed = await outcomeNow(old[0] ?? assert.fail());
      assert.match(String(failed.status === 'rejected' && failed.reason), /no result in time: a batch takes 2000 ms/);
      assert.equal(await unavailableOf(old, library), 256);
      assert.deepEqual(
        sent.map(({ questions }) => questions[0]?.credential),
        ['first 0', 'first 256', 'young 0'],
      );
      sent[2]?.answer();
      assert.equal(await unavailableOf([...first, ...young], library), 0);
    },
  },
  {
    name: 'when 16,384 verifications wait, one more is unavailable immediately',
    async check(library) {
      const { start, sent } = held(library);
      const verified = many(2, () => start('first'));
      await settled();
      verified.push(start('second'));
      await settled();
      verified.push(...many(16_384, (index) => start(`key ${index}`, { cost: index % 2 })));
      const refused = await outcomeNow(start('one more'));
      assert.ok(refused.status === 'rejected' && isUnavailable(library)(refused.reason), refused.status);
      assert.match(String(refused.reason), /16384 verifications wait already/);
      for (let answered = 0; answered < sent.length; answered++) {
        sent[answered]?.answer();
        await settled();
      }
      assert.equal((await Promise.all(verified)).length, 16_387);
      assert.equal(sent.length, 66);
    },
  },
];
