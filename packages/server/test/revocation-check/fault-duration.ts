/** How long a fault lasts, where nothing else ends it: an input of the run, and no limit of a test. */
import { setTimeout } from 'node:timers/promises';

// oxlint-disable-next-line keyreeve/no-test-bounds -- a paused process or a held lock has no event that could end it
export const lasts = (ms: number): Promise<void> => setTimeout(ms);
