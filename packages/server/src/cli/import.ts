/** `keyreeve import …`: imports accounts and API keys of another system from a file. */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { acceptedPrefixes } from '../modules/api-keys/key-prefixes.ts';
import { accountImporter } from '../modules/import/accounts.ts';
import { keyImporter } from '../modules/import/api-keys.ts';
import { accountFormats, keyFormats, readHashConfig, type AccountFormat } from '../modules/import/formats.ts';
import type { Records } from '../modules/import/records.ts';
import type { PasswordHashOptions } from '../modules/import/password-hashes.ts';
import { runImport, type Importer, type ImportCounts, type RefusedLine } from '../modules/import/run-import.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { UsageError } from './failure.ts';
import { AccountMap, readAccountMap } from './import-map.ts';
import { JsonReport, Progress, TextReport, write } from './import-report.ts';
import type { OutputOptions } from './output.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

interface ImportOptions extends OutputOptions {
  readonly dryRun?: boolean;
}

interface AccountOptions extends ImportOptions {
  readonly from?: AccountFormat;
  readonly onExisting: 'skip' | 'fail';
  readonly update?: boolean;
  readonly unverified?: boolean;
  readonly map?: string;
  readonly hashConfig?: string;
  readonly emailDomain?: string;
  readonly acceptWeak?: boolean;
  readonly wrap?: boolean;
  readonly devisePepper?: string;
}

interface KeyOptions extends ImportOptions {
  readonly from?: keyof typeof keyFormats;
  readonly plainKeys?: boolean;
  readonly accounts?: string;
}

const file = ['<file>', 'file to import; - is standard input'] as const;
const dryRunHelp = 'check every line and print what would happen, without importing anything';
const fromHelp =
  'the system, or the kind of file, that the file is from; default: JSON Lines with the fields of Keyreeve';

