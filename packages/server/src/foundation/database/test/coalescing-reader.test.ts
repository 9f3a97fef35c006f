/**
 * The coalescing reader: lookups share reads, and no lookup gets a row from a read that was sent before it. The database is
 * a list of reads that the test completes.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { RecordedSpans } from '../../../../test-kit/recorded-spans.ts';
import { DomainError } from '../../errors.ts';
import { Span } from '../../tracing.ts';
import { CoalescingReader } from '../coalescing-reader.ts';

interface Read {
  readonly lookups: readonly string[];
  readonly complete: (rows: readonly (string | undefined)[]) => void;
  readonly fail: (error: Error) => void;
}

const immediateBatchSize = 16;

/** A reader whose reads wait until the test completes them. */
function newReader(concurrentReadsMax: number) {
  const reads: Read[] = [];
  const reader = new CoalescingReader<string, string>(
    (lookups) => {
      const { promise, resolve, reject } = Promise.withResolvers<(string | undefined)[]>();
      reads.push({
        lookups,
        complete: (rows) => resolve([...rows]),
        fail: reject,
      });
      return promise;
    },
    { concurrentReadsMax, immediateBatchSize },
  );
  return { reads, reader, lookUp: (name: string) => reader.read(name) };
}

/** Waits a few turns of the event loop, until everything that was scheduled before has happened. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

const isPending = async (result: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  await settle();
  return (await Promise.race([result, Promise.resolve(pending)])) === pending;
};

/** The read with this index, which must have been sent. */
function sent(reads: readonly Read[], index: number): Read {
  const read = reads[index];
  assert.ok(read, `read ${index} was not sent`);
  return read;
}

test('lookups of one turn share one read, and each gets its own row', async () => {
  const { reads, lookUp } = newReader(2);
  const results = ['a', 'b', 'c', 'a'].map(lookUp);
  assert.equal(reads.length, 0, 'nothing is sent before the turn ends');
  await settle();
  assert.deepEqual(
    reads.map(({ lookups }) => lookups),
    [['a', 'b', 'c', 'a']],
  );
  sent(reads, 0).complete(['A', undefined, 'C', 'A']);
  assert.deepEqual(await Promise.all(results), ['A', undefined, 'C', 'A']);
});

test('lookups that one call makes share a read, however many they are, with those that wait', async () => {
  const { reads, reader, lookUp } = newReader(2);
  const names = Array.from({ length: 3 * immediateBatchSize }, (_, index) => `key ${index}`);
  const waiting = lookUp('waiting');
  const results = reader.together(() => names.map((name) => reader.together(() => lookUp(name))));
  assert.deepEqual(
    reads.map(({ lookups }) => lookups),
    [['waiting', ...names]],
  );
  sent(reads, 0).complete(['W', ...names]);
  assert.deepEqual(await Promise.all([waiting, ...results]), ['W', ...names]);
  assert.throws(() =>
    reader.together(() => {
      void lookUp('before an error');
      throw new Error('from the callback');
    }),
  );
  await settle();
  assert.deepEqual(sent(reads, 1).lookups, ['before an error'], 'an error keeps no lookup from being read');
});

test('a lookup that arrives during a read gets its row from a later read', async () => {
  const { reads, lookUp } = newReader(1);
  const early = lookUp('key');
  await settle();
  assert.equal(reads.length, 1);
  // Now the key is deleted and the deletion acknowledged: later lookups must not get the row of the first read.
  const late = lookUp('key');
  assert.equal(await isPending(late), true);
  sent(reads, 0).complete(['exists']);
  assert.equal(await early, 'exists');
  assert.equal(await isPending(late), true);
  assert.deepEqual(sent(reads, 1).lookups, ['key']);
  sent(reads, 1).complete([undefined]);
  assert.equal(await late, undefined);
});

test('a lookup from the callback of another lookup waits for a later read', async () => {
  const { reads, lookUp } = newReader(1);
  const first = lookUp('key');
  const afterwards = first.then(() => lookUp('key'));
  await settle();
  sent(reads, 0).complete(['old']);
  assert.equal(await first, 'old');
  await settle();
  sent(reads, 1).complete(['new']);
  assert.equal(await afterwards, 'new');
});

test('rows are not mixed up when a later read completes first', async () => {
  const { reads, lookUp } = newReader(2);
  const one = lookUp('key');
  await settle();
  const two = lookUp('key');
  await settle();
  assert.equal(reads.length, 2);
  sent(reads, 1).complete(['second']);
  assert.equal(await two, 'second');
  assert.equal(await isPending(one), true);
  sent(reads, 0).complete(['first']);
  assert.equal(await one, 'first');
});

for (const readsMax of [1, 2, 5]) {
  test(`at most ${readsMax} reads run concurrently, and all lookups get their rows in order`, async () => {
    const { reads, lookUp } = newReader(readsMax);
    const names = Array.from({ length: 40 }, (_, index) => `key ${index}`);
    const results: Promise<string | undefined>[] = [];
    for (const name of names) {
      results.push(lookUp(name));
      await settle();
      assert.ok(reads.length <= readsMax);
    }
    assert.equal(reads.length, readsMax);
    for (let done = 0; done < reads.length; done++) {
      const read = sent(reads, done);
      read.complete(read.lookups.map((name) => `row of ${name}`));
      await settle();
      assert.ok(reads.length - (done + 1) <= readsMax);
    }
    assert.deepEqual(
      await Promise.all(results),
      names.map((name) => `row of ${name}`),
    );
    assert.deepEqual(
      reads.flatMap(({ lookups }) => lookups),
      names,
    );
  });
}

