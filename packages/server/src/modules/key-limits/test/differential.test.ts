/** A limiter decides the same whether its draws are made in its process or in another one, also when they fail. */
import assert from 'node:assert/strict';
import type { Db } from '../../../foundation/database/db.ts';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import { codeOf, onEachDatabase, tally } from '../../../../test-kit/store-on-each-database.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { randomOf } from '../../../../test/short-path/traffic.ts';
import { instance, limited, quota } from './instances.ts';

const faults = ['none', 'none', 'none', 'refused', 'lost', 'defect', 'again'] as const;
const durationsMs = [0, 0, 1, 100, 900, 1_000, 5_000, 10_000, 86_400_000] as const;
const delaysMs = [0, 0, 0, 300, 1_000] as const;

type Instance = ReturnType<typeof instance>;

/** Verifications that begin together, and what happens to their draws. */
interface Step {
  readonly advanceMs: number;
  readonly fault: (typeof faults)[number];
  /** Before and after the transaction. */
  readonly delaysMs: readonly [before: number, after: number];
  readonly spends: readonly { readonly key: number; readonly cost: number }[];
  /** Of the same limits, by another instance. */
  readonly spendsOfOther: Step['spends'];
  /** Of the quota that changes. */
  readonly limit: number;
}

function stepsOf(seed: number): Step[] {
  const random = randomOf(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const spends = (countMax: number): Step['spends'] => {
    const usual = pick([1, 1, 3]);
    return Array.from({ length: Math.floor(random() * countMax) }, () => ({
      key: pick([0, 1, 2, 3]),
      cost: random() < 0.1 ? pick([0, 15, 400]) : usual,
    }));
  };
  return Array.from({ length: 40 }, () => ({
    advanceMs: pick(durationsMs),
    fault: pick(faults),
    delaysMs: [pick(delaysMs), pick(delaysMs)],
    spends: spends(30),
    spendsOfOther: spends(10),
    limit: pick([200, 200, 200, 250]),
  }));
}

/** A limiter with its own keys. Both sides use the same database. */
class Side {
  readonly #number: number;
  readonly #of: Instance;
  readonly #other: Instance;
  #step: Step | undefined;

  /** @param originMs as for `instance` */
  constructor(db: Db, number: number, originMs?: number) {
    this.#number = number;
    const disturbed = withTransaction(db, (body, options) => this.#transact(db, body, options));
    this.#of = instance(disturbed, originMs === undefined ? {} : { originMs });
    this.#other = instance(db);
  }

  /** @returns the outcomes by their order, of both limiters, and what the limiter has counted */
  async take(step: Step) {
    this.#step = step;
    this.#advance(step.advanceMs);
    const ofOther = await Promise.all(step.spendsOfOther.map((spending) => this.#spend(this.#other, spending, step)));
    const outcomes = await Promise.all(step.spends.map((spending) => this.#spend(this.#of, spending, step)));
    const { draws, tokens, waits } = this.#of.limiter;
    return { outcomes, ofOther, draws: { ...draws }, tokens: { ...tokens }, waits: { ...waits } };
  }

  async #spend({ spend }: Instance, { key, cost }: Step['spends'][number], { limit }: Step) {
    try {
      const { exceeded, ...outcome } = await spend(this.#key(key, limit), cost);
      return { result: exceeded?.name ?? 'accepted', ...outcome };
    } catch (error) {
      return { result: codeOf(error) === 'unavailable' ? 'unavailable' : 'defect' };
    }
  }

  #key(key: number, limit: number) {
    const account = { rate: { limit: 500, windowSeconds: 60 }, ...quota(600, 'ever') };
    const all = [
      limited({ rate: { limit: 20, windowSeconds: 1 } }, 1),
      limited(quota(limit), 2),
      limited({ rate: { limit: 1_000, windowSeconds: 3_600, burst: 300 } }, 3, account),
      limited(quota(2_000, 'month'), 4, account),
    ];
    const found = all[key];
    assert.ok(found);
    return { ...found, id: found.id + 10 * this.#number, accountId: `acc_${this.#number}` };
  }

  #advance(ms: number): void {
    this.#of.advance(ms);
    this.#other.advance(ms);
  }

  async #transact<T>(db: Db, ...[body, options]: Parameters<typeof db.transaction<T>>): Promise<T> {
    const { fault = 'none', delaysMs: [before, after] = [0, 0] } = this.#step ?? {};
    this.#advance(before);
    if (fault === 'refused') throw unavailable(new Error('read-only'));
    if (fault === 'defect') throw new RangeError('a defect');
    if (fault === 'again') {
      const first = db.transaction(async (tx) => {
        await body(tx);
        throw new Error('conflict');
      }, options);
      await first.catch(() => undefined);
      this.#advance(before);
    }
    const value = await db.transaction(body, options);
    this.#advance(after);
    if (fault === 'lost') throw unavailable(new Error('the connection broke'), true);
    return value;
  }
}

onEachDatabase('a limiter decides the same if its draws are made in another process', async ({ db }) => {
  const results: string[] = [];
  for (let seed = 1; seed <= 3; seed++) {
    const here = new Side(db, 2 * seed);
    // The spans of forecasts begin at multiples of the validity of tokens.
    const elsewhere = new Side(db, 2 * seed + 1, seed * 3_600_000);
    for (const [index, step] of stepsOf(seed).entries()) {
      const expected = await here.take(step);
      assert.deepEqual(await elsewhere.take(step), expected, `seed ${seed}, step ${index}: ${JSON.stringify(step)}`);
      results.push(...expected.outcomes.map(({ result }) => result));
    }
  }
  const kinds = ['accepted', 'account-quota', 'account-rate', 'defect', 'key-quota', 'key-rate', 'unavailable'];
  assert.deepEqual(Object.keys(tally(results)).toSorted(), kinds);
});
