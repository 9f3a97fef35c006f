/**
 * The limit of a sign-in: only the password hash, in a loop, at the priority that the server gives to its hashes. Prints a
 * result in the format of the load generator.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { hashRaw } from '@node-rs/argon2';
import { argon2Default } from '../packages/server/src/foundation/crypto/password.ts';
import { lowerPriority } from '../packages/server/src/foundation/priority.ts';
import type { Measured } from './rounds.ts';

export interface HashLimitOptions {
  readonly concurrency: number;
  readonly seconds: number;
}

const { concurrency, seconds } = JSON.parse(process.argv[2] ?? '{}') as HashLimitOptions;
const { memoryKib, passes, lanes } = argon2Default;
const salt = randomBytes(16);
const latencies: number[] = [];

lowerPriority();
// Threads of the pool that have already started keep their priority.
for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), getPriority());
const startedAt = performance.now();
const usedBefore = process.cpuUsage();
const elapsedSeconds = (): number => (performance.now() - startedAt) / 1000;

async function hashInTurn(): Promise<void> {
  while (elapsedSeconds() < seconds) {
    const hashStartedAt = performance.now();
    await hashRaw('correct horse battery staple', {
      memoryCost: memoryKib,
      timeCost: passes,
      parallelism: lanes,
      outputLen: 32,
      salt,
    });
    latencies.push(performance.now() - hashStartedAt);
  }
}

await Promise.all(Array.from({ length: concurrency }, hashInTurn));
const used = process.cpuUsage(usedBefore);
latencies.sort((a, b) => a - b);
const quantile = (q: number): number => latencies[Math.floor((latencies.length - 1) * q)] ?? Number.NaN;
const result: Measured = {
  requests: latencies.length,
  seconds: elapsedSeconds(),
  perSecond: latencies.length / elapsedSeconds(),
  failures: 0,
  msP50: quantile(0.5),
  msP99: quantile(0.99),
  generatorShare: 0,
  processorUs: (used.user + used.system) / latencies.length,
};
console.log(JSON.stringify(result));
