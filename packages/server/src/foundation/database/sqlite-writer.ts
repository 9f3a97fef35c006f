/**
 * The writer thread. A commit waits for the disk, which must not block the main thread. The thread receives lists of steps
 * and responds to each list with the results of its steps. It runs the bodies of procedures itself (`procedure.ts`).
 */
import { parentPort, workerData } from 'node:worker_threads';
import { lowerPriority } from '../priority.ts';
import { isBusy, SqliteConnection } from './sqlite-connection.ts';
import { VersionedHash } from '../crypto/versioned-hash.ts';
import { loadProcedures, procedureOf, toFailure, type ProcedureFailure } from './procedure.ts';
import { CommitError, messageOf, SqliteSteps, type CalledProcedure, type CallStep, type Step } from './sqlite-steps.ts';
import { SqliteTransaction } from './sqlite-transaction.ts';
import { unavailable } from './unavailable.ts';

export interface WriterData {
  readonly path: string;
  /** Whether other threads run first. */
  readonly isBackground?: boolean;
  /** Files of procedures that the thread loads at its start; others with the first call. */
  readonly procedures?: readonly string[];
}

export type WriterRequest = readonly (Step | CallStep)[];

export interface StepFailure {
  readonly message: string;
  /** Only for a commit that SQLite has attempted. */
  readonly isOutcomeUnknown: boolean;
  /** Whether another process kept the lock of the file. */
  readonly isFileLocked?: boolean;
  /** Only for a procedure. */
  readonly procedure?: ProcedureFailure;
}
/** The results of the steps, in order, and the failures by the index of the step. */
export type WriterResponse = readonly [results: readonly unknown[], failures?: ReadonlyMap<number, StepFailure>];

const port = parentPort;
if (!port) throw new Error('sqlite-writer must run as a worker thread');
const { path, isBackground = false, procedures = [] } = workerData as WriterData;
// Elsewhere, the priority is that of the process.
if (isBackground && process.platform === 'linux') lowerPriority();
const performer = new SqliteSteps(new SqliteConnection(path, 'write'));

// Without one of them, the thread ends.
for (const script of procedures) void loadProcedures(script);

/** Messages are performed one after the other. */
let last = Promise.resolve();
port.on('message', (steps: WriterRequest) => {
  last = last.then(() => respond(steps));
});

async function respond(steps: WriterRequest): Promise<void> {
  let failures: Map<number, StepFailure> | undefined;
  const results: unknown[] = [];
  for (const [index, step] of steps.entries()) {
    try {
      results[index] = step[0] === 'call' ? await call(step[1]) : performer.perform(step);
    } catch (error) {
      const failure = {
        message: messageOf(error),
        isOutcomeUnknown: error instanceof CommitError,
        isFileLocked: isBusy(error),
        ...(step[0] === 'call' ? { procedure: toFailure(error) } : {}),
      };
      (failures ??= new Map()).set(index, failure);
    }
  }
  port?.postMessage((failures ? [results, failures] : [results]) satisfies WriterResponse);
  if (steps.at(-1)?.[0] === 'close') port?.close();
}

/** Runs the body of a procedure, which waits for nothing but its statements. @throws what it throws */
async function call({ script, name, input, auditKey, traceId }: CalledProcedure): Promise<unknown> {
  try {
    const { runTx } = await procedureOf(script, name);
    const key = new VersionedHash(auditKey.key, auditKey.rootKeyVersion);
    const tx = new SqliteTransaction(key, traceId, async (kind, text, values) => {
      try {
        return performer.perform([kind, text, values]);
      } catch (error) {
        throw unavailable(error);
      }
    });
    return await runTx(tx, input).finally(() => tx.end());
  } catch (error) {
    performer.failOperation(error);
    throw error;
  }
}
