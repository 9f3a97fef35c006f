/**
 * Bounds the requests in progress of each credential, account and client IP range, in this process. A request beyond a
 * bound is rejected before any work is done for it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { tooMany } from '../foundation/database/fair-queue.ts';

/** Requests in progress at most, of each credential, account and client IP range. */
export type RequestBounds = Readonly<Record<'credential' | 'account' | 'range', number>>;

const defaultBounds: RequestBounds = {
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

  /** A request's way through: what it entered is left together. */
  pass(): Passage {
    return new Passage(this.#bounds, this.#inProgress);
  }
}

export class Passage {
  readonly #bounds: RequestBounds;
  readonly #inProgress: Map<string, number>;
  readonly #entered: string[] = [];

  constructor(bounds: RequestBounds, inProgress: Map<string, number>) {
    this.#bounds = bounds;
    this.#inProgress = inProgress;
  }

  /** @throws DomainError `too_many_in_progress` */
  enter(kind: keyof RequestBounds, name: string): void {
    const key = `${kind} ${name}`;
    const count = this.#inProgress.get(key) ?? 0;
    if (count >= this.#bounds[kind]) throw tooMany();
    this.#inProgress.set(key, count + 1);
    this.#entered.push(key);
  }

  leave(): void {
    for (const key of this.#entered.splice(0)) {
      const count = (this.#inProgress.get(key) ?? 0) - 1;
      if (count > 0) this.#inProgress.set(key, count);
      else this.#inProgress.delete(key);
    }
  }
}

/**
 * Holds such a refusal back for as long as its Retry-After. A client that ignores Retry-After would otherwise repeat the
 * request at once, and thousands of them would occupy the event loop that other requests need.
 */
export async function holdBack(error: unknown): Promise<void> {
  if (error instanceof DomainError && error.code === 'too_many_in_progress') await sleep(limits.refusalHoldMs);
}
