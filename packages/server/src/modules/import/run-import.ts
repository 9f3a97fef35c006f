/**
 * An import: lines are read, judged, and written in batches, each whole or not at all. A line that can't be taken is
 * reported and leaves the others alone. What was imported before is left as it is, so an import can be run again.
 */
import { limits } from '@keyreeve/contract';
import type { Line } from '../../foundation/lines.ts';
import { importLinesOf } from './lines.ts';

/** Nothing of the line is kept; the message says why. */
export class LineRefused extends Error {}

export interface Numbered<Item> {
  readonly line: number;
  readonly item: Item;
}

/** What became of a line. */
export type Outcome = 'imported' | 'existing' | LineRefused;

/** What is imported, and where to. */
export interface Importer<Item> {
  /** @throws LineRefused */
  readonly read: (line: number, bytes: Uint8Array) => Item;
  /** All of them in one commit, with their audit rows; in a dry run nothing but the outcomes. In order. */
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
  /** In the order of the lines. */
  readonly refused: (line: RefusedLine) => Promise<void>;
  /** After each batch. */
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
      if (outcome instanceof LineRefused) refused.push({ line, reason: outcome.message });
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
    if (item instanceof LineRefused) refused.push({ line: line.number, reason: item.message });
    else batch.push({ line: line.number, item });
    if (batch.length + refused.length >= limits.importLinesPerCommitMax) await finishBatch();
  }
  await finishBatch();
  return counts;
}

function readLine<Item>({ number, bytes, isEnded }: Line, importer: Importer<Item>): Item | LineRefused {
  if (bytes === undefined) return new LineRefused(`it is longer than ${limits.importLineBytesMax} bytes`);
  try {
    return importer.read(number, bytes);
  } catch (error) {
    if (!(error instanceof LineRefused)) throw error;
    return isEnded || !endsEarly(bytes) ? error : new LineRefused('the file is cut off here: this line has no end');
  }
}

const closingBrace = 0x7d;
/** A part of an object is never an object. */
const endsEarly = (bytes: Uint8Array): boolean => bytes.findLast((byte) => byte > 0x20) !== closingBrace;