export function importCommand(setStatus: SetStatus): Command {
  const command = new CliCommand('import')
    .group('operate')
    .lowPriority()
    .description('Import accounts and API keys with their hashes. The service can run meanwhile.')
    .references('docs/import.md', 'database', 'masterKey');
  command
    .command('accounts')
    .argument(...file)
    .description('Import accounts. Each password is hashed again at its next sign-in.')
    .addOption(new Option('--from <system>', fromHelp).choices(Object.keys(accountFormats)))
    .option('--dry-run', dryRunHelp)
    .addOption(
      new Option('--on-existing <what>', 'skip or reject a line whose email address already has an account')
        .choices(['skip', 'fail'])
        .default('skip'),
    )
    .addOption(
      new Option(
        '--update',
        'take what has changed in the file since an earlier import; never for an account that has changed here',
      ).conflicts('onExisting'),
    )
    .option('--unverified', 'email addresses count as unverified if the file does not state that they are verified')
    .option(
      '--map <file>',
      'write the old id, the email address and the new id of each account to a new file (JSON Lines)',
    )
    .option('--hash-config <file>', "Firebase's password hash parameters, as its console shows them")
    .option('--email-domain <domain>', 'append @<domain> to user names of an htpasswd file that are no email addresses')
    .option('--accept-weak', 'import fast hashes too: SHA-1 and SHA-2 without rounds, {SSHA}, $1$, $apr1$')
    .option('--wrap', 'import fast hashes too, and wrap each in Argon2id')
    .option('--devise-pepper <file>', 'file with the pepper that Devise appended to each password before bcrypt')
    .json()
    .examples(
      'keyreeve import accounts accounts.jsonl --dry-run',
      'keyreeve import accounts - < accounts.jsonl',
      'keyreeve import accounts users.json --from keycloak --map map.jsonl',
      'keyreeve import accounts users.json --from keycloak --update',
    )
    .action(async (path: string, options: AccountOptions) => {
      const { from, onExisting, update = false, unverified = false, map: mapPath, emailDomain } = options;
      const hashConfig = options.hashConfig === undefined ? undefined : readHashConfig(options.hashConfig);
      const records = from && accountFormats[from]({ hashConfig, emailDomain, now: systemClock.now() });
      const passwordHashes = passwordHashOptionsOf(options);
      const map = mapPath === undefined || options.dryRun === true ? undefined : new AccountMap(mapPath);
      const hasRefused = await importFile(path, options, { noun: 'account', records }, (context, isDryRun) =>
        accountImporter(operator, {
          db: context.installation.db,
          clock: systemClock,
          hasher: context.hasher,
          isDryRun,
          onExisting: update ? 'update' : onExisting,
          isVerifiedByDefault: !unverified,
          passwordHashes,
          factorSeal: context.installation.keys.secondFactorSeal,
          revocations: context.journal,
          ...(map ? { onMapped: (accounts) => map.add(accounts) } : {}),
        }),
      ).finally(() => map?.close());
      if (hasRefused) setStatus(1);
    });
  command
    .command('api-keys')
    .argument(...file)
    .description('Import the SHA-256 hashes of API keys for existing accounts.')
    .addOption(new Option('--from <system>', fromHelp).choices(Object.keys(keyFormats)))
    .option('--dry-run', dryRunHelp)
    .option('--plain-keys', 'the file has keys in clear text: hash them here')
    .option('--accounts <file>', 'file of import accounts --map: the owners of keys can then be old ids of accounts')
    .json()
    .examples(
      'keyreeve import api-keys keys.jsonl',
      'keyreeve import api-keys keys.json --from unkey --accounts map.jsonl',
    )
    .action(async (path: string, options: KeyOptions) => {
      const { from, plainKeys: hasPlainKeys = false, accounts } = options;
      const accountIds = accounts === undefined ? new Map<string, string>() : await readAccountMap(accounts);
      const records = from && keyFormats[from];
      const kind = { noun: 'API key', records };
      const hasRefused = await importFile(path, options, kind, ({ installation, config }, isDryRun) =>
        keyImporter(operator, {
          db: installation.db,
          clock: systemClock,
          keyHash: installation.keys.apiKeyHash,
          keysPerAccountMax: config.keysPerAccountMax,
          isDryRun,
          hasPlainKeys,
          keyPrefixes: acceptedPrefixes(config),
          accountIds,
        }),
      );
      if (hasRefused) setStatus(1);
    });
  return command;
}

function passwordHashOptionsOf({
  acceptWeak = false,
  wrap = false,
  devisePepper,
}: Pick<AccountOptions, 'acceptWeak' | 'wrap' | 'devisePepper'>): PasswordHashOptions {
  // The final newline of an editor is no part of the pepper.
  const bcryptSuffix =
    devisePepper === undefined ? undefined : readFileSync(devisePepper, 'utf8').replace(/\r?\n$/, '');
  if (bcryptSuffix === '') throw new UsageError('the file of --devise-pepper is empty');
  return { acceptsFast: acceptWeak, wrapsFast: wrap, bcryptSuffix };
}

/** @returns whether lines were refused */
async function importFile<Item>(
  path: string,
  { json = false, dryRun: isDryRun = false }: ImportOptions,
  { noun, records }: { readonly noun: string; readonly records: Records | undefined },
  importerOf: (context: CommandContext, isDryRun: boolean) => Importer<Item>,
): Promise<boolean> {
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
  const listener = {
    refused: async (line: RefusedLine) => {
      progress.clear();
      await write(report.refused(line));
    },
    progress: (soFar: ImportCounts) => progress.show(soFar),
  };
  const { result, notes } = await withInstallation({}, async (context) => {
    const importer = importerOf(context, isDryRun);
    const imported = await runImport(counted(), importer, listener, records);
    return { result: imported, notes: (await importer.notes?.()) ?? [] };
  }).finally(() => {
    progress.clear();
    source.destroy();
  });
  await write(report.end(result));
  for (const note of notes) process.stderr.write(`${note}\n`);
  return result.refused > 0;
}
