/** Operations that run in turn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../turns.ts';

const newTurns = (): Turns => new Turns({ runningMax: 1, waitingMax: 3, waitingPerOwnerMax: 3, waitMsMax: 2 ** 30 });

/** Begins operations that note their owner and end at once. @returns the owners in the order in which they ran */
async function run(turns: Turns, owners: readonly string[]): Promise<string[]> {
  const order: string[] = [];
  const end = await turns.begin('first');
  const all = owners.map(async (owner) => {
    const endOwn = await turns.begin(owner);
    order.push(owner);
    endOwn();
  });
  end();
  end();
  await Promise.allSettled(all);
  return order;
}

test('owners take turns, and the end of an operation counts once', async () => {
  const turns = newTurns();
  assert.deepEqual(await run(turns, ['a', 'a', 'b']), ['a', 'b', 'a']);
  assert.equal(turns.isIdle, true);
});

test('beyond the bound, the newest operation of the owner with the most is rejected', async () => {
  const turns = newTurns();
  assert.deepEqual(await run(turns, ['a', 'a', 'a', 'b']), ['a', 'b', 'a']);
  assert.deepEqual(await run(turns, ['a', 'a', 'a', 'a']), ['a', 'a', 'a']);
});

test('an owner runs only as many operations as it may, and others pass those that wait', async () => {
  const turns = new Turns({
    runningMax: 2,
    runningPerOwnerMax: 1,
    waitingMax: 3,
    waitingPerOwnerMax: 3,
    waitMsMax: 2 ** 30,
  });
  const order: string[] = [];
  const begin = async (owner: string): Promise<() => void> => {
    const end = await turns.begin(owner);
    order.push(owner);
    return end;
  };
  const first = await begin('a');
  const second = begin('a');
  const other = await begin('b');
  assert.deepEqual(order, ['a', 'b']);
  first();
  (await second)();
  other();
  assert.deepEqual([order, turns.isIdle], [['a', 'b', 'a'], true]);
});
