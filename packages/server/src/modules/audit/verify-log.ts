/**
 * Verifies the integrity of the audit log: reads every chain from its start or its cut, page by page, and verifies the MAC
 * of each event. Findings name the place.
 */
import type { Reader } from '../../foundation/database/db.ts';
import { checkpointOf, macOf, type Checkpoint } from './chain.ts';
import { cutTimeOf, listCuts } from './cut-store.ts';
import type { StoredCut } from './cuts.ts';
import { listKeyChanges } from './key-change-store.ts';
import { ChainKeys, type ChainKeysOf } from './key-changes.ts';
import { cutMistakes } from './verify-cut.ts';
import { listChain, listChains, listUnchained, type PlacedEvent } from './store.ts';

export const faults = ['edited', 'missing', 'reordered', 'cut', 'unchained', 'checkpoint', 'retention'] as const;
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
  /** Events that the retention has removed. */
  readonly eventsRemoved: number;
  /** Removed events are from before this time, in milliseconds; null if none was removed. */
  readonly removedBefore: number | null;
  readonly checkpointsHeld: number;
  /** Checkpoints that cannot be verified any more, because the retention has removed events that they cover. */
  readonly checkpointsCutAway: number;
  /** A checkpoint of the current audit log; null without a chained event. */
  readonly checkpoint: string | null;
  readonly findingsTotal: number;
  /** The first {@link findingsMax} of them. */
  readonly findings: readonly Finding[];
}

/** Bounds the report. */
export const findingsMax = 1_000;
const rowsPerPage = 1_000;

export type LogKeys = ChainKeysOf;

export interface VerifyOptions {
  /** Earlier states, which the audit log must still contain, except for what the retention has removed. */
  readonly checkpoints?: readonly Checkpoint[];
  /** The current time, in milliseconds. */
  readonly now: number;
  /** For how many days events are kept; undefined: for ever. */
  readonly keptDays?: number | undefined;
}

/** @param reader a snapshot */
export async function verifyLog(reader: Reader, keys: LogKeys, options: VerifyOptions): Promise<Verified> {
  const verification = new Verification(
    keys,
    new ChainKeys(keys, await listKeyChanges(reader)),
    options,
    await listCuts(reader),
  );
  const chains = await listChains(reader);
  for (const { chain, events } of chains) await verification.readChain(reader, chain, events);
  verification.findLostChains(new Set(chains.map(({ chain }) => chain)));
  await verification.findUnchained(reader);
  return verification.end();
}

class Verification {
  readonly #keys: LogKeys;
  readonly #chainKeys: ChainKeys;
  readonly #options: VerifyOptions;
  /** By chain. Only genuine ones. */
  readonly #cuts = new Map<number, StoredCut>();
  readonly #expected: readonly ExpectedCheckpoint[];
  readonly #findings: Finding[] = [];
  readonly #heads: PlacedEvent[] = [];
  #findingsTotal = 0;
  #events = 0;
  #chains = 0;

  constructor(keys: LogKeys, chainKeys: ChainKeys, options: VerifyOptions, cuts: readonly StoredCut[]) {
    this.#keys = keys;
    this.#chainKeys = chainKeys;
    this.#options = options;
    this.#expected = (options.checkpoints ?? []).map((checkpoint) => ({ checkpoint, heads: new Map() }));
    for (const cut of cuts) this.#readCut(cut);
    for (const { chain, position, version } of chainKeys.forged) {
      const detail = `the record of the change to version ${version} of the root key was edited`;
      this.#find({ fault: 'edited', chain, position, eventId: null, detail });
    }
    for (const { chain, version } of chainKeys.missing) {
      const detail = `the record of the change to version ${version} of the root key is missing`;
      this.#find({ fault: 'edited', chain, position: null, eventId: null, detail });
    }
  }

  /** @param counted the counter of the chain; null without one */
  async readChain(reader: Reader, chain: number, counted: number | null): Promise<void> {
    const checkpoints = this.#checkpointsOf(chain);
    const cut = this.#cuts.get(chain);
    for (const { heads } of (cut && checkpoints.get(cut.position)) ?? []) heads.set(chain, cut?.mac ?? null);
    let before: PlacedEvent | undefined;
    let idMax = cut?.eventId ?? 0;
    for await (const row of rowsOf((after) => listChain(reader, chain, after, rowsPerPage), positionOf)) {
      if (cut && row.position <= cut.position) {
        this.#findRemoved(row, cut);
        continue;
      }
      this.#verifyEvent(row, before ?? cut, idMax);
      for (const { heads } of checkpoints.get(row.position) ?? []) heads.set(chain, row.mac);
      idMax = Math.max(idMax, row.id);
      before = row;
      this.#events++;
    }
    if (before) {
      this.#chains++;
      this.#heads.push(before);
    }
    // Also with a cut, which keeps the last event of a chain.
    const last = before?.position ?? 0;
    this.#verifyReach(chain, last);
    if (counted === null || counted < last) {
      const detail = `the chain has ${last} events, and its counter is ${counted ?? 'missing'}`;
      this.#find({ fault: 'edited', chain, position: last, eventId: before?.id ?? null, detail });
    } else if (counted > last) {
      const detail = `the chain ends at position ${last}, and its counter is ${counted}`;
      this.#find({ fault: 'cut', chain, position: last + 1, eventId: null, detail });
    }
  }

