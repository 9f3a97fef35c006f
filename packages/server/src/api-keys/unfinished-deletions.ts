/**
 * Deletions whose outcome is unknown: the connection broke between the commit and its answer. Until each is known to
 * have happened, this instance says neither yes nor no of its key (SECURITY.md B48).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../errors.ts';

const retryMsFirst = 50;
const retryMsMax = 1_000;
const retryAfterSeconds = 1;
/** Longer than any read takes: one that was sent before the deletion was finished may still bring the key. */
const settleMs = 10_000;

export class UnfinishedDeletions {
  readonly #ids = new Set<number>();

  /** @throws DomainError `unavailable` when there is no room for one more */
  assertRoom(): void {
    if (this.#ids.size >= limits.unfinishedDeletionsMax) throw new DomainError('unavailable', { retryAfterSeconds });
  }

  /** For every yes. @throws DomainError `unavailable` when the key's deletion is unfinished */
  assertNone(id: number): void {
    if (this.#ids.size > 0 && this.#ids.has(id)) throw new DomainError('unavailable', { retryAfterSeconds });
  }

  /** @param finish deletes the key if it is still there; asked again until it doesn't fail */
  add(id: number, finish: () => Promise<unknown>): void {
    if (this.#ids.has(id)) return;
    this.#ids.add(id);
    void this.#finish(id, finish);
  }

  async #finish(id: number, finish: () => Promise<unknown>): Promise<void> {
    for (let ms = retryMsFirst; ; ms = Math.min(retryMsMax, 2 * ms)) {
      try {
        await finish();
        await sleep(settleMs, undefined, { ref: false });
        this.#ids.delete(id);
        return;
      } catch {
        // Whatever it was, the key must not be answered before it is over. A process that stops doesn't wait.
        await sleep(ms, undefined, { ref: false });
      }
    }
  }
}
