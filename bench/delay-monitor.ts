/**
 * Loaded into a measured server: appends its longest event-loop delays to a file, as lines of a time, the delay and its
 * processor time. A delay without processor time is caused by other programs on the same cores.
 */
import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const intervalMs = 2;
const reportEveryMs = 100;

const path = process.env['BENCH_DELAYS'];
if (path !== undefined && isMainThread) {
  const processorMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1e3;
  };
  let sampled = { at: performance.now(), processor: processorMs() };
  let longest = { delay: 0, processor: 0 };
  setInterval(() => {
    const now = { at: performance.now(), processor: processorMs() };
    longest = {
      delay: Math.max(longest.delay, now.at - sampled.at - intervalMs),
      processor: Math.max(longest.processor, now.processor - sampled.processor),
    };
    sampled = now;
  }, intervalMs).unref();
  setInterval(() => {
    appendFileSync(path, `${Date.now()} ${longest.delay} ${longest.processor}\n`);
    longest = { delay: 0, processor: 0 };
  }, reportEveryMs).unref();
}
