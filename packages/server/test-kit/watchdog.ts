/**
 * Loaded into each process of tests (`--import`). Ends a test that does not end by itself, and prints what it awaited. At the end
 * of the process, it records the time that was not recorded for a file.
 */
import { afterEach, beforeEach, type TestContext } from 'node:test';
import { recordRest } from './file-times.ts';
import { runEnvironment } from './run-environment.ts';
import { watchdogMsNow } from './time-limits.ts';
import { awaitedNow, endWaits } from './until.ts';

/** After the waits of a test have ended, it has this part of the limit for its clean-up. */
const cleanUpShare = 1 / 4;

const timers = new Map<string, NodeJS.Timeout>();

function watch({ fullName }: TestContext): void {
  const limitMs = watchdogMsNow();
  const minutes = Math.round(limitMs / 60_000);
  const endTest = (): void => {
    const waits = awaitedNow();
    report(
      `“${fullName}” has not ended after ${minutes} minutes; it awaits: ${waits.join('; ') || 'no known condition'}`,
    );
    endWaits(`not within ${minutes} minutes`);
    // oxlint-disable-next-line keyreeve/no-test-bounds -- the watchdog itself
    timers.set(fullName, setTimeout(endProcess, limitMs * cleanUpShare).unref());
  };
  const endProcess = (): void => {
    report(`“${fullName}” has not ended after its waits were ended`);
    process.exit(1);
  };
  // oxlint-disable-next-line keyreeve/no-test-bounds -- the watchdog itself
  timers.set(fullName, setTimeout(endTest, limitMs).unref());
}

const report = (text: string): void => void process.stderr.write(`watchdog: ${text}\n`);

const [, file = ''] = process.argv;
// Processes that the test starts inherit its variables, and run other files.
if (runEnvironment.isTestFile && /\.test\.(?:tsx?|mjs)$/.test(file)) {
  beforeEach((t) => watch(t as TestContext));
  afterEach((t) => clearTimeout(timers.get((t as TestContext).fullName)));
  process.on('exit', () => recordRest(file));
}