  /** Chains of which only the records of a rotation of the root key exist. @param read the others */
  findLostChains(read: ReadonlySet<number>): void {
    for (const chain of this.#chainKeys.chains) if (!read.has(chain)) this.#verifyReach(chain, 0);
  }

  async findUnchained(reader: Reader): Promise<void> {
    const page = (after: number) => listUnchained(reader, after, rowsPerPage);
    for await (const { id, chain, position } of rowsOf(page, (row) => row.id, Number.MIN_SAFE_INTEGER)) {
      const detail = chain === null ? 'it is in no chain' : 'it has no place in its chain';
      this.#find({ fault: 'unchained', chain, position, eventId: id, detail });
    }
  }

  end(): Verified {
    const cuts = [...this.#cuts.values()];
    const cutAway = this.#expected.filter(({ checkpoint }) => this.#isCutAway(checkpoint));
    for (const awaited of this.#expected) this.#verifyCheckpoint(awaited);
    return {
      events: this.#events,
      chains: this.#chains,
      eventsRemoved: cuts.reduce((sum, { position }) => sum + position, 0),
      removedBefore: cuts.length === 0 ? null : cutTimeOf(cuts),
      checkpointsHeld: this.#expected.length - cutAway.length,
      checkpointsCutAway: cutAway.length,
      checkpoint: this.#heads.length === 0 ? null : checkpointOf(this.#keys.auditChain, this.#heads).text,
      findingsTotal: this.#findingsTotal,
      findings: this.#findings,
    };
  }

  /** A cut with a mistake in its MAC is ignored, so the events before it count as missing. */
  #readCut(cut: StoredCut): void {
    const { chain, position, eventId } = cut;
    const { detail, isGenuine } = cutMistakes(this.#keys.auditCut, cut, this.#options);
    if (detail !== undefined) this.#find({ fault: 'retention', chain, position, eventId, detail });
    if (isGenuine) this.#cuts.set(chain, cut);
  }

  #findRemoved({ chain, position, id: eventId }: PlacedEvent, cut: StoredCut): void {
    const detail = `the retention has removed the events up to position ${cut.position}`;
    this.#find({ fault: 'edited', chain, position, eventId, detail });
  }

  #verifyEvent(row: PlacedEvent, before: Predecessor | undefined, idMax: number): void {
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
    } else if (!isEqual(row.mac, macOf(this.#chainKeys.keyAt(chain, position), row, before?.mac))) {
      const detail = 'the event, its place or the previous event was changed';
      this.#find({ fault: 'edited', chain, position, eventId, detail });
    } else if (
      this.#chainKeys.of(chain).some((change) => change.position === position && !isSame(change.mac, row.mac))
    ) {
      const detail = 'it is not the event that preceded the rotation of the root key';
      this.#find({ fault: 'edited', chain, position, eventId, detail });
    }
  }

  /** A truncated chain is found only by a checkpoint, except before a change of the key, whose record has the position. */
  #verifyReach(chain: number, last: number): void {
    const reach = Math.max(0, ...this.#chainKeys.of(chain).map(({ position }) => position));
    if (last >= reach || (this.#cuts.get(chain)?.position ?? 0) >= reach) return;
    const detail = `the chain had ${reach} events when the root key changed`;
    this.#find({ fault: 'cut', chain, position: last + 1, eventId: null, detail });
  }

  /** @returns by position: the checkpoints that cover the chain up to there */
  #checkpointsOf(chain: number): Map<number, ExpectedCheckpoint[]> {
    return Map.groupBy(this.#expected, ({ checkpoint }) => checkpoint.positions[chain] ?? 0);
  }

  #isCutAway({ positions }: Checkpoint): boolean {
    return positions.some((position, chain) => this.#isRemoved(chain, position));
  }

  /** Whether the MAC at the position is unknown: the cut has that of the last removed event. */
  #isRemoved(chain: number, position: number): boolean {
    return position > 0 && position < (this.#cuts.get(chain)?.position ?? 0);
  }

  #verifyCheckpoint({ checkpoint, heads }: ExpectedCheckpoint): void {
    const { positions, text } = checkpoint;
    const lost = positions.findIndex(
      (position, chain) => position > 0 && !heads.has(chain) && !this.#isRemoved(chain, position),
    );
    if (lost >= 0) {
      const position = positions[lost] ?? null;
      const detail = `the checkpoint ${text} covers this event, which is missing`;
      this.#find({ fault: 'cut', chain: lost, position, eventId: null, detail });
      return;
    }
    if (this.#isCutAway(checkpoint)) return;
    const found = positions.flatMap((position, chain) =>
      position > 0 ? [{ chain, position, mac: heads.get(chain) ?? null }] : [],
    );
    // The rotation of the root key is an event of the chain 0, so a checkpoint from before it has a lower position there.
    if (checkpointOf(this.#chainKeys.keyAt(0, positions[0] ?? 0), found).text === text) return;
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

/** The previous event, or the cut before the first one. */
type Predecessor = Pick<PlacedEvent, 'position' | 'mac'>;

const positionOf = ({ position }: PlacedEvent): number => position;
const isSame = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null ? other === null : other !== null && isEqual(one, other);
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
