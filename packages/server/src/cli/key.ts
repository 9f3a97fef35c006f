/** `keyreeve key …`: API keys, for an operator. */
import type { Command } from 'commander';
import { parseKeyId, toFullKey, toKey } from '../modules/api-keys/key-view.ts';
import { DomainError } from '../foundation/errors.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { UsageError } from './failure.ts';
import { collect, plural, print, table, type OutputOptions } from './output.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

interface CreateOptions extends OutputOptions {
  readonly account: string;
  readonly nickname: string;
  readonly scope?: readonly string[];
  readonly expiresAt?: string;
}

interface DeleteOptions extends OutputOptions {
  readonly account?: string;
  readonly nickname?: string;
  readonly yes?: boolean;
}

export function keyCommand(): Command {
  const key = new CliCommand('key')
    .description('Create and manage API keys.')
    .references('docs/api-keys.md', 'database', 'masterKey', 'keyPrefix');
  key
    .command('create')
    .description('Create an API key. The key is printed only once.')
    .requiredOption('--account <account>', 'email address or id of the owner')
    .requiredOption('--nickname <nickname>', 'name of the key, unique in its account')
    .option('--scope <scope>', 'scope of the key (repeatable)', collect)
    .option('--expires-at <time>', 'time of expiry in RFC 3339 (default: never)')
    .json()
    .examples(
      'keyreeve key create --account you@example.com --nickname gateway --scope keyreeve:verify',
      'keyreeve key create --account you@example.com --nickname ci --expires-at 2027-01-31T00:00:00Z',
    )
    .action(create);
  key
    .command('list')
    .description('List the API keys of an account.')
    .requiredOption('--account <account>', 'email address or id')
    .json()
    .examples('keyreeve key list --account you@example.com')
    .action(list);
  key
    .command('delete')
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

async function create(options: CreateOptions): Promise<void> {
  const { account: text, nickname, scope: scopes = [], expiresAt } = options;
  const request = { nickname, scopes, expiresAt: expiresAt === undefined ? null : parseTime(expiresAt) };
  const { secret, ...key } = await withInstallation({}, async ({ accounts, apiKeys }) =>
    apiKeys.create(operator, (await accounts.find(text)).id, request),
  );
  const { id, createdAt, updatedAt, scopes: granted, expiresAt: ends } = toFullKey(key);
  const value = {
    id,
    nickname: key.nickname,
    key: secret.reveal(),
    createdAt,
    updatedAt,
    scopes: granted,
    expiresAt: ends,
  };
  print(
    options,
    value,
    `Created API key ${key.id} (${key.nickname}).\nKey: ${secret.reveal()}\nIt is shown only once.`,
  );
}

async function list(options: OutputOptions & { account: string }): Promise<void> {
  const keys = await withInstallation({}, async ({ accounts, apiKeys }) =>
    apiKeys.list((await accounts.find(options.account)).id),
  );
  const full = keys.map(toFullKey);
  const rows = full.map((key) => [
    String(key.id),
    key.nickname,
    key.scopes.join(' '),
    key.expiresAt ?? '',
    key.lastUsedAt ?? '',
    key.createdAt,
  ]);
  const head = ['ID', 'NICKNAME', 'SCOPES', 'EXPIRES', 'LAST USED', 'CREATED'];
  print(options, full, `${table(head, rows)}\n${plural(keys.length, 'key')}`);
}

async function remove(idText: string | undefined, options: DeleteOptions): Promise<void> {
  const { account, nickname } = options;
  if (idText === undefined ? account === undefined || nickname === undefined : nickname !== undefined) {
    throw new UsageError('name the key by its id, or with --account and --nickname');
  }
  const { id } = await withInstallation({}, async (context) => {
    const found = idText === undefined ? await byNickname(context, account ?? '', nickname ?? '') : parseKeyId(idText);
    if (found === undefined)
      throw new DomainError('key_not_found', { detail: `There is no API key ${idText ?? nickname}.` });
    const owner = await context.apiKeys.ownerOf(found);
    if (account !== undefined && (await context.accounts.find(account)).id !== owner)
      throw new DomainError('not_key_owner', { detail: `API key ${found} belongs to a different account.` });
    const { email } = await context.accounts.find(owner);
    const nicknameOf = (await context.apiKeys.list(owner)).find((key) => key.id === found)?.nickname;
    await confirm(`API key ${found} (${nicknameOf}) of ${email} will be deleted. This cannot be undone.`, options);
    await context.apiKeys.delete(operator, owner, found);
    return { id: found };
  });
  print(options, { id, deleted: true }, `Deleted API key ${id}.`);
}

async function byNickname(
  { accounts, apiKeys }: CommandContext,
  account: string,
  nickname: string,
): Promise<number | undefined> {
  const keys = await apiKeys.list((await accounts.find(account)).id);
  return keys.map(toKey).find((key) => key.nickname === nickname.normalize('NFC'))?.id;
}

function parseTime(text: string): number {
  const isRfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i.test(text);
  const ms = isRfc3339 ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new UsageError(`--expires-at must be like 2027-01-31T00:00:00Z, not “${text}”`);
  return ms;
}
