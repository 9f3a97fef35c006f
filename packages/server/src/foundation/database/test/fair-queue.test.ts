/** The order in which waiting work runs, and its bounds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, type FairQueueOptions } from '../fair-queue.ts';
import { accountShare, asCompletion, currentShare, inShare, type WorkClass } from '../share.ts';
import type { DomainError } from '../../errors.ts';

const generous: FairQueueOptions = { waitingMax: 100, waitingPerOwnerMax: 100, waitMsMax: 60_000 };

class Queue {
  readonly queue: FairQueue<string>;
  readonly refused: string[] = [];

  constructor(options: Partial<FairQueueOptions> = {}) {
    this.queue = new FairQueue({ ...generous, ...options });
  }

  /** Each item begins with its owner: `a1`. */
  push(workClass: WorkClass, ...items: readonly string[]): void {
    for (const item of items) {
      const refuse = (error: DomainError): void => void this.refused.push(`${item} ${error.code}`);
      this.queue.push(accountShare(item.charAt(0), workClass), item, refuse);
    }
  }

  takeAll(mayRun?: (workClass: WorkClass, owner: string) => boolean): string[] {
    const taken: string[] = [];
    for (let item = this.queue.take(mayRun); item !== undefined; item = this.queue.take(mayRun)) taken.push(item);
    return taken;
  }
}

test('owners take turns, whatever each of them has waiting', () => {
  const fair = new Queue();
  fair.push('ordinary', 'a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'b2');
  assert.deepEqual(fair.takeAll(), ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  assert.equal(fair.queue.size, 0);
});

test('each class gets half while both wait, narrowing work first', () => {
  const fair = new Queue();
  fair.push('ordinary', 'a1', 'a2', 'a3');
  fair.push('narrowing', 'b1', 'b2', 'b3', 'b4', 'b5');
  assert.deepEqual(fair.takeAll(), ['b1', 'a1', 'b2', 'a2', 'b3', 'a3', 'b4', 'b5']);
});

test('work that may not run yet is passed over and keeps its turn', () => {
  const fair = new Queue();
  fair.push('ordinary', 'a1', 'b1', 'a2');
  assert.deepEqual(
    fair.takeAll((_, owner) => owner !== 'account a'),
    ['b1'],
  );
  assert.deepEqual(fair.takeAll(), ['a1', 'a2']);
});

test('an owner’s work is bounded, and another owner’s is accepted all the same', () => {
  const fair = new Queue({ waitingPerOwnerMax: 2 });
  fair.push('ordinary', 'a1', 'a2', 'a3', 'b1');
  assert.deepEqual(fair.refused, ['a3 too_many_in_progress']);
  assert.deepEqual(fair.takeAll(), ['a1', 'b1', 'a2']);
});

test('a full queue rejects the newest work of the owner with the most of it', () => {
  const fair = new Queue({ waitingMax: 4 });
  fair.push('ordinary', 'a1', 'a2', 'a3');
  fair.push('narrowing', 'b1', 'c1');
  assert.deepEqual(fair.refused, ['a3 too_many_in_progress']);
  // No owner has more than one beyond what `b` would have.
  fair.push('narrowing', 'b2');
  assert.deepEqual(fair.refused.slice(1), ['b2 unavailable']);
  assert.deepEqual(fair.takeAll().toSorted(), ['a1', 'a2', 'b1', 'c1']);
});

test('work that waits too long is rejected and not taken', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const fair = new Queue({ waitMsMax: 2_000 });
  fair.push('ordinary', 'a1');
  t.mock.timers.tick(1_500);
  fair.push('ordinary', 'a2', 'b1');
  t.mock.timers.tick(500);
  assert.deepEqual(fair.refused, ['a1 unavailable']);
  assert.deepEqual(fair.takeAll(), ['a2', 'b1']);
  t.mock.timers.tick(10_000);
  assert.deepEqual(fair.refused, ['a1 unavailable']);
});

test('the completion of a change is narrowing and waits behind no other work of its owner', () => {
  const share = inShare(accountShare('a', 'ordinary'), () => asCompletion(currentShare));
  assert.deepEqual(share, { workClass: 'narrowing', owner: 'completion, account a', isOneAtATime: false });
  assert.equal(currentShare().owner, 'system');
});
