/** `keyreeve service-account …`: service accounts and their managers, for an operator. */
import { Option, type Command } from 'commander';
import { labelOf } from './account-text.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { UsageError } from './failure.ts';
import { withOperations } from './operations/operations.ts';
import type { ListedServiceAccount } from './operations/service-accounts.ts';
import { plural, print, printList, shorten, table, type OutputOptions } from './output.ts';
import { serviceOfTarget } from './remote/target.ts';

interface CreateOptions extends OutputOptions {
  readonly manager?: string;
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
    .remote('management_key')
    .description('Create a service account.')
    .argument('<name>', 'name, unique among the service accounts of its creator')
    .option(
      '--manager <account>',
      'email address or id of the creator and first manager (required; with --url it is the caller)',
    )
    .option('--external-id <id>', 'your own id, for example of a tenant, unique among those of its creator')
    .json()
    .examples('keyreeve service-account create backend --manager you@example.com')
    .action(create);
  service
    .command('list')
    .remote('management_key')
    .description('List service accounts.')
    .option('--manager <account>', 'only those that this account manages: email address or id')
    .option('--external-id <id>', 'only those with this external id')
    .json()
    .examples('keyreeve service-account list', 'keyreeve service-account list --external-id tenant_182')
    .action(list);
  withId(service.command('show').remote('management_key'))
    .description('Show a service account with its managers.')
    .examples('keyreeve service-account show acc_3K9vQm1ZyT4cW8nB6pXr2L')
    .action(show);
  withId(service.command('change').remote('management_key'))
    .description('Change the name or the external id of a service account.')
    .option('--name <name>', 'new name')
    .option('--external-id <id>', 'new external id')
    .addOption(new Option('--clear-external-id', 'remove the external id').conflicts('externalId'))
    .examples('keyreeve service-account change acc_3K9vQm1ZyT4cW8nB6pXr2L --name nightly-export')
    .action(change);
  withId(service.command('delete').remote('management_key'))
    .description('Delete a service account with its API keys. This cannot be undone.')
    .option('--yes', yesHelp)
    .examples('keyreeve service-account delete acc_3K9vQm1ZyT4cW8nB6pXr2L')
    .action(remove);
  withManager(service.command('add-manager').remote('administrator'))
    .description('Add a manager: an account that can do everything with the keys of the service account.')
    .examples('keyreeve service-account add-manager acc_3K9vQm1ZyT4cW8nB6pXr2L you@example.com')
    .action(changingManager('add', 'added', 'manages'));
  withManager(service.command('remove-manager').remote('administrator'))
    .description('Remove a manager, also the last one. Then only administrators and operators manage the account.')
    .examples('keyreeve service-account remove-manager acc_3K9vQm1ZyT4cW8nB6pXr2L you@example.com')
    .action(changingManager('remove', 'removed', 'no longer manages'));
  return service;
}

const withId = (command: CliCommand): CliCommand => command.argument('<id>', 'id of the service account').json();
const withManager = (command: CliCommand): CliCommand =>
  withId(command).argument('<account>', 'email address or id of the manager');

async function create(name: string, { manager, externalId, ...options }: CreateOptions): Promise<void> {
  const created = await withOperations((to) => to.serviceAccounts.create({ name, externalId, manager }));
  print(options, toJson(created), [`Created service account ${created.id} (${created.name}).`]);
}

async function list({ manager, externalId, ...options }: ListOptions): Promise<void> {
  const counted = serviceOfTarget() === undefined;
  await withOperations(({ serviceAccounts }) =>
    printList(options, serviceAccounts.list({ manager, externalId }), {
      head: ['ID', 'NAME', 'EXTERNAL ID', 'STATE', ...(counted ? ['MANAGERS', 'KEYS'] : [])],
      cells: (row) => [
        row.id,
        shorten(row.name, nameCharsMax),
        shorten(row.externalId ?? '', externalIdCharsMax),
        stateOf(row),
        ...(counted ? [String(row.managers), String(row.keys)] : []),
      ],
      json: ({ managers, keys, disabledAt, ...row }) => ({ ...toJson(row), managers, keys, disabledAt }),
      end: (count) => plural(count, 'service account'),
    }),
  );
}

async function show(id: string, options: OutputOptions): Promise<void> {
  const shown = await withOperations((to) => to.serviceAccounts.show(id));
  const { disabledAt, keys, managers, updatedAt } = shown;
  const named = managers.map(({ email, accountId }) => ['manager', labelOf({ id: accountId, email })]);
  const rows = [
    ['name', shown.name],
    ['external id', shown.externalId ?? 'none'],
    ['creator', shown.creatorId ?? 'deleted'],
    ['state', stateOf(shown)],
    ['API keys', String(keys)],
    ['created', shown.createdAt],
    ...(updatedAt === undefined ? [] : [['changed', updatedAt]]),
    ...(named.length === 0 ? [['managers', 'none; add one with `keyreeve service-account add-manager`']] : named),
  ];
  print(options, { ...toJson(shown), disabledAt, keys, managers }, table(['id', shown.id], rows));
}

async function change(id: string, options: ChangeOptions): Promise<void> {
  const { name, externalId, clearExternalId } = options;
  const wanted = clearExternalId ? null : externalId;
  if (name === undefined && wanted === undefined) throw new UsageError('name a change, for example --name; see --help');
  const members = {
    ...(name === undefined ? {} : { name }),
    ...(wanted === undefined ? {} : { externalId: wanted }),
  };
  const changed = await withOperations((to) => to.serviceAccounts.change(id, members));
  print(options, toJson(changed), [`Changed service account ${changed.id} (${changed.name}).`]);
}

async function remove(id: string, options: OutputOptions & { yes?: boolean }): Promise<void> {
  await withOperations(async ({ serviceAccounts }) => {
    const { name, keys } = await serviceAccounts.show(id);
    const question = `Service account ${id} (${name}) will be deleted with ${plural(keys, 'API key')}. This cannot be undone.`;
    await confirm(question, options);
    await serviceAccounts.delete(id);
  });
  print(options, { id, deleted: true }, [`Deleted service account ${id}.`]);
}

/** The action of a command that adds or removes a manager. @param says what follows the email address of the manager */
const changingManager =
  (operation: 'add' | 'remove', done: 'added' | 'removed', says: string) =>
  async (id: string, account: string, options: OutputOptions): Promise<void> => {
    const manager = await withOperations((to) => to.serviceAccounts.changeManager(operation, id, account));
    const text = `${manager.email} ${says} service account ${id}.`;
    print(options, { id, accountId: manager.id, [done]: true }, [text]);
  };

/** A service does not tell managers whether the account is disabled. */
const stateOf = ({ disabledAt }: { readonly disabledAt?: string | null }): string =>
  disabledAt === undefined ? 'not known' : disabledAt === null ? 'enabled' : 'disabled';

const toJson = ({
  id,
  name,
  externalId,
  creatorId,
  createdAt,
  updatedAt,
}: Omit<ListedServiceAccount, 'managers' | 'keys'>) => ({
  id,
  name,
  externalId,
  creatorId,
  createdAt,
  updatedAt,
});
