/** Hashing threads: priority, number, replacement after a crash, end. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, getPriority } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { DomainError } from '../../errors.ts';
import type { ForeignRecipe } from '../foreign-hash.ts';
import { HashingThreads } from '../hashing-threads.ts';
import { KeyedHash } from '../keyed-hash.ts';
import { PasswordHasher } from '../password.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { watchHashingThreads } from '../../../../test-kit/thread-messages.ts';
import { programMsMax } from '../../../../test-kit/time-limits.ts';
import { until } from '../../../../test-kit/until.ts';

const cheap = { memoryKib: 64, passes: 1, lanes: 1 };
const pepper = new KeyedHash(randomBytes(32));
const recipe: ForeignRecipe = {
  scheme: 'argon2id',
  parameters: { v: 19, m: 64, t: 1, p: 1 },
  salt: randomBytes(16),
  digestBytes: 32,
};
const password = 'wombat orbit velvet 42';

/** @returns thread id → nice value, of this process (proc(5): field 19 of `stat`, which is the 17th after the name) */
const niceValues = (): ReadonlyMap<string, number> =>
  new Map(
    readdirSync('/proc/self/task').flatMap((id): [string, number][] => {
      try {
        const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8');
        return [[id, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])]];
      } catch {
        return []; // The thread has ended in the meantime.
      }
    }),
  );

const codeOf = (error: unknown): string | undefined => (error instanceof DomainError ? error.code : undefined);

test(
  'hashes run in threads of lower priority, and the other threads keep theirs',
  {
    skip: process.platform !== 'linux' && 'only Linux has priorities of threads',
  },
  async () => {
    const [before, usual] = [niceValues(), getPriority()];
    const warnings: string[] = [];
    const hasher = new PasswordHasher(pepper, cheap, { concurrency: 2, onWarning: (detail) => warnings.push(detail) });
    await Promise.all(Array.from({ length: 8 }, () => hasher.hash(password)));
    assert.deepEqual(warnings, []);
    assert.equal(getPriority(), usual);
    // Threads of earlier tests can still be in the list.
    const lowered = [...niceValues()].filter(([id, nice]) => nice === usual + 4 && !before.has(id));
    assert.equal(lowered.length, 2);
    await hasher.close();
    // The kernel removes a thread from the list some time after the event of its end.
    const isOver = (): boolean => lowered.every(([id]) => !niceValues().has(id));
    await until('the threads have left the list', isOver);
  },
);

test('if the priority cannot be lowered, hashes run and one warning is given', async (t) => {
  const workers = watchHashingThreads(t);
  const warnings: string[] = [];
  const hasher = new PasswordHasher(pepper, cheap, { concurrency: 2, onWarning: (detail) => warnings.push(detail) });
  const hashTwice = () => Promise.all([hasher.hash(password), hasher.hash(password)]);
  await hashTwice();
  assert.equal(workers.size, 2);
  for (const worker of workers) worker.emit('message', { warning: 'setpriority is not permitted' });
  await hashTwice();
  assert.deepEqual(warnings, ['setpriority is not permitted']);
  await hasher.close();
});

test('one processor is left to verifications, and one hash can always run', () => {
  const processors = availableParallelism();
  assert.equal(new PasswordHasher(pepper, cheap).concurrency, Math.max(1, Math.min(4, processors - 1)));
});

test('no more hashes run at once than the concurrency, and idle threads are used again', async (t) => {
  const workers = watchHashingThreads(t);
  const hasher = new PasswordHasher(pepper, cheap, { concurrency: 2 });
  for (let round = 0; round < 3; round++) {
    const hashes = Array.from({ length: 10 }, () => hasher.hash(password));
    assert.deepEqual([hasher.stats.running, hasher.stats.waiting], [2, 8]);
    await Promise.all(hashes);
  }
  assert.equal(workers.size, 2);
  await hasher.close();
});

test('hashes whose thread ends fail with `unavailable`, waiting hashes succeed, and the thread is replaced', async (t) => {
  let isSilent = false;
  const workers = watchHashingThreads(t, () => isSilent);
  const hasher = new PasswordHasher(pepper, cheap, { concurrency: 1 });
  const phc = await hasher.hash(password);
  isSilent = true;
  // One runs and one waits in the thread.
  const checks = Array.from({ length: 4 }, () => hasher.verify(password, phc).catch(codeOf));
  isSilent = false;
  for (const worker of workers) void worker.terminate();
  assert.deepEqual(await Promise.all(checks), ['unavailable', 'unavailable', true, true]);
  assert.equal(await hasher.verify('wrong', phc), false);
  assert.equal(workers.size, 2);
  assert.deepEqual({ ...hasher.stats, hashed: 0 }, { running: 0, waiting: 0, hashed: 0, refused: 0 });
  await hasher.close();
});

test('an idle thread that ends is replaced', async (t) => {
  const workers = watchHashingThreads(t);
  const hasher = new PasswordHasher(pepper, cheap, { concurrency: 1 });
  const phc = await hasher.hash(password);
  for (const worker of workers) await worker.terminate();
  assert.equal(await hasher.verify(password, phc), true);
  await hasher.close();
});

test('a digest that cannot be computed fails, and the thread computes the next one', async (t) => {
  const workers = watchHashingThreads(t);
  const threads = new HashingThreads(1);
  await assert.rejects(threads.compute({ ...recipe, salt: Buffer.of() }, password), /salt/i);
  assert.equal((await threads.compute(recipe, password)).digest.length, 32);
  assert.equal(workers.size, 1);
  await threads.close();
});

test('closing ends the threads, and every hash fails with `unavailable`', async (t) => {
  const workers = watchHashingThreads(t);
  // Slow, so that the first hash still runs when the threads are closed.
  const hasher = new PasswordHasher(pepper, { memoryKib: 47_104, passes: 8, lanes: 1 }, { concurrency: 1 });
  await hasher.hash(password);
  const hashes = Array.from({ length: 3 }, () => hasher.hash(password).catch(codeOf));
  await hasher.close();
  assert.deepEqual(await Promise.all(hashes), ['unavailable', 'unavailable', 'unavailable']);
  assert.equal(await hasher.hash(password).catch(codeOf), 'unavailable');
  await until('the thread has ended', () => [...workers].every(({ threadId }) => threadId === -1));
  assert.equal(workers.size, 1);
});

test('an idle thread does not keep the process running', () => {
  const url = (path: string): string => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { PasswordHasher } = await import(${url('../password.ts')});
    const { KeyedHash } = await import(${url('../keyed-hash.ts')});
    const hasher = new PasswordHasher(new KeyedHash(Buffer.alloc(32)), ${JSON.stringify(cheap)});
    console.log((await hasher.hash('x')).slice(0, 10));`;
  using folder = newTempFolder();
  const path = join(folder.path, 'hash.mjs');
  writeFileSync(path, script);
  const { status, stdout } = spawnSync(process.execPath, [path], { encoding: 'utf8', timeout: programMsMax });
  assert.deepEqual([status, stdout], [0, '$argon2id$\n']);
});
