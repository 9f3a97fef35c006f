/** Loaded into a measured server: appends its longest event-loop delays to a file, as lines of a time and milliseconds. */
import { appendFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/** Interval of the measurement, which each sample includes. */
const resolutionMs = 1;
const reportEveryMs = 100;

const path = process.env['BENCH_DELAYS'];
if (path !== undefined && isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  setInterval(() => {
    appendFileSync(path, `${Date.now()} ${Math.max(0, delay.max / 1e6 - resolutionMs)}\n`);
    delay.reset();
  }, reportEveryMs).unref();
}
