/**
 * The writer thread. A commit waits for the disk, which must not block the main thread. The thread receives lists of steps
 * and responds to each list with the results of its steps.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../priority.ts';
import { isBusy, SqliteConnection } from './sqlite-connection.ts';
import { CommitError, messageOf, SqliteSteps, type Step } from './sqlite-steps.ts';

export interface WriterData {
  readonly path: string;
  /** Whether other threads run first. */
  readonly isBackground?: boolean;
}

export type WriterRequest = readonly Step[];

export interface StepFailure {
  readonly message: string;
  /** Only for a commit that SQLite has attempted. */
  readonly isOutcomeUnknown: boolean;
  /** Whether another process kept the lock of the file. */
  readonly isFileLocked?: boolean;
}
/** The results of the steps, in order, and the failures by the index of the step. */
export type WriterResponse = readonly [results: readonly unknown[], failures?: ReadonlyMap<number, StepFailure>];

const port = parentPort;
if (!port) throw new Error('sqlite-writer must run as a worker thread');
const { path, isBackground = false } = workerData as WriterData;
// Elsewhere, the priority is that of the process.
if (isBackground && process.platform === 'linux') lowerPriority();
const performer = new SqliteSteps(new SqliteConnection(path, 'write'));

port.on('message', (steps: WriterRequest) => {
  let failures: Map<number, StepFailure> | undefined;
  const results = steps.map((step, index) => {
    try {
      return performer.perform(step);
    } catch (error) {
      const failure = {
        message: messageOf(error),
        isOutcomeUnknown: error instanceof CommitError,
        isFileLocked: isBusy(error),
      };
      (failures ??= new Map()).set(index, failure);
      return undefined;
    }
  });
  port.postMessage((failures ? [results, failures] : [results]) satisfies WriterResponse);
  if (steps.at(-1)?.[0] === 'close') port.close();
});
