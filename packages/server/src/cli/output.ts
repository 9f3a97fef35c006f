/** Output of commands: text, or one JSON value with `--json`. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isClosedPipe, OutputClosedError } from './closed-pipe.ts';

export { build, version, versionAndBuild } from '../app/version.ts';
export { plural } from '../foundation/plural.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

/** Parser of a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Prints `value` with `--json`, otherwise `text`: as it is, or as lines, in which line ends are replaced. */
export function print({ json = false }: OutputOptions, value: unknown, text: string | readonly string[]): void {
  const lines = typeof text === 'string' ? withoutControls(text) : text.map(visible).join('\n');
  process.stdout.write(json ? jsonLine(value) : `${lines}\n`);
}

/** JSON leaves the control characters above U+007E as they are, which terminals can execute. */
export const jsonLine = (value: unknown): string => `${jsonText(value)}\n`;

const jsonText = (value: unknown): string =>
  JSON.stringify(value).replaceAll(/[\x7F-\x9F]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Columns as wide as their widest cell. For a few rows: see {@link printList}. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = widen([], all);
  return all.map((row) => lineOf(row, widths)).join('\n');
}

/** A list of any number of rows. */
export interface List<Row> {
  readonly head: readonly string[];
  readonly cells: (row: Row) => readonly string[];
  readonly json: (row: Row) => unknown;
  /** The last line, from the number of rows. */
  readonly end: (count: number) => string;
  /** Longer lines are cut. Default: none are. */
  readonly lineCharsMax?: number;
}

/** Rows that are in memory together, and whose cells decide the widths of the columns. Later columns are never narrower. */
const rowsPerPart = 500;

/** Prints rows as they arrive: a table, or one array with `--json`. @throws as {@link writeParts} */
export async function printList<Row>(
  { json = false }: OutputOptions,
  rows: AsyncIterable<Row> | Iterable<Row>,
  list: List<Row>,
): Promise<void> {
  await writeParts(json ? jsonParts(rows, list) : textParts(rows, list));
}

/**
 * Writes texts to standard output, and waits while the reader does not take them.
 * @throws OutputClosedError if the reader has closed the pipe, and the errors of `parts`
 */
export async function writeParts(parts: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(parts, { highWaterMark: 1 }), process.stdout, { end: false });
  } catch (error) {
    throw isClosedPipe(error) ? new OutputClosedError() : error;
  }
}

export async function* textParts<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { head, cells, end, lineCharsMax = Infinity }: List<Row>,
): AsyncGenerator<string> {
  let widths = widen([], [head]);
  let count = 0;
  for await (const part of partsOf(rows)) {
    const shown = part.map(cells);
    widths = widen(widths, shown);
    const lines = count === 0 ? [head, ...shown] : shown;
    yield lines.map((line) => `${shorten(lineOf(line, widths), lineCharsMax)}\n`).join('');
    count += part.length;
  }
  if (count === 0) yield `${shorten(lineOf(head, widths), lineCharsMax)}\n`;
  yield `${end(count)}\n`;
}

export async function* jsonParts<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { json }: List<Row>,
): AsyncGenerator<string> {
  let separator = '[';
  for await (const part of partsOf(rows)) {
    yield `${separator}${part.map((row) => jsonText(json(row))).join(',')}`;
    separator = ',';
  }
  yield separator === '[' ? '[]\n' : ']\n';
}

async function* partsOf<Row>(rows: AsyncIterable<Row> | Iterable<Row>): AsyncGenerator<readonly Row[]> {
  let part: Row[] = [];
  for await (const row of rows) {
    if (part.push(row) < rowsPerPart) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** @returns widths of columns that fit the rows, and are not below `widths` */
function widen(widths: readonly number[], rows: readonly (readonly string[])[]): number[] {
  const wider = [...widths];
  for (const row of rows)
    for (const [column, cell] of row.entries()) wider[column] = Math.max(wider[column] ?? 0, visible(cell).length);
  return wider;
}

const lineOf = (row: readonly string[], widths: readonly number[]): string =>
  row
    .map((cell, column) => visible(cell).padEnd(widths[column] ?? 0))
    .join('  ')
    .trimEnd();

/** Text from the database, or from a remote service, can contain control sequences of terminals. */
export const visible = (text = ''): string => text.replaceAll(/\p{Cc}/gu, '�');

/** The same for a text of several lines, which can have tabs. */
export const withoutControls = (text: string): string => text.replaceAll(/(?![\n\t])\p{Cc}/gu, '�');

/** Cuts a text that is longer than `charsMax` characters. */
export function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const chars = [...text];
  return chars.length <= charsMax ? text : `${chars.slice(0, charsMax - 1).join('')}…`;
}
