/** Records the time that each test file took, for the table at the end of a run (`scripts/test-times.ts`). */
import { appendFileSync } from 'node:fs';
import { processorMs } from './processor-time.ts';
import { runEnvironment } from './run-environment.ts';

/** What a file took. Processes that were killed before their parent awaited them do not count. */
export interface FileTime {
  /** Absolute path. */
  readonly file: string;
  readonly seconds: number;
  readonly processorSeconds: number;
}

type Used = Omit<FileTime, 'file'>;

const used = (): Used => ({ seconds: process.uptime(), processorSeconds: processorMs(process.pid) / 1000 });

/** The time of this process that has been recorded. */
const recorded = { seconds: 0, processorSeconds: 0 };

/** @returns adds a line for the file, about the time since the call */
export function startTime(file: string): () => void {
  const start = used();
  return () => {
    const end = used();
    record(file, {
      seconds: end.seconds - start.seconds,
      processorSeconds: end.processorSeconds - start.processorSeconds,
    });
  };
}

/** Adds a line about the time of this process that has not been recorded. */
export function recordRest(file: string): void {
  const { seconds, processorSeconds } = used();
  record(file, {
    seconds: seconds - recorded.seconds,
    processorSeconds: processorSeconds - recorded.processorSeconds,
  });
}

function record(file: string, { seconds, processorSeconds }: Used): void {
  recorded.seconds += seconds;
  recorded.processorSeconds += processorSeconds;
  if (runEnvironment.times === undefined) return;
  appendFileSync(runEnvironment.times, `${JSON.stringify({ file, seconds, processorSeconds } satisfies FileTime)}\n`);
}
