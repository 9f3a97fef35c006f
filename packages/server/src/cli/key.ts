/** `keyreeve key …`: API keys, for an operator. */
import type { Command } from 'commander';
import { systemClock } from '../foundation/clock.ts';
import { hasReservedScope } from '../modules/api-keys/scopes.ts';
import { DomainError } from '../foundation/errors.ts';
import { withoutJoiners } from '../foundation/joiners.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { UsageError } from './failure.ts';
import { addChangeCommands } from './key-change.ts';
import { parseMetadata } from './key-input.ts';
import { addLeakedCommand } from './key-leaked.ts';
import { addScanRulesCommand } from './key-scan-rules.ts';
import { addUsageCommand } from './key-usage.ts';
import { dateOf, describeUse, stateOf } from './key-text.ts';
import { parseLimits, withLimits, type LimitOptions } from './limit-options.ts';
import type { KeyOperations, NamedKey } from './operations/keys.ts';
import { withOperations } from './operations/operations.ts';
import { publicKeyOption, readPublicKey } from './public-key-file.ts';
import { parseTrustOptions, withTrust, type TrustOptions } from './trust-options.ts';
import { collect, plural, print, printList, shorten, type OutputOptions } from './output.ts';
import { parseTime } from './time.ts';

interface CreateOptions extends OutputOptions, LimitOptions, TrustOptions {
  readonly account: string;
  readonly nickname: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: string;
  readonly address?: readonly string[];
  readonly metadata?: string;
  readonly sha256?: string;
  readonly publicKey?: string;
  readonly environment?: string;
}

interface DeleteOptions extends OutputOptions {
  readonly account?: string;
  readonly nickname?: string;
  readonly yes?: boolean;
}

/** Bounds of the list, which fits a terminal of 100 columns. `--json` and `key show` have the complete values. */
const idColumnChars = 16;
const nicknameCharsMax = 20;
const lineCharsMax = 100;

export function keyCommand(): Command {
  const key = new CliCommand('key')
    .group('daily')
    .description('Create and manage API keys.')
    .references('docs/api-keys.md', 'database', 'masterKey', 'keyPrefix');
  withCreation(key.command('create').remote('management_key'))
    .description('Create an API key. The secret, if the key has one, is printed only once.')
    .json()
    .examples(
      'keyreeve key create --account you@example.com --nickname gateway --scope keyreeve:verify',
      'keyreeve key create --account you@example.com --nickname ci --expires-at 2027-01-31T00:00:00Z --address 203.0.113.0/24',
      'keyreeve key create --account you@example.com --nickname trial --rate 600/minute --quota 10000/month',
      'keyreeve key create --account acc_3K9vQm1ZyT4cW8nB6pXr2L --nickname backend --scope keyreeve:keys --address 203.0.113.7',
      'keyreeve key create --account you@example.com --nickname ci --environment test',
      'keyreeve key create --account you@example.com --nickname payroll --public-key payroll.pem',
      'keyreeve key create --account you@example.com --nickname deploy --github-repository-id 4711 --ref refs/heads/main',
    )
    .action(create);
  key
    .command('list')
    .remote('management_key')
    .description('List the API keys of an account.')
    .requiredOption('--account <account>', 'email address or id')
    .json()
    .examples('keyreeve key list --account you@example.com')
    .action(list);
  addChangeCommands(key);
  addUsageCommand(key);
  addLeakedCommand(key);
  addScanRulesCommand(key);
  key
    .command('delete')
    .remote('management_key')
    .description('Delete an API key, named by its id or by account and nickname. This cannot be undone.')
    .argument('[id]', 'id of the key')
    .option('--account <account>', 'email address or id of the owner')
    .option('--nickname <nickname>', 'nickname of the key, with --account')
    .option('--yes', yesHelp)
    .json()
    .examples(
      'keyreeve key delete 3920480220219155',
      'keyreeve key delete --account you@example.com --nickname ci --yes',
    )
    .action(remove);
  return key;
}

const withCreation = (command: CliCommand): CliCommand =>
  withTrust(
    withLimits(
      command
        .requiredOption('--account <account>', 'email address or id of the owner')
        .requiredOption('--nickname <nickname>', 'name of the key, unique in its account')
        .option('--scope <scope>', 'scope of the key (repeatable)', collect)
        .option('--expires-at <time>', 'time of expiry in RFC 3339 (default: never, or KEYREEVE_KEY_LIFETIME_DAYS_MAX)')
        .option('--address <range>', 'IP address or CIDR range of clients (repeatable; default: any)', collect)
        .option('--metadata <json>', 'JSON object that POST /auth/verify returns')
        .option('--sha256 <hex>', 'SHA-256 of a secret that exists already and has at least 128 random bits')
        .addOption(
          publicKeyOption('file with the public key of the client, which the key has instead of a secret').conflicts(
            'sha256',
          ),
        )
        .option('--environment <name>', 'environment of the key, which never changes (default: the first one)'),
    ),
    ['sha256', 'publicKey'],
  );

