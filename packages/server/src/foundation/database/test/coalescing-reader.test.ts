/**
 * The coalescing reader: questions share reads, and none is answered by a read that was sent before it was asked. The
 * database here is a list of reads that the test answers by hand.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../../errors.ts';
import { CoalescingReader } from '../coalescing-reader.ts';

interface Read {
  readonly asked: readonly string[];
  readonly answer: (rows: readonly (string | undefined)[]) => void;
  readonly fail: (error: Error) => void;
}

const questionsEnough = 16;

/** A reader whose reads wait until the test answers them. */
function newReader(underWayMax: number) {
  const reads: Read[] = [];
  const reader = new CoalescingReader<string, string>(
    (questions) => {
      const { promise, resolve, reject } = Promise.withResolvers<(string | undefined)[]>();
      reads.push({
        asked: questions,
        answer: (rows) => resolve([...rows]),
        fail: reject,
      });
      return promise;
    },
    { underWayMax, questionsEnough },
  );
  return { reads, reader, ask: (name: string) => askOf(reader, name) };
}

const askOf = <Row>(reader: CoalescingReader<string, Row>, name: string): Promise<Row | undefined> => reader.read(name);

/** Until all that was scheduled before has happened: a few turns of the event loop, none of which waits for a time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

const isPending = async (question: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  await settle();
  return (await Promise.race([question, Promise.resolve(pending)])) === pending;
};

/** The read at this place, which must have been sent. */
function sent(reads: readonly Read[], place: number): Read {
  const read = reads[place];
  assert.ok(read, `read ${place} was not sent`);
  return read;
}

test('questions of one turn share one read, and each gets its own answer', async () => {
  const { reads, ask } = newReader(2);
  const questions = ['a', 'b', 'c', 'a'].map(ask);
  assert.equal(reads.length, 0, 'nothing is sent before the turn ends');
  await settle();
  assert.deepEqual(
    reads.map(({ asked }) => asked),
    [['a', 'b', 'c', 'a']],
  );
  sent(reads, 0).answer(['A', undefined, 'C', 'A']);
  assert.deepEqual(await Promise.all(questions), ['A', undefined, 'C', 'A']);
});

test('a question that comes while a read is under way is answered by a later one only', async () => {
  const { reads, ask } = newReader(1);
  const early = ask('key');
  await settle();
  assert.equal(reads.length, 1);
  // Now the key is deleted and the deletion acknowledged; whoever asks from here on must not hear of the first read.
  const late = ask('key');
  assert.equal(await isPending(late), true);
  sent(reads, 0).answer(['alive']);
  assert.equal(await early, 'alive');
  assert.equal(await isPending(late), true);
  assert.deepEqual(sent(reads, 1).asked, ['key']);
  sent(reads, 1).answer([undefined]);
  assert.equal(await late, undefined);
});

test('a question asked from within an answer waits for a later read too', async () => {
  const { reads, ask } = newReader(1);
  const first = ask('key');
  const afterwards = first.then(() => ask('key'));
  await settle();
  sent(reads, 0).answer(['old']);
  assert.equal(await first, 'old');
  await settle();
  sent(reads, 1).answer(['new']);
  assert.equal(await afterwards, 'new');
});

test('a later read may answer first, and still nothing crosses over', async () => {
  const { reads, ask } = newReader(2);
  const one = ask('key');
  await settle();
  const two = ask('key');
  await settle();
  assert.equal(reads.length, 2);
  sent(reads, 1).answer(['second']);
  assert.equal(await two, 'second');
  assert.equal(await isPending(one), true);
  sent(reads, 0).answer(['first']);
  assert.equal(await one, 'first');
});

for (const readsMax of [1, 2, 5]) {
  test(`no more than ${readsMax} reads are under way, and all questions are answered in order`, async () => {
    const { reads, ask } = newReader(readsMax);
    const names = Array.from({ length: 40 }, (_, index) => `key ${index}`);
    const questions: Promise<string | undefined>[] = [];
    for (const name of names) {
      questions.push(ask(name));
      await settle();
      assert.ok(reads.length <= readsMax);
    }
    assert.equal(reads.length, readsMax);
    for (let done = 0; done < reads.length; done++) {
      const read = sent(reads, done);
      read.answer(read.asked.map((name) => `row of ${name}`));
      await settle();
      assert.ok(reads.length - (done + 1) <= readsMax);
    }
    assert.deepEqual(
      await Promise.all(questions),
      names.map((name) => `row of ${name}`),
    );
    assert.deepEqual(
      reads.flatMap(({ asked }) => asked),
      names,
    );
  });
}

