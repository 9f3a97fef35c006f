/**
 * The share of the writer that an operation uses. HTTP sets it once per request, so every read and write of the request
 * counts for the same owner and stores need no argument for it. Operations outside a request belong to the system.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { isTraced, type Span } from '../tracing.ts';

/**
 * `narrowing` removes rights: deletions, disabling, session ends, password changes, resets and the completion of such
 * changes with an unknown outcome. It has reserved capacity (docs/decisions/03-bounds-and-fairness.md).
 * A `draw` takes tokens for verifications that wait for it. An instance has few at once.
 */
export type WorkClass = 'narrowing' | 'draw' | 'ordinary';

export interface Share {
  readonly workClass: WorkClass;
  /** An account, or a client IP range for callers without one. Owners take turns. */
  readonly owner: string;
  /** An account's changes lock its row: two concurrent ones would only occupy two connections. */
  readonly isOneAtATime: boolean;
  /** Whether its transactions can remove rights: no other process may read an earlier primary when they commit. */
  readonly removesRights?: boolean;
  /** Of a request from a trusted proxy, for its audit events. */
  readonly traceId?: string | undefined;
  /** Of a recorded request or job. */
  readonly span?: Span | undefined;
}

export const systemOwner = 'system';
const system: Share = { workClass: 'ordinary', owner: systemOwner, isOneAtATime: false };
/** Of tokens from limits of keys: it waits neither for the writes of requests nor for those of the system. */
export const drawShare: Share = { workClass: 'draw', owner: systemOwner, isOneAtATime: false };
const current = new AsyncLocalStorage<Share>();

export const currentShare = (): Share => current.getStore() ?? system;

export const accountShare = (accountId: string, workClass: WorkClass): Share => ({
  workClass,
  owner: `account ${accountId}`,
  isOneAtATime: true,
});

export const rangeShare = (range: string, workClass: WorkClass): Share => ({
  workClass,
  owner: `range ${range}`,
  isOneAtATime: false,
});

export const runInShare = <T>(share: Share, run: () => T): T => current.run(share, run);

/** For transactions that can remove rights. */
export const removingRights = <T>(run: () => T): T => current.run({ ...currentShare(), removesRights: true }, run);

/** The trace of a request, for the operations of `run`. */
export const runInTrace = <T>(trace: Pick<Share, 'traceId' | 'span'>, run: () => T): T =>
  current.run({ ...currentShare(), ...trace }, run);

/** The span of the current request or job. After its end, operations that it has started belong to no request. */
export function currentSpan(): Span | undefined {
  const span = isTraced() ? current.getStore()?.span : undefined;
  return span?.root.isEnded === false ? span : undefined;
}

/** Runs `run` in the share of the caller, also if it is called in the turn of another request. */
export const inCurrentShare = <A extends readonly unknown[], T>(run: (...args: A) => T): ((...args: A) => T) => {
  if (!isTraced()) return run;
  const share = currentShare();
  return (...args) => current.run(share, () => run(...args));
};

/** For operations that a request starts and that outlive it, such as those of the outbox. */
/** @param span of a job */
export const runAsSystem = <T>(run: () => T, span?: Span): T => current.run(span ? { ...system, span } : system, run);

/** For the completion of a change with an unknown outcome: it does not wait behind other operations of the same owner. */
export const runAsCompletion = <T>(run: () => T): T =>
  current.run(
    { ...currentShare(), workClass: 'narrowing', owner: `completion, ${currentShare().owner}`, isOneAtATime: false },
    run,
  );
