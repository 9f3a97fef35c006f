/** A pending result: each callback is called once, at once when the result is known, and independently of the others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pending } from '../pending.ts';

function newPending() {
  const pending = new Pending<number>();
  const calls: unknown[] = [];
  const when = (name: string): void =>
    pending.when(
      (value) => calls.push([name, value]),
      (error) => calls.push([name, error]),
    );
  return { pending, calls, when };
}

test('callbacks of before and after the result get it in their order, without a microtask', () => {
  const { pending, calls, when } = newPending();
  when('early');
  assert.deepEqual(calls, []);
  pending.know(5);
  when('late');
  assert.deepEqual(calls, [
    ['early', 5],
    ['late', 5],
  ]);
});

test('a failure reaches every callback, and only the first result counts', async () => {
  const { pending, calls, when } = newPending();
  const error = new Error('failed');
  when('early');
  pending.fail(error);
  pending.know(5);
  when('late');
  assert.deepEqual(calls, [
    ['early', error],
    ['late', error],
  ]);
  await assert.rejects(pending.promise, error);
});

test('an error of one callback affects no other one', () => {
  const { pending, calls, when } = newPending();
  const error = new Error('of the callback');
  const failing = (): void =>
    pending.when(
      () => {
        throw error;
      },
      (caught) => calls.push(['failing', caught]),
    );
  failing();
  when('other');
  pending.know(5);
  failing();
  assert.deepEqual(calls, [
    ['failing', error],
    ['other', 5],
    ['failing', error],
  ]);
});
