/**
 * Runs an import: reads records, checks them and writes them in batches of one transaction each. A rejected line is
 * reported and does not affect the others. An import can be repeated: accounts and keys that exist stay as they are, unless
 * the importer updates them.
 */
import { limits } from '@keyreeve/contract';
import { LineRejectedError, FileDamagedError, type FileObject, type FileRecord } from './file-record.ts';
import type { Warn } from './fields.ts';
import { jsonLines, type Records } from './records.ts';

export { LineRejectedError } from './file-record.ts';

export interface Numbered<Item> {
  readonly line: number;
  /** As of {@link RefusedLine}. */
  readonly record?: number | undefined;
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

/** The result for one record. `changed`: it exists, the file has changed since its import, and it is not updated. */
export type Outcome = 'imported' | 'updated' | 'existing' | 'changed' | LineRejectedError;

export interface Importer<Item> {
  /** @throws LineRejectedError */
  readonly read: (line: number, object: FileObject, warn: Warn) => Item;
  /**
   * Writes all items with their audit events in one transaction. A dry run only determines the outcomes.
   * @param warn about the item with this index
   * @returns outcomes in the order of the items
   */
  readonly write: (
    items: readonly Numbered<Item>[],
    warn: (index: number, reason: string) => void,
  ) => Promise<readonly Outcome[]>;
  /** What a summary states about an imported item, for example the algorithm of its password hash. */
  readonly traitsOf: (item: Item) => readonly string[];
  /** Sentences for the operator, after the last line. */
  readonly notes?: () => Promise<readonly string[]>;
}

export interface ImportCounts {
  /** Records of the file. */
  readonly lines: number;
  readonly imported: number;
  readonly updated: number;
  /** Existed already and stay as they are. */
  readonly existing: number;
  /** Those of `existing` for which the file has changed since their import. */
  readonly changed: number;
  readonly refused: number;
}

/** Something unusual in records that are imported nevertheless. */
export interface Warning {
  readonly reason: string;
  /** The number of records. */
  readonly lines: number;
  /** The line of the first one. */
  readonly firstLine: number;
}

export interface ImportResult extends ImportCounts {
  /** How many imported records have each trait. */
  readonly traits: Readonly<Record<string, number>>;
  readonly warnings: readonly Warning[];
}

export interface RefusedLine {
  readonly line: number;
  /** The number of the record in the file, from 1, if an earlier record begins in the same line. */
  readonly record?: number;
  readonly reason: string;
}

export interface Listener {
  /** Called in the order of the lines. */
  readonly refused: (line: RefusedLine) => Promise<void>;
  /** Called after each batch. */
  readonly progress: (counts: ImportCounts) => void;
}

/** @param records reads the file; default: JSON Lines */
export async function runImport<Item>(
  source: AsyncIterable<Uint8Array>,
  importer: Importer<Item>,
  listener: Listener,
  records: Records = jsonLines,
): Promise<ImportResult> {
  const run = new ImportRun(importer, listener);
  for await (const record of untilDamage(records(source, (line, reason) => run.warn(line, reason)))) {
    run.take(record);
    if (run.isFull) await run.finishBatch();
  }
  await run.finishBatch();
  return run.result;
}

class ImportRun<Item> {
  readonly #importer: Importer<Item>;
  readonly #listener: Listener;
  readonly #counts = { lines: 0, imported: 0, updated: 0, existing: 0, changed: 0, refused: 0 };
  readonly #warnings = new Map<string, { lines: number; readonly firstLine: number }>();
  readonly #traits = new Map<string, number>();
  #lastLine = 0;
  #batch: Numbered<Item>[] = [];
  #refused: RefusedLine[] = [];

  constructor(importer: Importer<Item>, listener: Listener) {
    this.#importer = importer;
    this.#listener = listener;
  }

  get isFull(): boolean {
    return this.#batch.length + this.#refused.length >= limits.importLinesPerCommitMax;
  }

  get result(): ImportResult {
    const warnings = [...this.#warnings].map(([reason, { lines, firstLine }]) => ({ reason, lines, firstLine }));
    const traits = Object.fromEntries(this.#traits);
    return { ...this.#counts, traits, warnings: warnings.toSorted((one, other) => one.firstLine - other.firstLine) };
  }

  warn(line: number, reason: string): void {
    const known = this.#warnings.get(reason);
    if (known) known.lines++;
    else this.#warnings.set(reason, { lines: 1, firstLine: line });
  }

  take({ line, object }: FileRecord): void {
    this.#counts.lines++;
    const record = line === this.#lastLine ? this.#counts.lines : undefined;
    this.#lastLine = line;
    const warnings: string[] = [];
    try {
      if (object instanceof LineRejectedError) throw object;
      const item = this.#importer.read(line, object, (reason) => warnings.push(reason));
      this.#batch.push({ line, record, item });
      for (const reason of warnings) this.warn(line, reason);
    } catch (error) {
      if (!(error instanceof LineRejectedError)) throw error;
      this.#refuse({ line, record }, error.message);
    }
  }

  #refuse({ line, record }: Pick<Numbered<Item>, 'line' | 'record'>, reason: string): void {
    this.#refused.push(record === undefined ? { line, reason } : { line, record, reason });
  }

  async finishBatch(): Promise<void> {
    const batch = this.#batch;
    const warn = (index: number, reason: string): void => this.warn(batch[index]?.line ?? 0, reason);
    const outcomes = batch.length === 0 ? [] : await this.#importer.write(batch, warn);
    for (const [index, { line, record, item }] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof LineRejectedError) this.#refuse({ line, record }, outcome.message);
      else if (outcome !== undefined) this.#counts[outcome]++;
      if (outcome === 'changed') this.#counts.existing++;
      const traits = outcome === 'imported' ? this.#importer.traitsOf(item) : [];
      for (const trait of traits) this.#traits.set(trait, (this.#traits.get(trait) ?? 0) + 1);
    }
    this.#counts.refused += this.#refused.length;
    for (const each of this.#refused.toSorted(byPlace)) await this.#listener.refused(each);
    this.#batch = [];
    this.#refused = [];
    this.#listener.progress(this.#counts);
  }
}

const byPlace = (one: RefusedLine, other: RefusedLine): number =>
  one.line - other.line || (one.record ?? 0) - (other.record ?? 0);

/** A file that is damaged ends with a rejected record. */
async function* untilDamage(records: AsyncIterable<FileRecord>): AsyncGenerator<FileRecord> {
  let line = 0;
  try {
    for await (const record of records) {
      ({ line } = record);
      yield record;
    }
  } catch (error) {
    if (!(error instanceof FileDamagedError)) throw error;
    yield { line: line + 1, object: new LineRejectedError(error.message) };
  }
}
