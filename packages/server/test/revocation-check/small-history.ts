/** Small complete histories for tests of the checker: as data, and reported to a checker in the order of their times. */
import { Checker } from '../../revocation-check/checker.ts';
import type {
  Change,
  AccountState,
  Deletion,
  DeletionOutcome,
  Interval,
  ObservedResult,
} from '../../revocation-check/history.ts';
import type { Report } from '../../revocation-check/report.ts';

/** All operations concern one account, whose keys exist from the start. */
export type Operation = Interval &
  (
    | { readonly type: 'verify'; readonly key: number; readonly result: ObservedResult }
    | { readonly type: 'delete'; readonly key: number; readonly outcome: DeletionOutcome }
    | { readonly type: 'change'; readonly to: AccountState; readonly isKnown: boolean }
    | { readonly type: 'list'; readonly shown: readonly number[] }
    /** The number of deletions that the audit log records, by key. */
    | { readonly type: 'audit'; readonly deletions: Readonly<Record<number, number>> }
  );

export const keys: readonly number[] = [1, 2];
const account = 'acc_one';

export function check(history: readonly Operation[]): Report {
  const checker = new Checker();
  for (const key of keys) checker.addKey(key, account, 0);
  const deletions = new Map<Operation, Deletion>();
  const changes = new Map<Operation, Change>();
  const begin = (operation: Operation): void => {
    const { type, startedAt } = operation;
    if (type === 'delete') deletions.set(operation, checker.beginDeletion(operation.key, 'DELETE', startedAt));
    if (type === 'change') changes.set(operation, checker.beginChange(account, operation.to, 'change', startedAt));
  };
  const end = (operation: Operation): void => {
    const { type, startedAt, endedAt } = operation;
    const deletion = deletions.get(operation);
    const change = changes.get(operation);
    if (type === 'verify') checker.verified(operation.key, { ...operation, source: 'verify' });
    if (type === 'list') checker.listed(account, { startedAt, endedAt }, 'list', new Set(operation.shown));
    if (type === 'audit') {
      const counts = Object.entries(operation.deletions).map(([key, count]) => [Number(key), count] as const);
      checker.auditRead(account, { startedAt, endedAt }, new Map(counts));
    }
    if (type === 'delete' && deletion) checker.endDeletion(operation.key, deletion, operation.outcome, endedAt);
    if (type === 'change' && change) checker.endChange(change, operation.isKnown, endedAt);
  };
  reportInOrder(history, begin, end);
  return checker.finish();
}

/** Calls `begin` and `end` for each operation, in the order of all times. */
export function reportInOrder<T extends Interval>(
  history: readonly T[],
  begin: (operation: T) => void,
  end: (operation: T) => void,
): void {
  history
    .flatMap((operation) => [
      { at: operation.startedAt, report: () => begin(operation) },
      { at: operation.endedAt, report: () => end(operation) },
    ])
    .toSorted((a, b) => a.at - b.at)
    .forEach(({ report }) => report());
}
