/**
 * Verifies the integrity of the audit log: reads every chain from its start, page by page, and verifies the MAC of each
 * event. Findings name the place.
 */
import type { AuditKey, Reader } from '../../foundation/database/db.ts';
import { checkpointOf, macOf, type Checkpoint } from './chain.ts';
import { countUnchained, listChain, listChains, listUnchained, type PlacedEvent } from './store.ts';

export const faults = ['edited', 'missing', 'reordered', 'cut', 'unchained', 'checkpoint'] as const;
export type Fault = (typeof faults)[number];

export interface Finding {
  readonly fault: Fault;
  /** Null when the finding concerns no single chain. */
  readonly chain: number | null;
  readonly position: number | null;
  readonly eventId: number | null;
  readonly detail: string;
}

export interface Verified {
  /** Events in chains. */
  readonly events: number;
  readonly chains: number;
  /** Events from before chains, whose integrity cannot be verified. */
  readonly eventsBefore: number;
  readonly checkpointsHeld: number;
  /** A checkpoint of the current audit log; null without a chained event. */
  readonly checkpoint: string | null;
  readonly findingsTotal: number;
  /** The first {@link findingsMax} of them. */
  readonly findings: readonly Finding[];
}

/** Bounds the report. */
export const findingsMax = 1_000;
const rowsPerPage = 1_000;

/** @param reader a snapshot @param checkpoints earlier states, which the audit log must still contain */
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
  readonly #expected: readonly ExpectedCheckpoint[];
  readonly #findings: Finding[] = [];
  readonly #heads: PlacedEvent[] = [];
  #findingsTotal = 0;
  #events = 0;
  #chains = 0;

  constructor(key: AuditKey, checkpoints: readonly Checkpoint[]) {
    this.#key = key;
    this.#expected = checkpoints.map((checkpoint) => ({ checkpoint, heads: new Map<number, Uint8Array | null>() }));
  }

  /** @param counted the counter of the chain; null without one */
  async readChain(reader: Reader, chain: number, counted: number | null): Promise<void> {
    const checkpoints = this.#checkpointsOf(chain);
    let before: PlacedEvent | undefined;
    let idMax = 0;
    for await (const row of rowsOf((after) => listChain(reader, chain, after, rowsPerPage), positionOf)) {
      this.#verifyEvent(row, before, idMax);
      for (const { heads } of checkpoints.get(row.position) ?? []) heads.set(chain, row.mac);
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
      const detail = `the chain has ${last} events, and its counter is ${counted ?? 'missing'}`;
      this.#find({ fault: 'edited', chain, position: last, eventId: before?.id ?? null, detail });
    } else if (counted > last) {
      const detail = `the chain ends at position ${last}, and its counter is ${counted}`;
      this.#find({ fault: 'cut', chain, position: last + 1, eventId: null, detail });
    }
  }

  /** @returns the number of events from before chains */
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
    for (const awaited of this.#expected) this.#verifyCheckpoint(awaited);
    return {
      events: this.#events,
      chains: this.#chains,
      eventsBefore,
      checkpointsHeld: this.#expected.length,
      checkpoint: this.#heads.length === 0 ? null : checkpointOf(this.#key, this.#heads).text,
      findingsTotal: this.#findingsTotal,
      findings: this.#findings,
    };
  }

  #verifyEvent(row: PlacedEvent, before: PlacedEvent | undefined, idMax: number): void {
    const { chain, position, id: eventId } = row;
    const expected = (before?.position ?? 0) + 1;
    // Ids are assigned under the chain's lock, so they rise with the positions.
    if (eventId <= idMax) {
      const detail = `its id is below that of an earlier event, ${idMax}`;
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
      const detail = 'the event, its place or the previous event was changed';
      this.#find({ fault: 'edited', chain, position, eventId, detail });
    }
  }

  /** @returns by position: the checkpoints that cover the chain up to there */
  #checkpointsOf(chain: number): Map<number, ExpectedCheckpoint[]> {
    return Map.groupBy(this.#expected, ({ checkpoint }) => checkpoint.positions[chain] ?? 0);
  }

  #verifyCheckpoint({ checkpoint, heads }: ExpectedCheckpoint): void {
    const { positions, text } = checkpoint;
    const lost = positions.findIndex((position, chain) => position > 0 && !heads.has(chain));
    if (lost >= 0) {
      const position = positions[lost] ?? null;
      const detail = `the checkpoint ${text} covers this event, which is missing`;
      this.#find({ fault: 'cut', chain: lost, position, eventId: null, detail });
      return;
    }
    const found = positions.flatMap((position, chain) =>
      position > 0 ? [{ chain, position, mac: heads.get(chain) ?? null }] : [],
    );
    if (checkpointOf(this.#key, found).text === text) return;
    const detail = `the audit log contains the positions of the checkpoint ${text}, with other events`;
    this.#find({ fault: 'checkpoint', chain: null, position: null, eventId: null, detail });
  }

  #find(finding: Finding): void {
    this.#findingsTotal++;
    if (this.#findings.length < findingsMax) this.#findings.push(finding);
  }
}

/** A checkpoint, and the MACs in the audit log at its positions. */
interface ExpectedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly heads: Map<number, Uint8Array | null>;
}

const positionOf = ({ position }: PlacedEvent): number => position;
const isEqual = (one: Uint8Array | null, other: Uint8Array): boolean =>
  one !== null && Buffer.compare(one, other) === 0;

/** Yields the rows of all pages in order. */
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
