/** Random choices of the workload, from a seed that the report names. Their effect also depends on the timing of the run. */
import { randomInt as randomSeed } from 'node:crypto';

const seedMax = 2 ** 32;
let state = randomSeed(seedMax);

/** @param seed an integer below 2^32; by default a random one @returns the seed */
export function seedRandom(seed = randomSeed(seedMax)): number {
  state = seed;
  return seed;
}

/** @returns an integer from 0 to `max` − 1 */
export function randomInt(max: number): number {
  // Mulberry32: choices need an even distribution, not unpredictability.
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / seedMax) * max);
}

/** @yields all values in random order, and again in another order, endlessly */
export function* inRandomRounds<T>(values: readonly T[]): Generator<T, never> {
  for (;;) {
    const left = [...values];
    while (left.length > 0) yield* left.splice(randomInt(left.length), 1);
  }
}

export const pick = <T>(values: readonly T[]): T => values[randomInt(values.length)] as T;