test('a read holds no more questions than its bound, and the rest come next, in order', async () => {
  const { reads, ask } = newReader(1);
  const names = Array.from({ length: limits.lookupBatchMax * 2 + 1 }, (_, index) => String(index));
  const questions = names.map(ask);
  for (let done = 0; done < 3; done++) {
    await settle();
    const read = sent(reads, done);
    read.answer(read.asked);
  }
  assert.deepEqual(await Promise.all(questions), names);
  assert.deepEqual(
    reads.map(({ asked }) => asked.length),
    [questionsEnough, limits.lookupBatchMax, limits.lookupBatchMax + 1 - questionsEnough],
  );
});

test('enough questions are read at once, within the turn, and what comes next joins another read', async () => {
  const { reads, ask } = newReader(2);
  const questions = Array.from({ length: questionsEnough + 1 }, (_, index) => ask(String(index)));
  assert.deepEqual(
    reads.map(({ asked }) => asked.length),
    [questionsEnough],
  );
  await settle();
  assert.equal(reads.length, 2);
  for (const read of reads) read.answer(read.asked);
  assert.equal((await Promise.all(questions)).length, questionsEnough + 1);
});

test('a mistake in answering one question fails that question alone', async () => {
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
  const next = askOf(reader, 'b');
  await settle();
  sent(reads, 0).answer(['A', 'B']);
  assert.equal(await next, 'B');
  assert.deepEqual(failed, [mistake]);
});

test('a read that fails fails its questions and those that wait for the next; later ones are read', async () => {
  const { reads, ask } = newReader(1);
  const failing = ['a', 'b'].map(ask);
  await settle();
  const outcome = Promise.allSettled([...failing, ask('waiting')]);
  const broken = new Error('the database is away');
  sent(reads, 0).fail(broken);
  const rejected = { status: 'rejected', reason: broken } as const;
  assert.deepEqual(await outcome, [rejected, rejected, rejected]);
  const later = ask('later');
  await settle();
  sent(reads, 1).answer(['L']);
  assert.equal(await later, 'L');
});

test('a read that fails leaves alone what another read has been sent for', async () => {
  const { reads, ask } = newReader(2);
  const failing = ask('a');
  await settle();
  const other = ask('b');
  await settle();
  const outcome = Promise.allSettled([failing]);
  sent(reads, 0).fail(new Error('this connection broke'));
  assert.equal((await outcome)[0].status, 'rejected');
  sent(reads, 1).answer(['B']);
  assert.equal(await other, 'B');
});

test('as many questions wait as may; one more is refused at once, and the rest are answered', async () => {
  const { reads, ask } = newReader(1);
  const first = ask('first');
  await settle();
  const waiting = Array.from({ length: limits.lookupsWaitingMax }, () => ask('waiting'));
  await assert.rejects(ask('one more'), (error) => error instanceof DomainError && error.code === 'unavailable');
  for (let place = 0; place < reads.length; place++) {
    const read = sent(reads, place);
    read.answer(read.asked);
    await settle();
  }
  assert.equal(await first, 'first');
  assert.equal(new Set(await Promise.all(waiting)).size, 1);
});

test('a read that throws at once is a failed read', async () => {
  const broken = new Error('no connection');
  const reader = new CoalescingReader<string, string>(
    () => {
      throw broken;
    },
    { underWayMax: 1, questionsEnough },
  );
  for (let attempt = 0; attempt < 3; attempt++) {
    await assert.rejects(askOf(reader, 'a'), (error) => error === broken);
  }
});

test('nothing is remembered: the same question is read each time', { tags: ['asvs:14.2.2'] }, async () => {
  const { reads, ask } = newReader(1);
  for (let round = 0; round < 5; round++) {
    const question = ask('key');
    await settle();
    sent(reads, round).answer([`answer ${round}`]);
    assert.equal(await question, `answer ${round}`);
  }
  assert.equal(reads.length, 5);
});
