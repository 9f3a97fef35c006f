/** `keyreeve account …`: accounts, for an operator. */
import { Argument, Option, type Command } from 'commander';
import type { AccountDetail } from '@keyreeve/contract';
import { addIdentityCommands } from './account-identity.ts';
import { addPasskeyCommands } from './account-passkeys.ts';
import { labelOf } from './account-text.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { parseLimits, quotaText, rateText, withLimitChanges, type LimitChangeOptions } from './limit-options.ts';
import { UsageError } from './failure.ts';
import type { AccountChange, LimitedAccount, ListedAccount } from './operations/accounts.ts';
import { withOperations } from './operations/operations.ts';
import { plural, print, printList, type OutputOptions } from './output.ts';
import { obtainPassword, type PasswordOptions } from './password-input.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

type PasswordCommandOptions = OutputOptions & PasswordOptions;

const accountArgument = ['<account>', 'email address or id'] as const;

export function accountCommand(): Command {
  const account = new CliCommand('account')
    .group('daily')
    .description('Create and manage accounts.')
    .references('docs/operating.md', 'database', 'masterKey');
  withPassword(account.command('create').argument('<email>', 'email address, which counts as verified'))
    .description('Create an account. Without --password-stdin or --generate, it asks for the password.')
    .option('--admin', 'give the account the role of an administrator')
    .examples(
      'keyreeve account create you@example.com --admin',
      'keyreeve account create ci@example.com --generate --json',
    )
    .action(create);
  account
    .command('list')
    .description('List all accounts. With --url, in the order of their email addresses.')
    .json()
    .remote('administrator')
    .examples('keyreeve account list')
    .action(list);
  withAccount(account.command('show').remote('administrator'))
    .description('Show an account.')
    .examples('keyreeve account show you@example.com')
    .action(show);
  withAccount(account.command('disable').remote('administrator'))
    .description('Disable an account: its sessions end and its API keys are rejected immediately.')
    .examples('keyreeve account disable you@example.com')
    .action(changing('Disabled', 'disable'));
  withAccount(account.command('enable').remote('administrator'))
    .description('Enable a disabled account. Its API keys work again.')
    .examples('keyreeve account enable you@example.com')
    .action(changing('Enabled', 'enable'));
  withAccount(account.command('set-email').remote('administrator'))
    .argument('<email>', 'new email address')
    .description(
      'Change the email address, for an owner who has lost the mailbox. Sends a link to the new address; the change takes effect when the link is used.',
    )
    .examples('keyreeve account set-email you@example.com new@example.com')
    .action(setEmail);
  withAccount(account.command('confirm-email'))
    .description(
      'Confirm, after a restore, that the email address belongs to the owner. Permits password resets again.',
    )
    .examples('keyreeve account confirm-email you@example.com')
    .action(confirmEmail);
  withAccount(account.command('set-role').remote('administrator'))
    .addArgument(new Argument('<role>', 'new role').choices(['user', 'admin']))
    .description('Set the role of an account. An administrator needs a verified email address.')
    .examples('keyreeve account set-role you@example.com admin')
    .action(setRole);
  withLimitChanges(
    account
      .command('set-limits')
      .remote('management_key')
      .argument(...accountArgument),
  )
    .description('Limit all API keys of an account together. The command keeps a limit that it does not name.')
    .json()
    .examples(
      'keyreeve account set-limits you@example.com --rate 6000/minute --burst 500 --quota 1000000/month',
      'keyreeve account set-limits you@example.com --clear-quota',
    )
    .action(setLimits);
  withAccount(account.command('entitlements').remote('management_key'))
    .description('List or set the entitlements of an account.')
    .option('--set <scopes>', 'replace them by these scopes, separated by commas')
    .addOption(new Option('--clear', 'remove all of them').conflicts('set'))
    .documentedIn('docs/scopes.md')
    .examples(
      'keyreeve account entitlements you@example.com',
      'keyreeve account entitlements you@example.com --set reports:read,exports:create',
    )
    .action(entitlements);
  withAccount(account.command('require-second-factor').remote('administrator'))
    .description('Require a second factor. Until it is enrolled, sessions permit nothing else; API keys still work.')
    .examples('keyreeve account require-second-factor you@example.com')
    .action(changing('Required a second factor of', 'requireSecondFactor'));
  withAccount(account.command('waive-second-factor').remote('administrator'))
    .description('Stop requiring a second factor. An enrolled second factor stays in force.')
    .examples('keyreeve account waive-second-factor you@example.com')
    .action(changing('Waived the second factor of', 'waiveSecondFactor'));
  withAccount(account.command('remove-second-factor').remote('administrator'))
    .description(
      'Remove a lost second factor with all passkeys, and end all sessions. Verify the identity of the owner first.',
    )
    .examples('keyreeve account remove-second-factor you@example.com')
    .action(changing('Removed the second factor of', 'removeSecondFactor'));
  addPasskeyCommands(account);
  addIdentityCommands(account);
  withAccount(account.command('delete').remote('administrator'))
    .description('Delete an account with its sessions and API keys. This cannot be undone.')
    .option('--yes', yesHelp)
    .examples('keyreeve account delete you@example.com', 'keyreeve account delete you@example.com --yes --json')
    .action(remove);
  withPassword(account.command('set-password').argument(...accountArgument))
    .description('Set a new password and end all sessions.')
    .examples('keyreeve account set-password you@example.com')
    .action(setPassword);
  return account;
}

