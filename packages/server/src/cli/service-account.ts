/** `keyreeve service-account …`: service accounts and their managers, for an operator. */
import { Option, type Command } from 'commander';
import { toInstant } from '../foundation/clock.ts';
import { listServiceAccounts, type ListedServiceAccount } from '../modules/service-accounts/list-store.ts';
import type { ManagerRow, ServiceAccountRow } from '../modules/service-accounts/store.ts';
import { isService, labelOf } from './account-text.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { UsageError } from './failure.ts';
import { plural, print, printList, shorten, table, type OutputOptions } from './output.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

interface CreateOptions extends OutputOptions {
  readonly manager: string;
  readonly externalId?: string;
}

interface ListOptions extends OutputOptions {
  readonly manager?: string;
  readonly externalId?: string;
}

interface ChangeOptions extends OutputOptions {
  readonly name?: string;
  readonly externalId?: string;
  readonly clearExternalId?: true;
}

/** Bounds of the list. `--json` and `show` have the complete values. */
const nameCharsMax = 24;
const externalIdCharsMax = 20;

export function serviceAccountCommand(): Command {
  const service = new CliCommand('service-account')
    .group('daily')
    .description('Manage service accounts, whose keys outlive the persons who create them.')
    .references('docs/service-accounts.md', 'database', 'masterKey');
  service
    .command('create')
    .description('Create a service account.')
    .argument('<name>', 'name, unique among the service accounts of its creator')
    .requiredOption('--manager <account>', 'email address or id of the creator and first manager')
    .option('--external-id <id>', 'your own id, for example of a tenant, unique among those of its creator')
    .json()
    .examples('keyreeve service-account create backend --manager you@example.com')
    .action(create);
  service
    .command('list')
    .description('List service accounts.')
    .option('--manager <account>', 'only those that this account manages: email address or id')
    .option('--external-id <id>', 'only those with this external id')
    .json()
    .examples('keyreeve service-account list', 'keyreeve service-account list --external-id tenant_182')
    .action(list);
  withId(service.command('show'))
    .description('Show a service account with its managers.')
    .examples('keyreeve service-account show acc_3K9vQm1ZyT4cW8nB6pXr2L')
    .action(show);
  withId(service.command('change'))
    .description('Change the name or the external id of a service account.')
    .option('--name <name>', 'new name')
    .option('--external-id <id>', 'new external id')
    .addOption(new Option('--clear-external-id', 'remove the external id').conflicts('externalId'))
    .examples('keyreeve service-account change acc_3K9vQm1ZyT4cW8nB6pXr2L --name nightly-export')
    .action(change);
  withId(service.command('delete'))
    .description('Delete a service account with its API keys. This cannot be undone.')
    .option('--yes', yesHelp)
    .examples('keyreeve service-account delete acc_3K9vQm1ZyT4cW8nB6pXr2L')
    .action(remove);
  withManager(service.command('add-manager'))
    .description('Add a manager: an account that can do everything with the keys of the service account.')
    .examples('keyreeve service-account add-manager acc_3K9vQm1ZyT4cW8nB6pXr2L you@example.com')
    .action(changingManager('add', 'added', 'manages'));
  withManager(service.command('remove-manager'))
    .description('Remove a manager, also the last one. Then only administrators and operators manage the account.')
    .examples('keyreeve service-account remove-manager acc_3K9vQm1ZyT4cW8nB6pXr2L you@example.com')
    .action(changingManager('remove', 'removed', 'no longer manages'));
  return service;
}

const withId = (command: CliCommand): CliCommand => command.argument('<id>', 'id of the service account').json();
const withManager = (command: CliCommand): CliCommand =>
  withId(command).argument('<account>', 'email address or id of the manager');

async function create(name: string, options: CreateOptions): Promise<void> {
  const { manager, externalId = null } = options;
  const row = await withInstallation({}, async ({ accounts, serviceAccounts }) =>
    serviceAccounts.create(operator, (await accounts.find(manager)).id, { name, externalId }),
  );
  print(options, toJson(row), `Created service account ${row.id} (${row.name}).`);
}

async function list(options: ListOptions): Promise<void> {
  const { manager, externalId } = options;
  await withInstallation({}, async ({ accounts, installation: { db } }) => {
    const managerId = manager === undefined ? undefined : (await accounts.find(manager)).id;
    await printList(options, listServiceAccounts(db, { managerId, externalId }), {
      head: ['ID', 'NAME', 'EXTERNAL ID', 'STATE', 'MANAGERS', 'KEYS'],
      cells: (row) => [
        row.id,
        shorten(row.name, nameCharsMax),
        shorten(row.externalId ?? '', externalIdCharsMax),
        stateOf(row.disabledAt),
        String(row.managers),
        String(row.keys),
      ],
      json: (row) => ({ ...toJson(row), ...countsOf(row) }),
      end: (count) => plural(count, 'service account'),
    });
  });
}

