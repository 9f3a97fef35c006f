/**
 * Whether the audit trail is as it was written: every chain is read from its start, page by page, and each event is held
 * against its MAC. What doesn't fit is told with its place.
 */
import type { AuditKey, Reader } from '../../foundation/database/db.ts';
import { checkpointOf, macOf, type Checkpoint } from './chain.ts';
import { countUnchained, listChain, listChains, listUnchained, type PlacedEvent } from './store.ts';

export const faults = ['edited', 'missing', 'reordered', 'cut', 'unchained', 'checkpoint'] as const;
export type Fault = (typeof faults)[number];

export interface Finding {
  readonly fault: Fault;
  /** Null where it is no single chain's. */
  readonly chain: number | null;
  readonly position: number | null;
  readonly eventId: number | null;
  readonly detail: string;
}

export interface Verified {
  /** In chains. */
  readonly events: number;
  readonly chains: number;
  /** From before there were chains: nothing shows whether they are as they were written. */
  readonly eventsBefore: number;
  readonly checkpointsHeld: number;
  /** The trail as it is now; null for one without a chained event. */
  readonly checkpoint: string | null;
  readonly findingsTotal: number;
  /** The first {@link findingsMax} of them. */
  readonly findings: readonly Finding[];
}

/** More would say nothing new: the trail is broken. */
export const findingsMax = 1_000;
const rowsPerPage = 1_000;

/** @param reader reads of one moment @param checkpoints states that the trail must still hold */
export async function verifyLog(
  reader: Reader,
  key: AuditKey,
  checkpoints: readonly Checkpoint[] = [],
): Promise<Verified> {
  const verification = new Verification(key, checkpoints);
  for (const { chain, events } of await listChains(reader)) await verification.readChain(reader, chain, events);
  const eventsBefore = await verification.readUnchained(reader);
  return verification.end(eventsBefore);
}

class Verification {
  readonly #key: AuditKey;
  readonly #awaited: readonly Awaited[];
  readonly #findings: Finding[] = [];
  readonly #heads: PlacedEvent[] = [];
  #findingsTotal = 0;
  #events = 0;
  #chains = 0;

  constructor(key: AuditKey, checkpoints: readonly Checkpoint[]) {
    this.#key = key;
    this.#awaited = checkpoints.map((checkpoint) => ({ checkpoint, heads: new Map<number, Uint8Array | null>() }));
  }

  /** @param counted how many events the chain's counter says it has; null without one */
  async readChain(reader: Reader, chain: number, counted: number | null): Promise<void> {
    const wanted = this.#wantedOf(chain);
    let before: PlacedEvent | undefined;
    let idMax = 0;
    for await (const row of rowsOf((after) => listChain(reader, chain, after, rowsPerPage), positionOf)) {
      this.#judge(row, before, idMax);
      for (const { heads } of wanted.get(row.position) ?? []) heads.set(chain, row.mac);
      idMax = Math.max(idMax, row.id);
      before = row;
      this.#events++;
    }
    if (before) {
      this.#chains++;
      this.#heads.push(before);
    }
    const last = before?.position ?? 0;
    if (counted === null || counted < last) {
      const detail = `the chain has ${last} events, and its counter says ${counted ?? 'nothing'}`;
      this.#find({ fault: 'edited', chain, position: last, eventId: before?.id ?? null, detail });
    } else if (counted > last) {
      const detail = `the chain ends at position ${last}, and its counter says ${counted}`;
      this.#find({ fault: 'cut', chain, position: last + 1, eventId: null, detail });
    }
  }

  /** @returns how many events are from before there were chains */
  async readUnchained(reader: Reader): Promise<number> {
    const { before, firstId } = await countUnchained(reader);
    const page = (after: number) => listUnchained(reader, firstId, after, rowsPerPage);
    for await (const { id, chain, position } of rowsOf(page, (row) => row.id, Number.MIN_SAFE_INTEGER)) {
      const detail = chain === null ? 'it is newer than the first chained event' : 'it has no place in its chain';
      this.#find({ fault: 'unchained', chain, position, eventId: id, detail });
    }
    return before;
  }

  end(eventsBefore: number): Verified {
    for (const awaited of this.#awaited) this.#judgeCheckpoint(awaited);
    return {
      events: this.#events,
      chains: this.#chains,
      eventsBefore,
      checkpointsHeld: this.#awaited.length,
      checkpoint: this.#heads.length === 0 ? null : checkpointOf(this.#key, this.#heads).text,
      findingsTotal: this.#findingsTotal,
      findings: this.#findings,
    };
  }

  #judge(row: PlacedEvent, before: PlacedEvent | undefined, idMax: number): void {
    const { chain, position, id: eventId } = row;
    const expected = (before?.position ?? 0) + 1;
    // Ids are allotted under the chain's lock, so they rise with the positions.
    if (eventId <= idMax) {
      const detail = `its id is below that of an event before it, ${idMax}`;
      this.#find({ fault: 'reordered', chain, position, eventId, detail });
    } else if (position > expected) {
      const missing =
        position === expected + 1 ? `position ${expected} is` : `positions ${expected} to ${position - 1} are`;
      this.#find({
        fault: 'missing',
        chain,
        position: expected,
        eventId,
        detail: `${missing} missing before this event`,
      });
    } else if (!isEqual(row.mac, macOf(this.#key, row, before?.mac))) {
      const detail = 'it, or its place, or the event before it is not what was written';
      this.#find({ fault: 'edited', chain, position, eventId, detail });
    }
  }

  /** By position: which checkpoints the chain's event there is part of. */
  #wantedOf(chain: number): Map<number, Awaited[]> {
    return Map.groupBy(this.#awaited, ({ checkpoint }) => checkpoint.positions[chain] ?? 0);
  }

  #judgeCheckpoint({ checkpoint, heads }: Awaited): void {
    const { positions, text } = checkpoint;
    const lost = positions.findIndex((position, chain) => position > 0 && !heads.has(chain));
    if (lost >= 0) {
      const position = positions[lost] ?? null;
      const detail = `the checkpoint ${text} has this event, and the trail doesn’t`;
      this.#find({ fault: 'cut', chain: lost, position, eventId: null, detail });
      return;
    }
    const found = positions.flatMap((position, chain) =>
      position > 0 ? [{ chain, position, mac: heads.get(chain) ?? null }] : [],
    );
    if (checkpointOf(this.#key, found).text === text) return;
    const detail = `the trail reaches as far as the checkpoint ${text}, and what it holds there is not the same`;
    this.#find({ fault: 'checkpoint', chain: null, position: null, eventId: null, detail });
  }

  #find(finding: Finding): void {
    this.#findingsTotal++;
    if (this.#findings.length < findingsMax) this.#findings.push(finding);
  }
}

/** A checkpoint with what the trail has at its positions. */
interface Awaited {
  readonly checkpoint: Checkpoint;
  readonly heads: Map<number, Uint8Array | null>;
}

const positionOf = ({ position }: PlacedEvent): number => position;
const isEqual = (one: Uint8Array | null, other: Uint8Array): boolean =>
  one !== null && Buffer.compare(one, other) === 0;

/** The rows of all pages, in order. */
async function* rowsOf<Row>(
  page: (after: number) => Promise<Row[]>,
  keyOf: (row: Row) => number,
  start = 0,
): AsyncGenerator<Row> {
  for (let after = start; ;) {
    const rows = await page(after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsPerPage) return;
    after = keyOf(last);
  }
}