const withAccount = (command: CliCommand): CliCommand => command.argument(...accountArgument).json();

const withPassword = (command: CliCommand): CliCommand =>
  command
    .option('--password-stdin', 'read the password from standard input')
    .addOption(new Option('--generate', 'generate a password and print it').conflicts('passwordStdin'))
    .json();

async function create(email: string, options: PasswordCommandOptions & { admin?: boolean }): Promise<void> {
  const { password, isGenerated } = await obtainPassword(options);
  const role = options.admin ? 'admin' : 'user';
  const account = await withInstallation({ mayCreate: true }, async ({ accounts, directory }) =>
    directory.read((await accounts.create(operator, email, password, role)).id),
  );
  printAccount(options, account, 'Created', isGenerated ? password.reveal() : undefined);
}

async function show(text: string, options: OutputOptions): Promise<void> {
  printLimits(options, await withOperations((to) => to.accounts.find(text)), '');
}

async function setLimits(text: string, options: OutputOptions & LimitChangeOptions): Promise<void> {
  const patch = parseLimits(options);
  if (Object.keys(patch).length === 0) throw new UsageError('name a limit, for example --rate 600/minute; see --help');
  const shown = await withOperations(({ accounts }) => accounts.changeLimits(text, patch));
  printLimits(options, shown, 'Set the limits of');
}

function printLimits(options: OutputOptions, account: LimitedAccount, done: string): void {
  const { limits, quotaUse } = account;
  const limitsText = `rate ${rateText(limits?.rate)}; quota ${quotaText(limits?.quota, quotaUse)}`;
  const lines = [
    lineOf(account, done),
    ...(limits === null && done === '' ? [] : [`Limits of all its API keys together: ${limitsText}.`]),
  ];
  print(options, { ...toJson(account), limits, quotaUse }, lines);
}

async function setPassword(text: string, options: PasswordCommandOptions): Promise<void> {
  // Before it asks for a password.
  await withInstallation({}, async ({ accounts }) => accounts.findPerson((await accounts.find(text)).id));
  const { password, isGenerated } = await obtainPassword(options);
  const account = await changedHere(text, ({ accounts }, id) => accounts.setPassword(operator, id, password));
  printAccount(options, account, 'Set the password of', isGenerated ? password.reveal() : undefined);
}

async function confirmEmail(text: string, options: OutputOptions): Promise<void> {
  const account = await changedHere(text, ({ accounts }, id) => accounts.confirmEmail(operator, id));
  printAccount(options, account, 'Confirmed the email address of');
}

async function setEmail(text: string, email: string, options: OutputOptions): Promise<void> {
  const { account, expiresAt } = await withOperations(async ({ accounts }) => {
    const found = await accounts.find(text);
    return { account: found, expiresAt: await accounts.requestEmail(found.id, email) };
  });
  const until = expiresAt === undefined ? '' : ` The link is valid until ${expiresAt}.`;
  const line = `A mail with a link is being sent to ${email}.${until} Account ${labelOf(account)} keeps its email address until the link is used.`;
  print(options, { ...toJson(account), requestedEmail: email, expiresAt }, [line]);
}

