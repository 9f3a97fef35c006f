/** A service whose drain waits for the test before its port closes. Its last phases would take minutes, so a test sees a delay. */
import type { Environment } from './program.ts';

/** Holds a drain of this length. */
export const holdingDrain = (seconds: number): Environment => ({
  NODE_OPTIONS: `--import=${import.meta.resolve('./held-drain.ts')}`,
  TEST_HELD_MS: String(seconds * 500),
});

export const heldDrain: Environment = { KEYREEVE_DRAIN_SECONDS: '300', ...holdingDrain(300) };

/** @param pids of the processes that serve, after they have begun to drain */
export function releaseDrain(pids: Iterable<number | undefined>): void {
  for (const pid of pids) if (pid !== undefined) process.kill(pid, 'SIGUSR2');
}