test('a read has a bounded number of lookups, and the others are read next, in order', async () => {
  const { reads, lookUp } = newReader(1);
  const names = Array.from({ length: limits.lookupBatchMax * 2 + 1 }, (_, index) => String(index));
  const results = names.map(lookUp);
  for (let done = 0; done < 3; done++) {
    await settle();
    const read = sent(reads, done);
    read.complete(read.lookups);
  }
  assert.deepEqual(await Promise.all(results), names);
  assert.deepEqual(
    reads.map(({ lookups }) => lookups.length),
    [immediateBatchSize, limits.lookupBatchMax, limits.lookupBatchMax + 1 - immediateBatchSize],
  );
});

test('a full batch is read immediately, and later lookups join another read', async () => {
  const { reads, lookUp } = newReader(2);
  const results = Array.from({ length: immediateBatchSize + 1 }, (_, index) => lookUp(String(index)));
  assert.deepEqual(
    reads.map(({ lookups }) => lookups.length),
    [immediateBatchSize],
  );
  await settle();
  assert.equal(reads.length, 2);
  for (const read of reads) read.complete(read.lookups);
  assert.equal((await Promise.all(results)).length, immediateBatchSize + 1);
});

test('an error in the callback of one lookup affects only that lookup', async () => {
  const { reads, reader } = newReader(1);
  const mistake = new Error('a mistake');
  const failed: unknown[] = [];
  reader.find(
    'a',
    () => {
      throw mistake;
    },
    (error) => failed.push(error),
  );
  const next = reader.read('b');
  await settle();
  sent(reads, 0).complete(['A', 'B']);
  assert.equal(await next, 'B');
  assert.deepEqual(failed, [mistake]);
});

test('a failed read fails its lookups and the waiting ones, and later lookups are read', async () => {
  const { reads, lookUp } = newReader(1);
  const failing = ['a', 'b'].map(lookUp);
  await settle();
  const outcome = Promise.allSettled([...failing, lookUp('waiting')]);
  const broken = new Error('the database is unreachable');
  sent(reads, 0).fail(broken);
  const rejected = { status: 'rejected', reason: broken } as const;
  assert.deepEqual(await outcome, [rejected, rejected, rejected]);
  const later = lookUp('later');
  await settle();
  sent(reads, 1).complete(['L']);
  assert.equal(await later, 'L');
});

test('a failed read does not affect the lookups of another read', async () => {
  const { reads, lookUp } = newReader(2);
  const failing = lookUp('a');
  await settle();
  const other = lookUp('b');
  await settle();
  const outcome = Promise.allSettled([failing]);
  sent(reads, 0).fail(new Error('this connection broke'));
  assert.equal((await outcome)[0].status, 'rejected');
  sent(reads, 1).complete(['B']);
  assert.equal(await other, 'B');
});

test('the number of waiting lookups is bounded, and one more is rejected', async () => {
  const { reads, lookUp } = newReader(1);
  const first = lookUp('first');
  await settle();
  const waiting = Array.from({ length: limits.lookupsWaitingMax }, () => lookUp('waiting'));
  await assert.rejects(lookUp('one more'), (error) => error instanceof DomainError && error.code === 'unavailable');
  for (let index = 0; index < reads.length; index++) {
    const read = sent(reads, index);
    read.complete(read.lookups);
    await settle();
  }
  assert.equal(await first, 'first');
  assert.equal(new Set(await Promise.all(waiting)).size, 1);
});

test('a read that throws synchronously is a failed read', async () => {
  const broken = new Error('no connection');
  const reader = new CoalescingReader<string, string>(
    () => {
      throw broken;
    },
    { concurrentReadsMax: 1, immediateBatchSize },
  );
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(reader.read('a'), (error) => error === broken);
  }
});

test('no result is kept: the same lookup is read each time', { tags: ['asvs:14.2.2'] }, async () => {
  const { reads, lookUp } = newReader(1);
  for (let round = 0; round < 5; round++) {
    const result = lookUp('key');
    await settle();
    sent(reads, round).complete([`answer ${round}`]);
    assert.equal(await result, `answer ${round}`);
  }
  assert.equal(reads.length, 5);
});

test('a read that recorded verifications share is one span: a child of the first one, with links to all', async () => {
  using spans = new RecordedSpans();
  const { reads, reader } = newReader(1);
  const parents = Array.from({ length: 200 }, (_, index) =>
    index % 2 === 1 ? new Span({ name: 'verify' }) : undefined,
  );
  const recorded = parents.filter((parent) => parent !== undefined);
  reader.together(() => {
    for (const [index, parent] of parents.entries())
      reader.find(
        String(index),
        () => undefined,
        () => undefined,
        parent,
      );
  });
  await settle();
  sent(reads, 0).complete(parents.map(String));
  await settle();
  const [read, ...others] = spans.all;
  assert.equal(others.length, 0);
  assert.deepEqual(
    [read?.name, read?.traceId, read?.parentId, read?.attributes, read?.droppedLinks],
    ['db.read', recorded[0]?.traceId, recorded[0]?.spanId, { 'db.operation.batch.size': 200 }, 0],
  );
  assert.deepEqual(
    read?.links,
    recorded.map(({ traceId, spanId }) => ({ traceId, spanId })),
  );

  // At most 128 links, so that one span cannot become large.
  reader.together(() => {
    for (const _ of parents) reader.find('a', String, String, recorded[0]);
  });
  await settle();
  sent(reads, 1).fail(new Error('the database is gone'));
  await settle();
  const failed = spans.all[1];
  assert.deepEqual([failed?.hasFailed, failed?.links.length, failed?.droppedLinks], [true, 128, 72]);
});
