/** What `keyreeve import` prints: rejected lines, the result, and the progress on a terminal. */
import { systemClock } from '../foundation/clock.ts';
import type { ImportCounts, ImportResult, RefusedLine, Warning } from '../modules/import/run-import.ts';
import { plural } from './output.ts';

const progressMs = 500;

/** Waits until the reader takes the text: a report can have as many lines as the file. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(text, () => resolve()));

export class TextReport {
  readonly #isDryRun: boolean;
  readonly #noun: string;

  constructor(isDryRun: boolean, noun: string) {
    this.#isDryRun = isDryRun;
    this.#noun = noun;
  }

  refused({ line, record, reason }: RefusedLine): string {
    return `Line ${line}${record === undefined ? '' : `, record ${record}`}: ${reason}.\n`;
  }

  end({ imported, updated, existing, refused, traits, warnings }: ImportResult): string {
    const [start, end] = this.#isDryRun ? ['Would import', ' Nothing was written.'] : ['Imported', ''];
    const updates = updated === 0 ? '' : `${this.#isDryRun ? 'would update' : 'updated'} ${updated}; `;
    const rest = `${updates}${existing} existed already; ${plural(refused, 'line')} refused`;
    const list = Object.entries(traits).map(([trait, count]) => `${count} ${trait}`);
    const details = this.#isDryRun && list.length > 0 ? `Of these: ${list.join(', ')}.\n` : '';
    return `${warnings.map(textOf).join('')}${start} ${plural(imported, this.#noun)}; ${rest}.${end}\n${details}`;
  }
}

const textOf = ({ reason, lines, firstLine }: Warning): string =>
  lines === 1
    ? `Warning, line ${firstLine}: ${reason}.\n`
    : `Warning, ${lines} lines, the first is line ${firstLine}: ${reason}.\n`;

/** One JSON object, written while the import runs. */
export class JsonReport {
  readonly #isDryRun: boolean;
  #separator = '{"refusedLines":[';

  constructor(isDryRun: boolean) {
    this.#isDryRun = isDryRun;
  }

  refused(line: RefusedLine): string {
    const text = `${this.#separator}${JSON.stringify(line)}`;
    this.#separator = ',';
    return text;
  }

  end(result: ImportResult): string {
    const start = this.#separator === ',' ? '' : this.#separator;
    return `${start}],${JSON.stringify({ dryRun: this.#isDryRun, ...result }).slice(1)}\n`;
  }
}

/** A line on the terminal that is overwritten. Prints nothing if standard error is not a terminal. */
export class Progress {
  readonly #readShare: () => number | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** @param readShare returns how much of the file has been read, from 0 to 1; undefined if its size is unknown */
  constructor(readShare: () => number | undefined) {
    this.#readShare = readShare;
  }

  show({ lines, refused }: ImportCounts): void {
    const now = systemClock.now();
    if (!process.stderr.isTTY || now - this.#shownAt < progressMs) return;
    this.#shownAt = now;
    const share = this.#readShare();
    const part = share === undefined ? '' : ` (${Math.floor(share * 100)} %)`;
    process.stderr.write(`\r\u001B[K${lines} lines${part}, ${refused} refused`);
  }

  clear(): void {
    if (process.stderr.isTTY && this.#shownAt > 0) process.stderr.write('\r\u001B[K');
  }
}
