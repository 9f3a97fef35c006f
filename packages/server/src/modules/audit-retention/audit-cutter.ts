/**
 * Removes the oldest events of the audit log, in batches. Each batch is one commit with the moved cut of its chain, so an
 * interruption leaves a complete audit log, and the next run continues. A batch reads the position of the cut and the events
 * after it under the lock that it removes them with: runs of several processes take turns, and the events that another run has
 * removed are not missing.
 *
 * The last event of each chain stays: new events continue its MAC.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Core } from '../../foundation/core.ts';
import { toInstant } from '../../foundation/clock.ts';
import type { Transaction } from '../../foundation/database/db.ts';
import type { Principal } from '../../foundation/principal.ts';
import { rememberDeletedTx } from '../api-keys/bulk-store.ts';
import { recordEventTx, type AuditAction } from '../audit/audit.ts';
import { cutChainTx, lockCutTx } from '../audit/cut-store.ts';
import { sealOf } from '../audit/cuts.ts';
import { listKeyChanges } from '../audit/key-change-store.ts';
import { ChainKeys, type ChainKeysOf } from '../audit/key-changes.ts';
import { listChain, listChains, type PlacedEvent } from '../audit/store.ts';
import { NeededEvents, type JournalProgress } from './needed-events.ts';
import { findRemovable, futureMs, type CutBounds, type Removable } from './removable.ts';
import type { Block } from './store.ts';

export interface CutterOptions extends Core {
  readonly keys: ChainKeysOf;
  /** Undefined without a deletion journal. */
  readonly journal: JournalProgress | undefined;
  /** Default: 200, so that verifications and other commits do not wait long (bench/RESULTS.md). */
  readonly rowsPerCommitMax?: number;
  /** Default: 10. Leaves the writer to other commits. */
  readonly pauseMs?: number;
}

export interface CutRequest {
  /** Events at this time and later ones stay; in milliseconds. */
  readonly eventsBefore: number;
  /** The age of removed events in days, at least `auditDaysMin`. */
  readonly days: number;
  /** By chain: the position of the last event that may be removed. Undefined: all but the last event of each chain. */
  readonly positionsMax?: ReadonlyMap<number, number>;
  /** Whether to remove events although their MACs are wrong. An operator decides this after an investigation. */
  readonly acceptsFindings?: boolean;
}

export interface CutResult {
  readonly removed: number;
  /** Why events that are old enough stay; undefined if there are none. */
  readonly blocked: Block | undefined;
}

/** Events of a wrong time that precede one with a right time. Bounds the memory. */
const undecidedMax = 20_000;

export class AuditCutter {
  readonly #options: CutterOptions;

  constructor(options: CutterOptions) {
    this.#options = options;
  }

  /** @throws DomainError `unavailable`, also after a rotation of the root key; committed batches stay */
  async cut(principal: Principal, request: CutRequest): Promise<CutResult> {
    const { db, clock, keys, journal } = this.#options;
    const run = new Run(principal, request);
    const needed = await NeededEvents.read(db, journal);
    const chainKeys = new ChainKeys(keys, await listKeyChanges(db));
    for (const { chain, events } of await listChains(db)) {
      const bounds: CutBounds = {
        eventsBefore: request.eventsBefore,
        // An export has no events with later times, so it decides by the time alone.
        futureFrom: request.positionsMax ? undefined : clock.now() + futureMs,
        needed,
        positionMax: Math.min(
          (events ?? 0) - 1,
          request.positionsMax?.get(chain) ?? (request.positionsMax ? 0 : Infinity),
        ),
        keyAt: request.acceptsFindings ? undefined : (position) => chainKeys.keyAt(chain, position),
      };
      await this.#cutChain(run, chain, bounds);
      // An audit log that was changed is evidence.
      if (run.blocked === 'integrity') break;
    }
    return { removed: run.removed, blocked: run.blocked };
  }

