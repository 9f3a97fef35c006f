/** `keyreeve key …`: the only place that grants the scopes of Keyreeve itself. */
import { Command } from 'commander';
import { parseKeyId, toFullKey, toKey } from '../modules/api-keys/key-view.ts';
import { DomainError } from '../foundation/errors.ts';
import { confirm, yesHelp } from './confirm.ts';
import { UsageError } from './failure.ts';
import { jsonHelp, plural, print, table, type OutputOptions } from './output.ts';
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

const collect = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function keyCommand(): Command {
  const key = new Command('key').description('Make and manage API keys.');
  key
    .command('create')
    .description('Make an API key. Its secret is printed this once.')
    .requiredOption('--account <account>', 'email or id of the account that it belongs to')
    .requiredOption('--nickname <nickname>', 'unique among the account’s keys')
    .option('--scope <scope>', 'a scope; may be given several times', collect)
    .option('--expires-at <time>', 'RFC 3339, for example 2027-01-31T00:00:00Z')
    .option('--json', jsonHelp)
    .action(create);
  key
    .command('list')
    .description('List an account’s API keys.')
    .requiredOption('--account <account>', 'email or id')
    .option('--json', jsonHelp)
    .action(list);
  key
    .command('delete')
    .description('Delete an API key: by its id, or by account and nickname. This cannot be undone.')
    .argument('[id]', 'the key’s id')
    .option('--account <account>', 'email or id of the account that it belongs to')
    .option('--nickname <nickname>', 'its nickname, with --account')
    .option('--yes', yesHelp)
    .option('--json', jsonHelp)
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
    `Created API key ${key.id} (${key.nickname}).\nKey: ${secret.reveal()}\nIt is shown this once.`,
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
    throw new UsageError('name the key by its id, or by --account and --nickname');
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
    await confirm(`API key ${found} (${nicknameOf}) of ${email} is deleted. This cannot be undone.`, options);
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
