/**
 * `npm start` and `npx keyreeve serve` run the program behind a shell. A SIGTERM that a user sends to npm ends npm and that
 * shell, and never reaches the program, which would go on without a parent.
 */
import { processEnvironment } from '../app/config.ts';

const lookEveryMs = 200;
/** npm's names for `npm start` and `npx`. What other scripts start may be meant to outlive them. */
const lifecycleEvents = new Set<string | undefined>(['start', 'npx']);
/** Read when the program begins: npm may end while the service starts. */
const parent = process.ppid;

/** Calls `stop` once when the process that npm started for this program has ended. Does nothing where npm did not start it. */
export function whenNpmEnds(stop: () => void): void {
  if (!lifecycleEvents.has(processEnvironment()['npm_lifecycle_event'])) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && isRunning(parent)) return;
    clearInterval(timer);
    stop();
  }, lookEveryMs).unref();
}

/** On Windows `process.ppid` keeps naming a parent that has ended. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
