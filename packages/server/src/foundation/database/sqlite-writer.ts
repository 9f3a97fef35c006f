/**
 * The writer thread. A commit waits for the disk, which must not block the main thread. The thread receives lists of steps
 * and responds to each list with the results of its steps.
 *
 * A transaction is `begin`, operations and `commit`. An operation is `savepoint`, statements and `release` or `undo`. A
 * failed statement fails the rest of its operation, which `release` then undoes; the other operations continue. If SQLite
 * has ended the transaction, everything up to the commit fails: a statement outside of a transaction would commit alone.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection } from './sqlite-connection.ts';
import type { SqlValue } from './sql.ts';

export type StatementKind = 'all' | 'get' | 'run';
export type WriterStep =
  | readonly [kind: StatementKind, text: string, values: readonly SqlValue[]]
  | readonly [kind: 'open' | 'begin' | 'savepoint' | 'release' | 'undo' | 'commit' | 'close'];
export type WriterRequest = readonly WriterStep[];

export interface StepFailure {
  readonly message: string;
  /** Only for a commit that SQLite has attempted: it may have reached the disk. */
  readonly isOutcomeUnknown: boolean;
}
/** The results of the steps, in order, and the failures by the index of the step. */
export type WriterResponse = readonly [results: readonly unknown[], failures?: ReadonlyMap<number, StepFailure>];

const port = parentPort;
if (!port) throw new Error('sqlite-writer must run as a worker thread');
const connection = new SqliteConnection((workerData as { path: string }).path, 'write');

/** It does so after some failures (https://sqlite.org/lang_transaction.html, section 3). */
const endedBySqlite = 'SQLite has ended the transaction';
const noTransaction = 'no transaction has begun';
/** Why the transaction cannot continue. */
let transactionFailure: string | undefined = noTransaction;
/** Why the operation cannot continue. */
let operationFailure: string | undefined;

port.on('message', (steps: WriterRequest) => {
  let failures: Map<number, StepFailure> | undefined;
  const results = steps.map((step, index) => {
    try {
      return perform(step);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const isOutcomeUnknown = step[0] === 'commit' && transactionFailure === undefined;
      (failures ??= new Map()).set(index, { message, isOutcomeUnknown });
      return undefined;
    }
  });
  port.postMessage((failures ? [results, failures] : [results]) satisfies WriterResponse);
  if (steps.at(-1)?.[0] === 'close') port.close();
});

function perform(step: WriterStep): unknown {
  switch (step[0]) {
    case 'all':
    case 'get':
    case 'run':
      return performStatement(step[0], step[1], step[2]);
    case 'open':
      // The connection was opened with the thread.
      return undefined;
    case 'begin':
      transactionFailure = undefined;
      return control(begin);
    case 'savepoint':
      operationFailure = undefined;
      return control(() => run('savepoint operation'));
    case 'undo':
      return control(undoOperation);
    case 'release':
      if (operationFailure === undefined) return control(() => run('release operation'));
      control(undoOperation);
      throw new Error(operationFailure);
    case 'commit':
      return commit();
    case 'close':
      return connection.close();
  }
}

function performStatement(kind: StatementKind, text: string, values: readonly SqlValue[]): unknown {
  if (!connection.isTransaction) transactionFailure ??= endedBySqlite;
  const failure = transactionFailure ?? operationFailure;
  if (failure !== undefined) throw new Error(failure);
  try {
    const statement = connection.prepare(text);
    return kind === 'run' ? Number(statement.run(...values).changes) : statement[kind](...values);
  } catch (error) {
    operationFailure = error instanceof Error ? error.message : String(error);
    throw error;
  }
}

/** Performs a step without which the transaction cannot continue. */
function control(step: () => void): void {
  if (transactionFailure !== undefined) throw new Error(transactionFailure);
  try {
    step();
    if (!connection.isTransaction) throw new Error(endedBySqlite);
  } catch (error) {
    transactionFailure = error instanceof Error ? error.message : String(error);
    throw error;
  }
}

function undoOperation(): void {
  run('rollback to operation');
  run('release operation');
}

function begin(): void {
  // A failure has left the previous transaction open.
  if (connection.isTransaction) run('rollback');
  run('begin immediate');
}

function commit(): void {
  if (!connection.isTransaction) transactionFailure ??= endedBySqlite;
  if (transactionFailure !== undefined) throw new Error(transactionFailure);
  run('commit');
  transactionFailure = noTransaction;
}

function run(text: string): void {
  connection.prepare(text).run();
}
