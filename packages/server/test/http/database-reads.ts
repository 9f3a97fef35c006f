/** Counts the reads of the embedded database in this process, below all code of ours: writes run in another thread. */
import { StatementSync } from 'node:sqlite';
import { mock } from 'node:test';

export interface DatabaseReads extends Disposable {
  readonly count: () => number;
}

export function countDatabaseReads(): DatabaseReads {
  const spies = [mock.method(StatementSync.prototype, 'get'), mock.method(StatementSync.prototype, 'all')];
  return {
    count: () => spies.reduce((sum, spy) => sum + spy.mock.callCount(), 0),
    [Symbol.dispose]: () => spies.forEach((spy) => spy.mock.restore()),
  };
}
