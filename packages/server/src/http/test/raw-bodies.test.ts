/** The bound on the bytes of raw bodies in progress. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { RawBodies } from '../raw-bodies.ts';

test('bodies in progress hold at most the bound together, and a request that ends frees its bytes', () => {
  const bodies = new RawBodies(10);
  const [first, second] = [new EventEmitter(), new EventEmitter()];
  const [ofFirst, ofSecond] = [bodies.begin(first), bodies.begin(second)];
  assert.deepEqual([ofFirst(6), ofSecond(4), ofFirst(1), ofSecond(1)], [true, true, false, false]);
  first.emit('close');
  assert.deepEqual([ofFirst(1), ofSecond(6), ofSecond(1)], [false, true, false]);
  second.emit('close');
  assert.equal(bodies.begin(new EventEmitter())(10), true);
});
