/**
 * The log of webhook deliveries: which attempts were made, with which results. The sender does not wait for it: attempts are
 * collected in memory and written about once a second. A crash loses the attempts since the last write.
 */
import { limits } from '@keyreeve/contract';
import type { Core } from '../../foundation/core.ts';
import { dayMs } from '../../foundation/clock.ts';
import { CoalescedCall } from '../../foundation/database/coalesced-call.ts';
import {
  deleteExcessDeliveries,
  deleteOldDeliveries,
  listLoggedEndpoints,
  saveTriedDeliveries,
  type StoredAttempt,
  type TriedDelivery,
} from './delivery-store.ts';

export interface DeliveryLogOptions extends Core {
  /** Called when attempts cannot be written, once until they can be written again. */
  readonly onFailure?: (error: unknown) => void;
}

const flushAfterMs = 1_000;
/** Bounds the memory while the database does not accept writes. */
const waitingMax = 1_000;
/** Small, so that a write does not delay other writes. */
const rowsPerWriteMax = 200;
const rowsPerDeleteMax = 1_000;

export class DeliveryLog {
  readonly #options: DeliveryLogOptions;
  /** By id of the delivery. */
  #waiting = new Map<string, TriedDelivery>();
  #timer: NodeJS.Timeout | undefined;
  readonly #flush = new CoalescedCall(() => this.#writeWaiting());
  #isFailing = false;

  constructor(options: DeliveryLogOptions) {
    this.#options = options;
  }

  /** Never fails, and writes later. Drops the attempt if too many wait. */
  record(delivery: Omit<TriedDelivery, 'attempts'>, attempt: StoredAttempt): void {
    const before = this.#waiting.get(delivery.id);
    if (!before && this.#waiting.size >= waitingMax) return;
    this.#waiting.set(delivery.id, { ...delivery, attempts: [...(before?.attempts ?? []), attempt] });
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref();
  }

  /** Writes the attempts that were recorded before the call. Those of a failed write wait for the next one. */
  flush(): Promise<void> {
    return this.#flush.call();
  }

  async #writeWaiting(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const tried = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (let start = 0; start < tried.length; start += rowsPerWriteMax) {
      try {
        await saveTriedDeliveries(
          this.#options.db,
          tried.slice(start, start + rowsPerWriteMax),
          limits.webhookAttemptsShownMax,
        );
        this.#isFailing = false;
      } catch (error) {
        this.#putBack(tried.slice(start));
        if (!this.#isFailing) this.#options.onFailure?.(error);
        this.#isFailing = true;
        return;
      }
    }
  }

  #putBack(tried: readonly TriedDelivery[]): void {
    const added = this.#waiting;
    this.#waiting = new Map(tried.map((delivery) => [delivery.id, delivery]));
    for (const { attempts, ...delivery } of added.values())
      for (const attempt of attempts) this.record(delivery, attempt);
  }

  /** Deletes deliveries that are too old, and those beyond the bound of an endpoint. @throws DomainError `unavailable` */
  async deleteOld(): Promise<void> {
    const { db, clock } = this.#options;
    const before = clock.now() - limits.webhookDeliveryDays * dayMs;
    while ((await deleteOldDeliveries(db, before, rowsPerDeleteMax)) === rowsPerDeleteMax);
    const keptMax = limits.webhookDeliveriesPerEndpointMax;
    for (const endpointId of await listLoggedEndpoints(db))
      while ((await deleteExcessDeliveries(db, endpointId, keptMax, rowsPerDeleteMax)) === rowsPerDeleteMax);
  }
}