const countsOf = ({ managers, keys, disabledAt }: ListedServiceAccount) => ({
  managers,
  keys,
  disabledAt: disabledAt === null ? null : toInstant(disabledAt),
});

async function show(id: string, options: OutputOptions): Promise<void> {
  const { row, managers, disabledAt, keys } = await withInstallation({}, async (context) => {
    const { accounts, apiKeys } = context;
    const found = await context.serviceAccounts.find(operator, id);
    return {
      row: found,
      managers: await managersOf(context, id),
      disabledAt: (await accounts.findById(id)).disabledAt,
      keys: (await apiKeys.list(id)).length,
    };
  });
  const named = managers.map(({ email, accountId: managerId }) => [
    'manager',
    labelOf({ id: managerId, email: email ?? managerId }),
  ]);
  const rows = [
    ['name', row.name],
    ['external id', row.externalId ?? 'none'],
    ['creator', row.creatorId ?? 'deleted'],
    ['state', stateOf(disabledAt)],
    ['API keys', String(keys)],
    ['created', toInstant(row.createdAt)],
    ['changed', toInstant(row.updatedAt)],
    ...(named.length === 0 ? [['managers', 'none; add one with `keyreeve service-account add-manager`']] : named),
  ];
  const value = {
    ...toJson(row),
    disabledAt: disabledAt === null ? null : toInstant(disabledAt),
    keys,
    managers,
  };
  print(options, value, table(['id', row.id], rows));
}

interface ShownManager {
  readonly accountId: string;
  /** Null for a service account. */
  readonly email: string | null;
  readonly addedAt: string;
}

async function managersOf({ accounts, managers }: CommandContext, id: string): Promise<ShownManager[]> {
  const rows: readonly ManagerRow[] = await managers.list(operator, id);
  return Promise.all(
    rows.map(async ({ id: accountId, addedAt }) => {
      const account = await accounts.findById(accountId);
      const email = isService(account) ? null : account.email;
      return { accountId, email, addedAt: toInstant(addedAt) };
    }),
  );
}

async function change(id: string, options: ChangeOptions): Promise<void> {
  const { name, externalId, clearExternalId } = options;
  const wanted = clearExternalId ? null : externalId;
  if (name === undefined && wanted === undefined) throw new UsageError('name a change, for example --name; see --help');
  const members = {
    ...(name === undefined ? {} : { name }),
    ...(wanted === undefined ? {} : { externalId: wanted }),
  };
  const row = await withInstallation({}, ({ serviceAccounts }) => serviceAccounts.change(operator, id, members));
  print(options, toJson(row), `Changed service account ${row.id} (${row.name}).`);
}

async function remove(id: string, options: OutputOptions & { yes?: boolean }): Promise<void> {
  await withInstallation({}, async ({ serviceAccounts, apiKeys }) => {
    const { name } = await serviceAccounts.find(operator, id);
    const keys = plural((await apiKeys.list(id)).length, 'API key');
    const question = `Service account ${id} (${name}) will be deleted with ${keys}. This cannot be undone.`;
    await confirm(question, options);
    await serviceAccounts.delete(operator, id);
  });
  print(options, { id, deleted: true }, `Deleted service account ${id}.`);
}

/** The action of a command that adds or removes a manager. @param says what follows the email address of the manager */
const changingManager =
  (operation: 'add' | 'remove', done: 'added' | 'removed', says: string) =>
  async (id: string, account: string, options: OutputOptions): Promise<void> => {
    const manager = await withInstallation({}, async ({ accounts, managers }) => {
      const found = await accounts.find(account);
      await managers[operation](operator, id, found.id);
      return found;
    });
    const text = `${manager.email} ${says} service account ${id}.`;
    print(options, { id, accountId: manager.id, [done]: true }, text);
  };

const stateOf = (disabledAt: number | null): string => (disabledAt === null ? 'enabled' : 'disabled');

type Shown = Pick<ServiceAccountRow, 'id' | 'name' | 'externalId' | 'creatorId' | 'createdAt' | 'updatedAt'>;

const toJson = ({ id, name, externalId, creatorId, createdAt, updatedAt }: Shown) => ({
  id,
  name,
  externalId,
  creatorId,
  createdAt: toInstant(createdAt),
  updatedAt: toInstant(updatedAt),
});
