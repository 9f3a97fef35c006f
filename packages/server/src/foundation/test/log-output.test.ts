/** The log never stops the service: what cannot be written waits, or is lost and counted. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { LogOutput, type Writes } from '../log-output.ts';

const errorOf = (code: string): Error => Object.assign(new Error(code), { code });

/** A destination that accepts `space` bytes. Each write completes when the test calls `complete`. */
class Disk implements Writes {
  content = '';
  space: number;
  fullCode = 'ENOSPC';
  #complete: (() => void) | undefined;

  constructor(space = Infinity) {
    this.space = space;
  }

  readonly write: Writes['write'] = (_, bytes, done) => {
    this.#complete = () => {
      if (this.space === 0) return done(errorOf(this.fullCode), 0);
      done(null, this.#accept(bytes));
    };
  };

  readonly writeSync = (_: number, bytes: Buffer): number => {
    if (this.space === 0) throw errorOf(this.fullCode);
    return this.#accept(bytes);
  };

  /** Completes the write in progress. @returns false if there is none */
  complete(): boolean {
    const complete = this.#complete;
    this.#complete = undefined;
    complete?.();
    return complete !== undefined;
  }

  completeAll(): void {
    while (this.complete());
  }

  #accept(bytes: Buffer): number {
    const accepted = bytes.subarray(0, Math.min(bytes.length, this.space));
    this.content += accepted.toString();
    this.space -= accepted.length;
    return accepted.length;
  }
}

test('records that a full disk rejects are written, complete and in order, when it has space again', () => {
  const disk = new Disk(5);
  const output = new LogOutput(1, disk);
  for (const line of ['first\n', 'second\n']) output.write(line);
  disk.completeAll();
  assert.equal(disk.content, 'first');
  output.write('third\n');
  disk.completeAll();
  assert.equal(disk.content, 'first');
  disk.space = Infinity;
  output.write('fourth\n');
  disk.completeAll();
  assert.deepEqual([disk.content, output.lost], ['first\nsecond\nthird\nfourth\n', 0]);
});

test('the output is settled when the destination has all records, or rejects them', async () => {
  const disk = new Disk(8);
  const output = new LogOutput(1, disk);
  await output.settled();
  for (const line of ['first\n', 'second\n']) output.write(line);
  let isSettled = false;
  const settled = output.settled().then(() => (isSettled = true));
  disk.complete();
  await Promise.resolve();
  assert.deepEqual([disk.content, isSettled], ['first\n', false]);
  disk.completeAll();
  await settled;
  assert.equal(disk.content, 'first\nse');
});

test('records beyond the bound are lost and counted, and the loss is reported once', () => {
  const disk = new Disk(0);
  const output = new LogOutput(1, disk);
  const reported: number[] = [];
  output.onRecovery = (lost) => reported.push(lost);
  const line = `${'x'.repeat(99_999)}\n`;
  for (let count = 0; count < 20; count++) {
    output.write(line);
    disk.completeAll();
  }
  // One is in the attempt that failed, and ten fit into the buffer.
  assert.deepEqual([output.lost, reported], [9, []]);
  disk.space = Infinity;
  output.write('last\n');
  disk.completeAll();
  assert.deepEqual([disk.content.length, reported], [11 * 100_000 + 5, [9]]);
  output.write('more\n');
  disk.completeAll();
  assert.deepEqual([output.lost, reported], [9, [9]]);
});

test('a slow reader of a pipe gets every record', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const disk = new Disk(0);
    disk.fullCode = 'EAGAIN';
    const output = new LogOutput(1, disk);
    output.write('first\n');
    disk.completeAll();
    output.write('second\n');
    disk.space = Infinity;
    mock.timers.tick(50);
    disk.completeAll();
    assert.equal(disk.content, 'first\nsecond\n');
  } finally {
    mock.timers.reset();
  }
});

test('the end of the process writes what waits, also after a failure', () => {
  for (const code of ['ENOSPC', 'EAGAIN']) {
    const disk = new Disk(0);
    disk.fullCode = code;
    const output = new LogOutput(1, disk);
    output.write('first\n');
    disk.complete();
    disk.space = Infinity;
    output.flushSync();
    assert.equal(disk.content, 'first\n', code);
    output.write('in progress\n');
    output.write('waiting\n');
    output.flushSync();
    // The thread pool completes the write in progress.
    assert.equal(disk.content, 'first\nwaiting\n', code);
    disk.completeAll();
    assert.equal(disk.content, 'first\nwaiting\nin progress\n', code);
  }
});

test('the end of the process waits for no destination that stays unusable', () => {
  for (const code of ['ENOSPC', 'EAGAIN']) {
    const disk = new Disk(0);
    disk.fullCode = code;
    const output = new LogOutput(1, disk);
    output.write('first\n');
    disk.complete();
    output.flushSync();
    assert.equal(disk.content, '', code);
  }
});
