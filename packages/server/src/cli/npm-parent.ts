/**
 * Detects that npm has exited. `npm start` and `npx --no-install keyreeve serve` run the program in a shell. A SIGTERM to npm ends npm and
 * the shell but does not reach the program, which would continue without a parent.
 */
import { processEnvironment } from '../app/configuration/config.ts';

const checkIntervalMs = 200;
/** The values of `npm start` and `npx`. Other scripts may start a service that outlives them. */
const lifecycleEvents = new Set<string | undefined>(['start', 'npx']);
/** Read when the program begins: npm may exit while the service starts. */
const parent = process.ppid;

/** Calls `stop` once when the parent process has exited. Does nothing if npm did not start the program. */
export function onNpmExit(stop: () => void): void {
  if (!lifecycleEvents.has(processEnvironment()['npm_lifecycle_event'])) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && isRunning(parent)) return;
    clearInterval(timer);
    stop();
  }, checkIntervalMs).unref();
}

/** On Windows, `process.ppid` does not change when the parent exits. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process runs as another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
