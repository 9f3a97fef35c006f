/** The order, the bound and the end of pending changes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { PendingChanges } from '../pending-changes.ts';

const refused = { code: 'unavailable' };

test('changes of one id run one after another, and a failed one is retried before the next', async () => {
  const pending = new PendingChanges<string>();
  const done: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let failures = 2;
  const first = async (): Promise<void> => {
    if (failures-- > 0) throw new Error('the database is unreachable');
    done.push('first');
  };
  const second = async (): Promise<void> => {
    done.push('second');
    resolve();
  };
  pending.add('one', { kind: 'first', finish: first });
  pending.add('one', { kind: 'second', finish: second });
  assert.throws(() => pending.assertNone('one'), refused);
  pending.assertNone('other');
  await promise;
  assert.deepEqual(done, ['first', 'second']);
});

test('a repeated request adds at most one retry to the running one', async () => {
  const pending = new PendingChanges<string>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let runs = 0;
  const change = {
    kind: 'delete',
    finish: async (): Promise<void> => {
      runs++;
      await gate;
    },
  };
  for (let n = 0; n < 5; n++) pending.add('one', change);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  pending.add('one', { kind: 'last', finish: async () => end() });
  open();
  await ended;
  assert.equal(runs, 2);
});

test('a change that is added while the id settles is finished immediately', async () => {
  const pending = new PendingChanges<string>();
  pending.add('one', { kind: 'first', finish: () => Promise.resolve() });
  for (let n = 0; n < 10; n++) await turn();
  const { promise, resolve } = Promise.withResolvers<void>();
  pending.add('one', { kind: 'second', finish: async () => resolve() });
  await promise;
  assert.throws(() => pending.assertNone('one'), refused);
});

test('the number of pending changes is bounded', () => {
  const pending = new PendingChanges<number>();
  const never = new Promise<void>(() => undefined);
  for (let id = 0; id < limits.unfinishedDeletionsMax; id++) {
    pending.assertRoom();
    pending.add(id, { kind: 'delete', finish: () => never });
  }
  assert.throws(() => pending.assertRoom(), refused);
});
