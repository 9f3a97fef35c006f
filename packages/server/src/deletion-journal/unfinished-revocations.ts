/**
 * Deletions whose outcome is unknown: the connection broke between the commit and its answer. Until each is known to
 * have happened, this instance says neither yes nor no of what was to end.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../errors.ts';

const retryMsFirst = 50;
const retryMsMax = 1_000;
const retryAfterSeconds = 1;
/** Longer than any read takes: one that was sent before the deletion was finished may still bring what is gone. */
const settleMs = 10_000;

/** @typeParam Id of a key or of an account */
export class UnfinishedRevocations<Id extends string | number> {
  readonly #ids = new Set<Id>();

  /** @throws DomainError `unavailable` when there is no room for one more */
  assertRoom(): void {
    if (this.#ids.size >= limits.unfinishedDeletionsMax) throw new DomainError('unavailable', { retryAfterSeconds });
  }

  /** For every yes. @throws DomainError `unavailable` when the deletion of this is unfinished */
  assertNone(id: Id): void {
    if (this.#ids.size > 0 && this.#ids.has(id)) throw new DomainError('unavailable', { retryAfterSeconds });
  }

  /** @param finish does it if it hasn't happened; asked again until it doesn't fail */
  add(id: Id, finish: () => Promise<unknown>): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    void this.#finish(id, finish);
  }

  async #finish(id: Id, finish: () => Promise<unknown>): Promise<void> {
    for (let ms = retryMsFirst; ; ms = Math.min(retryMsMax, 2 * ms)) {
      try {
        await finish();
        await sleep(settleMs, undefined, { ref: false });
        this.#ids.delete(id);
        return;
      } catch {
        // Whatever it was, nothing of it must be answered before it is over. A process that stops doesn't wait.
        await sleep(ms, undefined, { ref: false });
      }
    }
  }
}
