/**
 * Runs an import: reads lines, checks them and writes them in batches of one transaction each. A rejected line is
 * reported and does not affect the others. Existing accounts and keys stay as they are, so an import can be repeated.
 */
import { limits } from '@keyreeve/contract';
import type { Line } from '../../foundation/lines.ts';
import { importLinesOf } from './lines.ts';

/** The line is not imported. The message is the reason, as part of the sentence “Line 3: … .” */
export class LineRejectedError extends Error {}

export interface Numbered<Item> {
  readonly line: number;
  readonly item: Item;
}

/** A Map with more entries throws. */
const mapEntriesMax = 2 ** 24;

/**
 * Rejects a value that an earlier line of the file has. A Map of 1,000,000 email addresses holds 89 MiB and took 4.0 s,
 * one of as many hashes 104 MiB and 4.3 s; a hand-written table of 80-bit hashes held 32 MiB and took 8.9 s and 7.9 s
 * (medians of 3 alternating rounds, Node 26.10.0).
 */
export class SeenLines {
  readonly #field: string;
  readonly #lines = new Map<string, number>();

  constructor(field: string) {
    this.#field = field;
  }

  /** @throws LineRejectedError */
  add(value: string, line: number): void {
    const earlier = this.#lines.get(value);
    if (earlier !== undefined) throw new LineRejectedError(`line ${earlier} has the same ${this.#field}`);
    if (this.#lines.size === mapEntriesMax)
      throw new LineRejectedError(`the file has more than ${mapEntriesMax} lines; split it`);
    this.#lines.set(value, line);
  }
}

/** The result for one line. */
export type Outcome = 'imported' | 'existing' | LineRejectedError;

export interface Importer<Item> {
  /** @throws LineRejectedError */
  readonly read: (line: number, bytes: Uint8Array) => Item;
  /**
   * Writes all items with their audit events in one transaction. A dry run only determines the outcomes.
   * @returns outcomes in the order of the items
   */
  readonly write: (items: readonly Numbered<Item>[]) => Promise<readonly Outcome[]>;
}

export interface ImportCounts {
  readonly lines: number;
  readonly imported: number;
  readonly existing: number;
  readonly refused: number;
}

export interface RefusedLine {
  readonly line: number;
  readonly reason: string;
}

export interface Listener {
  /** Called in the order of the lines. */
  readonly refused: (line: RefusedLine) => Promise<void>;
  /** Called after each batch. */
  readonly progress: (counts: ImportCounts) => void;
}

export async function runImport<Item>(
  source: AsyncIterable<Uint8Array>,
  importer: Importer<Item>,
  listener: Listener,
): Promise<ImportCounts> {
  const counts = { lines: 0, imported: 0, existing: 0, refused: 0 };
  let batch: Numbered<Item>[] = [];
  let refused: RefusedLine[] = [];
  const finishBatch = async (): Promise<void> => {
    const outcomes = batch.length === 0 ? [] : await importer.write(batch);
    for (const [index, { line }] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof LineRejectedError) refused.push({ line, reason: outcome.message });
      else if (outcome !== undefined) counts[outcome]++;
    }
    counts.refused += refused.length;
    for (const each of refused.toSorted((one, other) => one.line - other.line)) await listener.refused(each);
    batch = [];
    refused = [];
    listener.progress(counts);
  };
  for await (const line of importLinesOf(source)) {
    counts.lines++;
    const item = readLine(line, importer);
    if (item instanceof LineRejectedError) refused.push({ line: line.number, reason: item.message });
    else batch.push({ line: line.number, item });
    if (batch.length + refused.length >= limits.importLinesPerCommitMax) await finishBatch();
  }
  await finishBatch();
  return counts;
}

function readLine<Item>({ number, bytes, isEnded }: Line, importer: Importer<Item>): Item | LineRejectedError {
  if (bytes === undefined) return new LineRejectedError(`it is longer than ${limits.importLineBytesMax} bytes`);
  try {
    return importer.read(number, bytes);
  } catch (error) {
    if (!(error instanceof LineRejectedError)) throw error;
    return isEnded || !endsEarly(bytes) ? error : new LineRejectedError('the file is cut off in this line');
  }
}

const closingBrace = 0x7d;
/** The beginning of an object is not valid JSON, so a line that is cut off never imports half an object. */
const endsEarly = (bytes: Uint8Array): boolean => bytes.findLast((byte) => byte > 0x20) !== closingBrace;
