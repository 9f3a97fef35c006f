/** The order of waiting operations, and the bounds of the queue. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, type FairQueueOptions } from '../fair-queue.ts';
import { accountShare, runAsCompletion, currentShare, runInShare, type WorkClass } from '../share.ts';
import type { DomainError } from '../../errors.ts';

const generous: FairQueueOptions = { waitingMax: 100, waitingPerOwnerMax: 100, waitMsMax: 60_000 };

class Queue {
  readonly queue: FairQueue<string>;
  readonly rejected: string[] = [];

  constructor(options: Partial<FairQueueOptions> = {}) {
    this.queue = new FairQueue({ ...generous, ...options });
  }

  /** Each item begins with its owner: `a1`. */
  push(workClass: WorkClass, ...items: readonly string[]): void {
    for (const item of items) {
      const reject = (error: DomainError): void => void this.rejected.push(`${item} ${error.code}`);
      this.queue.push(accountShare(item.charAt(0), workClass), item, reject);
    }
  }

  takeAll(mayRun?: (workClass: WorkClass, owner: string) => boolean): string[] {
    const taken: string[] = [];
    for (let item = this.queue.take(mayRun); item !== undefined; item = this.queue.take(mayRun)) taken.push(item);
    return taken;
  }
}

test('owners take turns, regardless of how many operations each has', () => {
  const fair = new Queue();
  fair.push('ordinary', 'a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2');
  assert.deepEqual(fair.takeAll(), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  assert.equal(fair.queue.size, 0);
});

test('the classes take turns while both have operations, narrowing ones first', () => {
  const fair = new Queue();
  fair.push('ordinary', 'a1', 'a2', 'a3');
  fair.push('narrowing', 'b1', 'b2', 'b3', 'b4', 'b5');
  assert.deepEqual(fair.takeAll(), ['b1', 'a1', 'b2', 'a2', 'b3', 'a3', 'b4', 'b5']);
});

test('draws take turns with both classes, and a full queue accepts them', () => {
  const fair = new Queue({ waitingMax: 4 });
  fair.push('ordinary', 'a1', 'b1');
  fair.push('narrowing', 'c1', 'd1');
  fair.push('draw', 'e1', 'e2');
  assert.deepEqual(fair.rejected, []);
  assert.deepEqual(fair.takeAll(), ['c1', 'e1', 'a1', 'd1', 'e2', 'b1']);
});

test('an operation that cannot run yet is skipped and keeps its turn', () => {
  const fair = new Queue();
  fair.push('ordinary', 'a1', 'b1', 'a2');
  assert.deepEqual(
    fair.takeAll((_, owner) => owner !== 'account a'),
    ['b1'],
  );
  assert.deepEqual(fair.takeAll(), ['a1', 'a2']);
});

test('the operations of an owner are bounded, and another owner’s are accepted', () => {
  const fair = new Queue({ waitingPerOwnerMax: 2 });
  fair.push('ordinary', 'a1', 'a2', 'a3', 'b1');
  assert.deepEqual(fair.rejected, ['a3 too_many_in_progress']);
  assert.deepEqual(fair.takeAll(), ['a1', 'b1', 'a2']);
});

test('a full queue rejects the newest operation of the owner with the most operations', () => {
  const fair = new Queue({ waitingMax: 4 });
  fair.push('ordinary', 'a1', 'a2', 'a3');
  fair.push('narrowing', 'b1', 'c1');
  assert.deepEqual(fair.rejected, ['a3 too_many_in_progress']);
  // No owner has more operations than `b` would have.
  fair.push('narrowing', 'b2');
  assert.deepEqual(fair.rejected.slice(1), ['b2 unavailable']);
  assert.deepEqual(fair.takeAll().toSorted(), ['a1', 'a2', 'b1', 'c1']);
});

test('an operation that waits too long is rejected and does not run', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fair = new Queue({ waitMsMax: 2_000 });
  fair.push('ordinary', 'a1');
  t.mock.timers.tick(1_500);
  fair.push('ordinary', 'a2', 'b1');
  t.mock.timers.tick(500);
  assert.deepEqual(fair.rejected, ['a1 unavailable']);
  assert.deepEqual(fair.takeAll(), ['a2', 'b1']);
  t.mock.timers.tick(10_000);
  assert.deepEqual(fair.rejected, ['a1 unavailable']);
});

test('the completion of a change is narrowing and does not wait behind other operations of its owner', () => {
  const share = runInShare(accountShare('a', 'ordinary'), () => runAsCompletion(currentShare));
  assert.deepEqual(share, { workClass: 'narrowing', owner: 'completion, account a', isOneAtATime: false });
  assert.equal(currentShare().owner, 'system');
});
