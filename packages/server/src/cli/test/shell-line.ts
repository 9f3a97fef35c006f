/**
 * The lines of transcripts that need no process of the program: one run of `keyreeve`, with assignments, redirections and pipes
 * to other programs. The shell runs all other lines.
 */

export interface KeyreeveRun {
  /** A command whose output it reads. */
  readonly before: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly args: readonly string[];
  readonly redirections: readonly (readonly [operator: string, file: string])[];
  /** The commands that read its output. */
  readonly after: string | undefined;
}

/** Without expansions. */
const word = String.raw`(?:'[^']*'|[^\s'"\x60$|&;<>\\*?()[\]~#])+`;
const redirection = String.raw` (?:(?:>|2>|<) [\w./-]+|2>&1)`;
const line = new RegExp(
  String.raw`^(?:((?:printf|echo) [^;|&]*) \| )?((?:[A-Z_]+=${word} )*)keyreeve((?: ${word})*)((?:${redirection})*)(?: \| ([^;]*))?$`,
);

/** @returns the runs of a line in order; undefined if the line needs the shell */
export function parseLine(text: string): KeyreeveRun[] | undefined {
  const runs = text.split('; ').map(parseRun);
  return runs.every((run) => run !== undefined) ? runs : undefined;
}

function parseRun(text: string): KeyreeveRun | undefined {
  const found = line.exec(text);
  if (!found) return undefined;
  const [, before, assignments = '', args = '', redirections = '', after] = found;
  return {
    before,
    environment: Object.fromEntries(wordsOf(assignments).map(nameAndValue)),
    args: wordsOf(args),
    redirections: [...redirections.matchAll(/(>|2>|<) ([\w./-]+)|(2>&1)/g)].map(([, operator, file, merge]) => [
      operator ?? merge ?? '',
      file ?? '',
    ]),
    after,
  };
}

const wordsOf = (text: string): string[] =>
  [...text.matchAll(new RegExp(word, 'g'))].map(([found]) => found.replaceAll("'", ''));

const nameAndValue = (assignment: string): [name: string, value: string] => {
  const end = assignment.indexOf('=');
  return [assignment.slice(0, end), assignment.slice(end + 1)];
};
