/** Output of commands: text, or one JSON value with `--json`. */
export { version } from '../app/version.ts';
export { plural } from '../foundation/plural.ts';

export interface OutputOptions {
  readonly json?: boolean;
}

/** Parser of a repeatable option. */
export const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Prints `value` with `--json`, otherwise `text`. */
export function print({ json = false }: OutputOptions, value: unknown, text: string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : `${text}\n`);
}

/** Columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => visible(row[column]).length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => visible(cell).padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Text from the database can contain control sequences of terminals. */
const visible = (text = ''): string => text.replaceAll(/\p{Cc}/gu, '�');

/** Cuts a text that is longer than `charsMax` characters. */
export function shorten(text: string, charsMax: number): string {
  const chars = [...text];
  return chars.length <= charsMax ? text : `${chars.slice(0, charsMax - 1).join('')}…`;
}
