/** `keyreeve import …`: imports accounts and API keys of another system from a file of JSON Lines. */
import { createReadStream, statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { accountImporter } from '../modules/import/accounts.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { runImport, type Importer, type ImportCounts, type RefusedLine } from '../modules/import/run-import.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { plural, type OutputOptions } from './output.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

interface ImportOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

interface AccountOptions extends ImportOptions {
  readonly onExisting: 'skip' | 'fail';
}

const file = ['<file>', 'file with one JSON object per line; - is standard input'] as const;
const dryRunHelp = 'check every line without importing it';
const progressMs = 500;

export function importCommand(setStatus: SetStatus): Command {
  const command = new CliCommand('import')
    .lowPriority()
    .description('Import accounts and API keys with their hashes. The service can run meanwhile.')
    .references('docs/import.md', 'database', 'masterKey');
  command
    .command('accounts')
    .argument(...file)
    .description('Import accounts. Each password is hashed again at its next sign-in.')
    .option('--dry-run', dryRunHelp)
    .addOption(
      new Option('--on-existing <what>', 'skip or reject a line whose email address already has an account')
        .choices(['skip', 'fail'])
        .default('skip'),
    )
    .json()
    .examples('keyreeve import accounts accounts.jsonl --dry-run', 'keyreeve import accounts - < accounts.jsonl')
    .action((path: string, { onExisting, ...options }: AccountOptions) =>
      importFile(path, options, 'account', setStatus, ({ installation: { db }, hasher }, isDryRun) =>
        accountImporter(operator, { db, clock: systemClock, hasher, isDryRun, onExisting }),
      ),
    );
  command
    .command('api-keys')
    .argument(...file)
    .description('Import the SHA-256 hashes of API keys for existing accounts.')
    .option('--dry-run', dryRunHelp)
    .json()
    .examples('keyreeve import api-keys keys.jsonl')
    .action((path: string, options: ImportOptions) =>
      importFile(path, options, 'API key', setStatus, ({ installation: { db, keys }, config }, isDryRun) => {
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
  setStatus: SetStatus,
  importerOf: (context: CommandContext, isDryRun: boolean) => Importer<Item>,
): Promise<void> {
  // A missing file is reported before the database is opened.
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
  if (counts.refused > 0) setStatus(1);
}

/** Waits until the reader takes the text: a report can have as many lines as the file. */
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
    const importedText = plural(imported, this.#noun);
    const rest = `${existing} existed already; ${plural(refused, 'line')} refused`;
    return this.#isDryRun
      ? `Would import ${importedText}; ${rest}. Nothing was written.\n`
      : `Imported ${importedText}; ${rest}.\n`;
  }
}

/** One JSON object, written while the import runs. */
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

/** A line on the terminal that is overwritten. Prints nothing if standard error is not a terminal. */
class Progress {
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
