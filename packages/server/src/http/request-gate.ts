/**
 * Bounds the requests in progress of each credential, account and client IP range, in this process. A request beyond a
 * bound is rejected before it is processed. Requests that remove rights have bounds of their own, and wait in turn
 * (`account-turns.ts`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { tooMany } from '../foundation/database/fair-queue.ts';
import type { WorkClass } from '../foundation/database/share.ts';

/** Maximum of requests in progress for each credential, account and client IP range. */
export type RequestBounds = Readonly<Record<'credential' | 'account' | 'range', number>>;

export const defaultBounds: RequestBounds = {
  credential: limits.requestsPerCredentialMax,
  account: limits.requestsPerAccountMax,
  range: limits.requestsPerRangeMax,
};

export class RequestGate {
  readonly #bounds: RequestBounds;
  readonly #inProgress = new Map<string, number>();

  constructor(bounds = defaultBounds) {
    this.#bounds = bounds;
  }

  newRequest(workClass: WorkClass = 'ordinary'): RequestSlots {
    return new RequestSlots(this.#bounds, this.#inProgress, workClass);
  }
}

/** The slots that one request occupies. */
export class RequestSlots {
  readonly #bounds: RequestBounds;
  readonly #inProgress: Map<string, number>;
  readonly #workClass: WorkClass;
  readonly #acquired: string[] = [];
  readonly #turns: (() => void)[] = [];

  constructor(bounds: RequestBounds, inProgress: Map<string, number>, workClass: WorkClass) {
    this.#bounds = bounds;
    this.#inProgress = inProgress;
    this.#workClass = workClass;
  }

  /** @throws DomainError `too_many_in_progress` */
  acquire(kind: keyof RequestBounds, name: string): void {
    const key = `${this.#workClass} ${kind} ${name}`;
    const count = this.#inProgress.get(key) ?? 0;
    if (count >= this.#bounds[kind]) throw tooMany();
    this.#inProgress.set(key, count + 1);
    this.#acquired.push(key);
  }

  /** Waits for a turn of the request. @param begin returns a function that ends the turn */
  async take(begin: () => Promise<() => void>): Promise<void> {
    this.#turns.push(await begin());
  }

  release(): void {
    for (const end of this.#turns.splice(0)) end();
    for (const key of this.#acquired.splice(0)) {
      const count = (this.#inProgress.get(key) ?? 0) - 1;
      if (count > 0) this.#inProgress.set(key, count);
      else this.#inProgress.delete(key);
    }
  }
}

/**
 * Delays a rejection by this gate for the time of its Retry-After. A client that ignores Retry-After would otherwise repeat
 * the request immediately, and thousands of such requests would occupy the event loop.
 */
export async function delayRejection(error: unknown): Promise<void> {
  if (error instanceof DomainError && error.code === 'too_many_in_progress') await sleep(limits.refusalHoldMs);
}