async function create(options: CreateOptions): Promise<void> {
  const { account: text, nickname, scope: scopes = [], expiresAt, address: addresses = null, metadata } = options;
  const { environment, sha256, publicKey } = options;
  const jwk = publicKey === undefined ? undefined : readPublicKey(publicKey);
  const trust = parseTrustOptions(options);
  if (sha256 !== undefined && hasReservedScope(scopes))
    throw new UsageError('a key with --sha256 cannot have a scope keyreeve:…, because another system made its secret');
  const request = {
    nickname,
    scopes,
    expiresAt: expiresAt === undefined ? undefined : parseTime(expiresAt, '--expires-at'),
    addresses,
    limits: parseLimits(options),
    metadata: metadata === undefined ? null : parseMetadata(metadata),
    ...(environment === undefined ? {} : { environment }),
  };
  const created = await withOperations(async ({ keys }) =>
    keys.create((await keys.owner(text)).id, request, { sha256, publicKey: jwk, trust }),
  );
  const { id, createdAt, updatedAt, scopes: granted, expiresAt: ends, environment: shownEnvironment, key } = created;
  const value = {
    id,
    nickname: created.nickname,
    ...(key === undefined ? {} : { key }),
    createdAt,
    updatedAt,
    scopes: granted,
    expiresAt: ends,
    environment: shownEnvironment,
  };
  const secretLines = key === undefined ? [] : [`Key: ${key}`, 'It is shown only once.'];
  print(options, value, [`Created API key ${id} (${created.nickname}).`, ...secretLines]);
}

async function list(options: OutputOptions & { account: string }): Promise<void> {
  const full = await withOperations(async ({ keys }) => keys.list((await keys.owner(options.account)).id));
  const now = systemClock.now();
  const hasEnvironments = full.some(({ environment }) => environment !== null);
  const environmentHead = hasEnvironments ? ['ENVIRONMENT'] : [];
  await printList(options, full, {
    head: ['ID', 'NICKNAME', ...environmentHead, 'HINT', 'STATE', 'LAST USED', 'SCOPES'],
    cells: (key) => [
      String(key.id).padEnd(idColumnChars),
      shorten(key.nickname, nicknameCharsMax),
      ...(hasEnvironments ? [key.environment ?? ''] : []),
      key.hint ?? '',
      stateOf(key, now),
      key.lastUsedAt === null ? '' : dateOf(key.lastUsedAt),
      key.scopes.join(' '),
    ],
    json: (key) => key,
    end: (count) => plural(count, 'key'),
    lineCharsMax,
  });
}

async function remove(idText: string | undefined, options: DeleteOptions): Promise<void> {
  const { account, nickname } = options;
  if (idText === undefined ? account === undefined || nickname === undefined : nickname !== undefined) {
    throw new UsageError('name the key by its id, or with --account and --nickname');
  }
  const { id } = await withOperations(async ({ keys }) => {
    const found =
      idText === undefined ? await byNickname(keys, account ?? '', nickname ?? '') : await keys.find(idText, account);
    await confirmDeletion(keys, found, options);
    await keys.delete(found);
    return found;
  });
  print(options, { id, deleted: true }, `Deleted API key ${id}.`);
}

/** Shows the use of the key, because clients that still use it will be rejected. */
async function confirmDeletion(keys: KeyOperations, key: NamedKey, options: DeleteOptions): Promise<void> {
  if (options.yes) return;
  const { email } = await keys.owner(key.owner);
  const { nickname } = await keys.read(key);
  const use = describeUse(await keys.recentUse(key));
  await confirm(`API key ${key.id} (${nickname}) of ${email} will be deleted. ${use} This cannot be undone.`, options);
}

/** @throws DomainError `account_not_found`, `key_not_found` */
async function byNickname(keys: KeyOperations, account: string, nickname: string): Promise<NamedKey> {
  const owner = (await keys.owner(account)).id;
  const wanted = withoutJoiners(nickname.normalize('NFC'));
  const named = (await keys.list(owner)).filter((one) => withoutJoiners(one.nickname) === wanted);
  const key = named.find((one) => one.nickname === nickname.normalize('NFC')) ?? named[0];
  if (key === undefined) throw new DomainError('key_not_found', { detail: `There is no API key ${nickname}.` });
  return { id: key.id, owner };
}
