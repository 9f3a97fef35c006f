/** `keyreeve key leaked`: ends leaked secrets. They are read from standard input, because `ps` shows arguments. */
import { limits } from '@keyreeve/contract';
import { Secret } from '../foundation/crypto/secret.ts';
import { linesOf } from '../foundation/lines.ts';
import { hintOf } from '../modules/api-keys/key-format.ts';
import type { LeakResult } from '../modules/leaks/leaks.ts';
import type { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { plural, printList, type OutputOptions } from './output.ts';
import { promptLine } from './prompt.ts';
import { operator, withInstallation } from './session.ts';

interface Reported {
  /** From 1. */
  readonly line: number;
  /** Undefined for a line that is too long for a secret. */
  readonly text: string | undefined;
}

/** `other_format`: the text does not have the format of a secret of this installation. */
type Result = LeakResult | 'other_format';

const meanings: Readonly<Record<Result, string>> = {
  current: 'current secret: it has ended, and the key is disabled',
  previous: 'previous secret: it has ended, and the key stays valid',
  short_lived: 'short-lived secret: it has ended, and the key stays valid',
  unknown: 'no key has this secret: it has ended, or never existed',
  other_format:
    'not in the format of a secret of this installation, so nothing changed. If it is an imported key, delete or disable it.',
};

export function addLeakedCommand(key: CliCommand): void {
  key
    .command('leaked')
    .description(
      'End leaked secrets of API keys. Reads them from standard input, one on each line; in a terminal, it asks for one.',
    )
    .json()
    .documentedIn('docs/leaks.md')
    .examples('keyreeve key leaked', 'keyreeve key leaked < found.txt')
    .action(report);
}

async function report(options: OutputOptions): Promise<void> {
  const reported = await readReported();
  if (reported.length === 0) throw new UsageError('standard input contains no secret');
  const results = await withInstallation({}, async ({ leaks }) => {
    const known = reported.map(({ text = '' }) => (leaks.hasFormat(text) ? text : undefined));
    const found = await leaks.report(
      operator,
      known.filter((text) => text !== undefined).map((text) => ({ text })),
    );
    let next = 0;
    return reported.map(({ line }, index) => {
      const text = known[index];
      const result: Result = text === undefined ? 'other_format' : (found[next++] ?? 'unknown');
      // The hint of another text could contain a secret of another system.
      return { line, hint: text === undefined ? null : hintOf(new Secret(text)), result };
    });
  });
  const ended = results.filter(({ result }) => result !== 'unknown' && result !== 'other_format').length;
  await printList(options, results, {
    head: ['LINE', 'HINT', 'RESULT'],
    cells: ({ line, hint, result }) => [String(line), hint ?? '', meanings[result]],
    json: (result) => result,
    end: () => `${plural(ended, 'secret')} ended`,
  });
}

/** Blank lines are left out. @throws UsageError if the user ends the input in a terminal, or for too many lines */
async function readReported(): Promise<Reported[]> {
  if (process.stdin.isTTY) {
    const text = await promptLine('Leaked secret: ', { silent: true }).catch(() => {
      throw new UsageError('no secret was given');
    });
    process.stderr.write('\n');
    return text.trim() === '' ? [] : [{ line: 1, text: text.trim() }];
  }
  const reported: Reported[] = [];
  for await (const { number, bytes } of linesOf(process.stdin as AsyncIterable<Buffer>, limits.importedKeyCharsMax)) {
    const text = bytes?.toString('latin1').trim();
    if (text === '') continue;
    reported.push({ line: number, text });
    if (reported.length > linesMax) throw new UsageError(`standard input contains more than ${linesMax} secrets`);
  }
  return reported;
}

/** The texts are in memory together. */
const linesMax = 100_000;
