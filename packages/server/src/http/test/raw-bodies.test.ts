/** The bounds on the bytes of raw bodies in progress. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RawBodies } from '../raw-bodies.ts';

test('bodies in progress hold at most the bound together, and a body that ends frees its bytes once', () => {
  const bodies = new RawBodies({ bytesMax: 10, bytesPerRangeMax: 10 });
  const [first, second] = [bodies.begin('a'), bodies.begin('b')];
  const kept = [first.mayKeep(6), second.mayKeep(4), first.mayKeep(1), second.mayKeep(1)];
  assert.deepEqual(kept, [true, true, false, false]);
  first.release();
  first.release();
  assert.deepEqual([first.mayKeep(1), second.mayKeep(6), second.mayKeep(1)], [false, true, false]);
  second.release();
  assert.equal(bodies.begin('a').mayKeep(10), true);
});

test('the bodies of one range hold at most its bound together, and leave room for other ranges', () => {
  const bodies = new RawBodies({ bytesMax: 10, bytesPerRangeMax: 4 });
  const [first, second] = [bodies.begin('a'), bodies.begin('a')];
  const kept = [first.mayKeep(3), second.mayKeep(1), first.mayKeep(1), second.mayKeep(1)];
  assert.deepEqual(kept, [true, true, false, false]);
  assert.equal(bodies.begin('b').mayKeep(4), true);
  first.release();
  assert.deepEqual([second.mayKeep(3), second.mayKeep(1)], [true, false]);
  second.release();
  assert.equal(bodies.begin('a').mayKeep(4), true);
});
