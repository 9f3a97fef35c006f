/** `keyreeve import …`: accounts and API keys of another system, from a file of JSON Lines. */
import { createReadStream, statSync } from 'node:fs';
import { Command, Option } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { accountImporter } from '../modules/import/accounts.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { runImport, type Importer, type ImportCounts, type RefusedLine } from '../modules/import/run-import.ts';
import { jsonHelp, plural, type OutputOptions } from './output.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

interface ImportOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

interface AccountOptions extends ImportOptions {
  readonly onExisting: 'skip' | 'fail';
}

const file = ['<file>', 'one JSON object in each line; - for standard input'] as const;
const dryRunHelp = 'check every line as an import would; write nothing';
const progressMs = 500;

/** @param finish is told the exit status when a line was refused */
export function importCommand(finish: (status: number) => void): Command {
  const command = new Command('import').description(
    'Bring accounts and API keys from another system, with the hashes that it has. The service may run.',
  );
  command
    .command('accounts')
    .argument(...file)
    .description('Import accounts; a password hash is renewed when its owner signs in.')
    .option('--dry-run', dryRunHelp)
    .addOption(
      new Option('--on-existing <what>', 'a line whose email has an account: pass over it or refuse it')
        .choices(['skip', 'fail'])
        .default('skip'),
    )
    .option('--json', jsonHelp)
    .action((path: string, { onExisting, ...options }: AccountOptions) =>
      importFile(path, options, 'account', finish, ({ installation: { db }, hasher }, isDryRun) =>
        accountImporter(operator, { db, clock: systemClock, hasher, isDryRun, onExisting }),
      ),
    );
  command
    .command('api-keys')
    .argument(...file)
    .description('Import API keys by their SHA-256, for accounts that exist.')
    .option('--dry-run', dryRunHelp)
    .option('--json', jsonHelp)
    .action((path: string, options: ImportOptions) =>
      importFile(path, options, 'API key', finish, ({ installation: { db, keys }, config }, isDryRun) => {
        const { keysPerAccountMax } = config;
        return keyImporter(operator, { db, clock: systemClock, keyHash: keys.apiKeyHash, keysPerAccountMax, isDryRun });
      }),
    );
  return command;
}

async function importFile<Item>(
  path: string,
  { json = false, dryRun: isDryRun = false }: ImportOptions,
  noun: string,
  finish: (status: number) => void,
  importerOf: (context: CommandContext, isDryRun: boolean) => Importer<Item>,
): Promise<void> {
  // Before the database is opened: a file that isn't there is said first.
  const bytesTotal = path === '-' ? undefined : statSync(path).size;
  const source = path === '-' ? process.stdin : createReadStream(path);
  let bytes = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      yield chunk;
    }
  };
  const report = json ? new JsonReport(isDryRun) : new TextReport(isDryRun, noun);
  const progress = new Progress(() => (bytesTotal === undefined ? undefined : bytes / Math.max(1, bytesTotal)));
  const counts = await withInstallation({}, (context) =>
    runImport(counted(), importerOf(context, isDryRun), {
      refused: async (line) => {
        progress.clear();
        await write(report.refused(line));
      },
      progress: (soFar) => progress.show(soFar),
    }),
  ).finally(() => {
    progress.clear();
    source.destroy();
  });
  await write(report.end(counts));
  if (counts.refused > 0) finish(1);
}

/** Waits where nobody reads: a report may have as many lines as the file. */
const write = (text: string): Promise<void> => new Promise((resolve) => process.stdout.write(text, () => resolve()));

class TextReport {
  readonly #isDryRun: boolean;
  readonly #noun: string;

  constructor(isDryRun: boolean, noun: string) {
    this.#isDryRun = isDryRun;
    this.#noun = noun;
  }

  refused({ line, reason }: RefusedLine): string {
    return `Line ${line}: ${reason}.\n`;
  }

  end({ imported, existing, refused }: ImportCounts): string {
    const taken = plural(imported, this.#noun);
    const left = `${existing} existed already; ${plural(refused, 'line')} refused`;
    return this.#isDryRun ? `Would import ${taken}; ${left}. Nothing was written.\n` : `Imported ${taken}; ${left}.\n`;
  }
}

/** One object, written as it grows. */
class JsonReport {
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

  end(counts: ImportCounts): string {
    const start = this.#separator === ',' ? '' : this.#separator;
    return `${start}],${JSON.stringify({ dryRun: this.#isDryRun, ...counts }).slice(1)}\n`;
  }
}

/** A line on the terminal that is written over; nothing where there is none. */
class Progress {
  readonly #share: () => number | undefined;
  #shownAt = Number.NEGATIVE_INFINITY;

  /** @param share of the file that has been read, where its size is known */
  constructor(share: () => number | undefined) {
    this.#share = share;
  }

  show({ lines, refused }: ImportCounts): void {
    const now = systemClock.now();
    if (!process.stderr.isTTY || now - this.#shownAt < progressMs) return;
    this.#shownAt = now;
    const share = this.#share();
    const part = share === undefined ? '' : ` (${Math.floor(share * 100)} %)`;
    process.stderr.write(`\r\u001B[K${lines} lines${part}, ${refused} refused`);
  }

  clear(): void {
    if (process.stderr.isTTY && this.#shownAt > 0) process.stderr.write('\r\u001B[K');
  }
}