  async #cutChain(run: Run, chain: number, bounds: CutBounds): Promise<void> {
    const { db, pauseMs = 10 } = this.#options;
    let decidedTo = 0;
    for (;;) {
      const step = await db.transaction((tx) => this.#removeBatchTx(tx, run, chain, { ...bounds, decidedTo }));
      run.removed += step.removed;
      decidedTo = step.decidedTo;
      if (step.blocked) run.block(step.blocked);
      if (step.removed > 0 && pauseMs > 0) await sleep(pauseMs);
      if (step.isEnd) return;
    }
  }

  async #removeBatchTx(tx: Transaction, run: Run, chain: number, bounds: CutBounds): Promise<Step> {
    const { clock, keys, rowsPerCommitMax: rowsMax = 200 } = this.#options;
    const before = await lockCutTx(tx, chain);
    const { events, count, isEnd, blocked } = await this.#readTx(tx, chain, before, bounds);
    const batch = events.slice(0, Math.min(count, rowsMax));
    const last = batch.at(-1);
    if (!last?.mac) return { removed: 0, decidedTo: 0, isEnd: true, blocked };
    const { position, mac, id: eventId } = last;
    const { eventsBefore, days } = run.request;
    const now = clock.now();
    const cut = { chain, position, mac, eventId, eventsBefore, days, cutAt: now };
    await cutChainTx(tx, before?.position ?? 0, { ...cut, seal: sealOf(keys.auditCut, cut) });
    await rememberDeletedTx(tx, deletedKeysOf(batch));
    await run.recordTx(tx, now);
    const decidedTo = events[count - 1]?.position ?? position;
    // The next batch finds again what ends the run.
    const isLast = isEnd && batch.length === count;
    return { removed: batch.length, decidedTo, isEnd: isLast, blocked: isLast ? blocked : undefined };
  }

  /** Reads events until it is known whether the first of them can be removed. */
  async #readTx(
    tx: Transaction,
    chain: number,
    before: Pick<PlacedEvent, 'position' | 'mac'> | undefined,
    bounds: CutBounds,
  ): Promise<Removable & { readonly events: readonly PlacedEvent[] }> {
    const { rowsPerCommitMax: rowsMax = 200 } = this.#options;
    const events: PlacedEvent[] = [];
    for (;;) {
      const page = await listChain(tx, chain, events.at(-1)?.position ?? before?.position ?? 0, rowsMax);
      events.push(...page);
      const found = findRemovable(events, before, bounds);
      const isEnd = found.isEnd || page.length < rowsMax;
      if (isEnd || found.count > 0 || events.length >= undecidedMax) return { ...found, isEnd, events };
    }
  }
}

/** What one commit did. */
interface Step extends Pick<Removable, 'isEnd' | 'blocked'> {
  readonly removed: number;
  /** See `CutBounds`. */
  readonly decidedTo: number;
}

/** The state of one call. */
class Run {
  readonly request: CutRequest;
  readonly #principal: Principal;
  removed = 0;
  blocked: Block | undefined;

  constructor(principal: Principal, request: CutRequest) {
    this.#principal = principal;
    this.request = request;
  }

  block(reason: Block): void {
    if (this.blocked !== 'integrity') this.blocked = reason;
  }

  /** With the first batch, so that nothing is removed without the event. */
  async recordTx(tx: Transaction, at: number): Promise<void> {
    if (this.removed > 0) return;
    const { eventsBefore, days } = this.request;
    const details = { before: toInstant(eventsBefore), days };
    await recordEventTx(tx, { at, principal: this.#principal, action: 'audit.cut', details });
  }
}

const deletedKeysOf = (events: readonly PlacedEvent[]): number[] =>
  events
    .filter(({ action }) => action === ('api_key.deleted' satisfies AuditAction))
    .map(({ target }) => Number(target))
    .filter((id) => Number.isSafeInteger(id) && id > 0);
