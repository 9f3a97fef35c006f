/** How long a fault or a delay lasts, where nothing else ends it: an input of the run, and no limit of a test. */
import { setTimeout } from 'node:timers/promises';

// oxlint-disable-next-line keyreeve/no-test-bounds -- no event ends the pause of a process, a lock or a delay
export const lasts = (ms: number): Promise<void> => setTimeout(ms);
