/** The order of verifications that wait for a draw, and their bound. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { metersOf } from '../definition.ts';
import { Pool } from '../pool.ts';
import { Waiting, type Question } from '../waiting.ts';

/** Each limit is one letter; a question begins with its account. */
class Fixture {
  readonly waiting: Waiting;
  readonly #pools = new Map<string, Pool>();
  readonly #names = new Map<Question, string>();

  constructor(max = 100) {
    this.waiting = new Waiting(max);
  }

  pool(name: string): Pool {
    const text = '{"rate":null,"quota":{"limit":10,"per":"day"}}';
    const pool = this.#pools.get(name) ?? new Pool(metersOf('key', name.charAt(0), text)[0] as never);
    this.#pools.set(name, pool);
    return pool;
  }

  /** @param names such as `1:ab`: of account 1, with the limits a and b @returns the rejected ones */
  push(...names: readonly string[]): string[] {
    return names.flatMap((name) => {
      const [accountId = '', pools = ''] = name.split(':');
      const question: Question = {
        accountId,
        pools: [...pools].map((pool) => this.pool(pool)),
        cost: 1,
        answer: () => undefined,
        fail: () => undefined,
        draws: 0,
      };
      this.#names.set(question, name);
      const rejected = this.waiting.push(question);
      return rejected ? [this.#names.get(rejected) ?? ''] : [];
    });
  }

  take(limitsMax = 100): (string | undefined)[] {
    return this.waiting.take(limitsMax).map((question) => this.#names.get(question));
  }
}

test('accounts take turns in a draw, and those that were not served begin the next one', () => {
  const fixture = new Fixture();
  fixture.push('1:a', '1:b', '1:c', '1:d', '2:e', '3:f');
  assert.deepEqual(fixture.take(2), ['1:a', '2:e']);
  assert.deepEqual(fixture.take(2), ['3:f', '1:b']);
  assert.deepEqual(fixture.take(2), ['1:c', '1:d']);
  assert.equal(fixture.waiting.size, 0);
});

test('verifications of the same limits join a draw without another limit', () => {
  const fixture = new Fixture();
  fixture.push('1:ab', '1:cd', '1:a', '1:b', '1:e');
  assert.deepEqual(fixture.take(2), ['1:ab', '1:a', '1:b']);
  assert.deepEqual(fixture.take(2), ['1:cd']);
  assert.deepEqual(fixture.take(2), ['1:e']);
});

test('a verification waits while a draw from one of its limits is in progress, and so do later ones that share its limits', () => {
  const fixture = new Fixture();
  fixture.push('1:ax', '1:bx', '2:c', '1:b', '1:d');
  fixture.pool('a').isDrawing = true;
  assert.deepEqual(fixture.take(), ['1:d', '2:c']);
  fixture.pool('a').isDrawing = false;
  assert.deepEqual(fixture.take(), ['1:ax', '1:bx', '1:b']);
});

test('two definitions of a limit never share a draw', () => {
  const fixture = new Fixture();
  // Both pools have the row of `a`.
  const [earlier, later] = [fixture.pool('a'), fixture.pool('a, changed')];
  assert.equal(earlier.meter.row, later.meter.row);
  const question = { accountId: '1', cost: 1, answer: () => undefined, fail: () => undefined, draws: 0 };
  for (const pool of [earlier, later, earlier]) fixture.waiting.push({ ...question, pools: [pool] });
  assert.deepEqual(
    fixture.waiting.take(100).map(({ pools }) => pools[0] === earlier),
    [true, true],
  );
  assert.deepEqual(
    fixture.waiting.take(100).map(({ pools }) => pools[0] === later),
    [true],
  );
});

test('when all places are taken, the newest verification of the account with the most loses its place', () => {
  const fixture = new Fixture(4);
  assert.deepEqual(fixture.push('1:a', '1:b', '1:c', '2:d'), []);
  assert.deepEqual(fixture.push('3:e'), ['1:c']);
  assert.deepEqual(fixture.push('1:f'), ['1:f']);
  assert.deepEqual(fixture.push('2:g'), ['2:g']);
  assert.deepEqual(fixture.take(), ['1:a', '2:d', '3:e', '1:b']);
});