async function setRole(text: string, role: AccountDetail['role'], options: OutputOptions): Promise<void> {
  const account = await withOperations(async ({ accounts }) => accounts.setRole((await accounts.find(text)).id, role));
  printAccount(options, account, 'Set the role of');
}

async function entitlements(
  text: string,
  { set, clear = false, ...options }: OutputOptions & { set?: string; clear?: boolean },
): Promise<void> {
  const names = clear ? [] : set?.split(',');
  const account = await withOperations(({ accounts }) => accounts.entitle(text, names));
  const { entitlements: held } = account;
  const line = `Account ${labelOf(account)} has ${held.length === 0 ? 'no entitlements' : `the entitlements ${held.join(', ')}`}.`;
  print(options, { id: account.id, entitlements: held }, [line]);
}

const list = (options: OutputOptions): Promise<void> =>
  withOperations(({ accounts }) =>
    printList(options, accounts.list(), {
      head: ['EMAIL OR NAME', 'ID', 'ROLE', 'STATE', 'CREATED'],
      cells: (account) => [
        account.name ?? account.email ?? account.id,
        account.id,
        kindOf(account),
        stateOf(account),
        account.createdAt,
      ],
      json: (account) => ({ ...toJson(account), name: account.name }),
      end: (count) => plural(count, 'account'),
    }),
  );

/** Changes an account of this machine. @returns the account after the change */
const changedHere = (
  idOrEmail: string,
  apply: (context: CommandContext, id: string) => Promise<void>,
): Promise<AccountDetail> =>
  withInstallation({}, async (context) => {
    const { id } = await context.accounts.find(idOrEmail);
    return context.directory.change(id, () => apply(context, id));
  });

/** The action of a command that changes an account and prints it. */
const changing =
  (done: string, change: AccountChange) =>
  async (text: string, options: OutputOptions): Promise<void> => {
    const account = await withOperations(async ({ accounts }) =>
      accounts.change((await accounts.find(text)).id, change),
    );
    printAccount(options, account, done);
  };

async function remove(text: string, options: OutputOptions & { yes?: boolean }): Promise<void> {
  const account = await withOperations(async ({ accounts }) => {
    const found = await accounts.find(text);
    const keys = plural(found.apiKeyCount, 'API key');
    const question = `Account ${found.email ?? found.id} will be deleted with ${keys}. This cannot be undone.`;
    await confirm(question, options);
    await accounts.delete(found.id);
    return found;
  });
  printAccount(options, account, 'Deleted');
}

function printAccount(options: OutputOptions, account: AccountDetail, done: string, password?: string): void {
  const value = { ...toJson(account), ...(password === undefined ? {} : { password }) };
  const lines = [
    lineOf(account, done),
    ...(password === undefined ? [] : [`Password: ${password}`, 'It is shown only once.']),
  ];
  print(options, value, lines);
}

const lineOf = (account: LineOfAccount, done: string): string =>
  account.kind === 'service'
    ? serviceLineOf(account, done)
    : `${done === '' ? 'Account' : `${done} account`} ${labelOf(account)}, ${account.role}, ${stateOf(account)}${account.requiresSecondFactor ? ', second factor required' : ''}.`;

const serviceLineOf = (account: LineOfAccount, done: string): string =>
  done === '' ? `Service account ${account.id}, ${stateOf(account)}.` : `${done} service account ${account.id}.`;

type LineOfAccount = Pick<LimitedAccount, 'id' | 'kind' | 'email' | 'role' | 'disabledAt' | 'requiresSecondFactor'>;

const kindOf = ({ kind, role }: Pick<ListedAccount, 'kind' | 'role'>): string =>
  kind === 'service' ? 'service' : role;
const stateOf = ({ disabledAt }: Pick<LimitedAccount, 'disabledAt'>): string => (disabledAt ? 'disabled' : 'enabled');

/** With a management key, only the id is known. */
const toJson = ({
  id,
  email,
  role,
  createdAt,
  updatedAt,
  disabledAt,
}: Pick<LimitedAccount, 'id' | 'email' | 'role' | 'createdAt' | 'updatedAt' | 'disabledAt'>) => ({
  id,
  email,
  role,
  createdAt,
  updatedAt,
  disabledAt,
});
