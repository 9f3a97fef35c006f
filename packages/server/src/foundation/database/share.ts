/**
 * Whose share of the writer a piece of work uses. HTTP sets it once per request, so that every read and write of the
 * request counts for the same owner; a store needs no argument for it. Work outside of a request belongs to the system.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * `narrowing` takes rights away: deletions, disabling, session ends, password changes, resets and the completion of such
 * changes with an unknown outcome. It has reserved capacity (docs/decisions/0014-fair-shares.md).
 */
export type WorkClass = 'narrowing' | 'ordinary';

export interface Share {
  readonly workClass: WorkClass;
  /** An account, or a client IP range for callers without one. Owners take turns. */
  readonly owner: string;
  /** An account's changes lock its row: two concurrent ones would only occupy two connections. */
  readonly isOneAtATime: boolean;
}

export const systemOwner = 'system';
const system: Share = { workClass: 'ordinary', owner: systemOwner, isOneAtATime: false };
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

export const inShare = <T>(share: Share, work: () => T): T => current.run(share, work);

/** For work that a request starts but that outlives it, such as the outbox. */
export const asSystem = <T>(work: () => T): T => current.run(system, work);

/** For the completion of a change with an unknown outcome: it doesn't wait behind the other work of who began it. */
export const asCompletion = <T>(work: () => T): T =>
  current.run({ workClass: 'narrowing', owner: `completion, ${currentShare().owner}`, isOneAtATime: false }, work);
