/** `keyreeve account …`: accounts, for an operator. */
import { Argument, Option, type Command } from 'commander';
import type { KeyLimits, QuotaUse } from '@keyreeve/contract';
import type { Account, Role } from '../modules/accounts/accounts.ts';
import { toInstant } from '../foundation/clock.ts';
import { addIdentityCommands } from './account-identity.ts';
import { addPasskeyCommands } from './account-passkeys.ts';
import { isService, labelOf } from './account-text.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { parseLimits, quotaText, rateText, withLimitChanges, type LimitChangeOptions } from './limit-options.ts';
import { UsageError } from './failure.ts';
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
  account.command('list').description('List all accounts.').json().examples('keyreeve account list').action(list);
  withAccount(account.command('show'))
    .description('Show an account.')
    .examples('keyreeve account show you@example.com')
    .action(show);
  withAccount(account.command('disable'))
    .description('Disable an account: its sessions end and its API keys are rejected immediately.')
    .examples('keyreeve account disable you@example.com')
    .action(changing('Disabled', ({ accounts }, { id }) => accounts.disable(operator, id)));
  withAccount(account.command('enable'))
    .description('Enable a disabled account. Its API keys work again.')
    .examples('keyreeve account enable you@example.com')
    .action(changing('Enabled', ({ accounts }, { id }) => accounts.enable(operator, id)));
  withAccount(account.command('set-email'))
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
    .action(changing('Confirmed the email address of', ({ accounts }, { id }) => accounts.confirmEmail(operator, id)));
  withAccount(account.command('set-role'))
    .addArgument(new Argument('<role>', 'new role').choices(['user', 'admin']))
    .description('Set the role of an account. An administrator needs a verified email address.')
    .examples('keyreeve account set-role you@example.com admin')
    .action(setRole);
  withLimitChanges(account.command('set-limits').argument(...accountArgument))
    .description('Limit all API keys of an account together. The command keeps a limit that it does not name.')
    .json()
    .examples(
      'keyreeve account set-limits you@example.com --rate 6000/minute --burst 500 --quota 1000000/month',
      'keyreeve account set-limits you@example.com --clear-quota',
    )
    .action(setLimits);
  withAccount(account.command('entitlements'))
    .description('List or set the entitlements of an account.')
    .option('--set <scopes>', 'replace them by these scopes, separated by commas')
    .addOption(new Option('--clear', 'remove all of them').conflicts('set'))
    .documentedIn('docs/scopes.md')
    .examples(
      'keyreeve account entitlements you@example.com',
      'keyreeve account entitlements you@example.com --set reports:read,exports:create',
    )
    .action(entitlements);
  withAccount(account.command('require-second-factor'))
    .description('Require a second factor. Until it is enrolled, sessions permit nothing else; API keys still work.')
    .examples('keyreeve account require-second-factor you@example.com')
    .action(
      changing('Required a second factor of', ({ accounts }, { id }) =>
        accounts.requireSecondFactor(operator, id, true),
      ),
    );
  withAccount(account.command('waive-second-factor'))
    .description('Stop requiring a second factor. An enrolled second factor stays in force.')
    .examples('keyreeve account waive-second-factor you@example.com')
    .action(
      changing('Waived the second factor of', ({ accounts }, { id }) =>
        accounts.requireSecondFactor(operator, id, false),
      ),
    );
  withAccount(account.command('remove-second-factor'))
    .description(
      'Remove a lost second factor with all passkeys, and end all sessions. Verify the identity of the owner first.',
    )
    .examples('keyreeve account remove-second-factor you@example.com')
    .action(
      changing('Removed the second factor of', ({ administration }, { id }) =>
        administration.removeSecondFactor(operator, id, 'localhost'),
      ),
    );
  addPasskeyCommands(account);
  addIdentityCommands(account);
  withAccount(account.command('delete'))
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
  const account = await withInstallation({ mayCreate: true }, ({ accounts }) =>
    accounts.create(operator, email, password, role),
  );
  printAccount(options, account, 'Created', isGenerated ? password.reveal() : undefined);
}

async function show(text: string, options: OutputOptions): Promise<void> {
  const shown = await withInstallation({}, async (context) => withLimits(context, await context.accounts.find(text)));
  printLimits(options, shown, '');
}

async function setLimits(text: string, options: OutputOptions & LimitChangeOptions): Promise<void> {
  const patch = parseLimits(options);
  if (Object.keys(patch).length === 0) throw new UsageError('name a limit, for example --rate 600/minute; see --help');
  const shown = await withInstallation({}, async (context) => {
    const { id } = await context.accounts.find(text);
    await context.administration.changeLimits(operator, id, patch);
    return withLimits(context, await context.accounts.findById(id));
  });
  printLimits(options, shown, 'Set the limits of');
}

interface LimitedAccount {
  readonly account: Account;
  readonly limits: KeyLimits | null;
  readonly quotaUse: QuotaUse | null;
}

async function withLimits({ directory }: CommandContext, account: Account): Promise<LimitedAccount> {
  const { limits, quotaUse } = await directory.read(account.id);
  return { account, limits, quotaUse };
}

function printLimits(options: OutputOptions, { account, limits, quotaUse }: LimitedAccount, done: string): void {
  const limitsText = `rate ${rateText(limits?.rate)}; quota ${quotaText(limits?.quota, quotaUse)}`;
  const lines = [
    lineOf(account, done),
    ...(limits === null && done === '' ? [] : [`Limits of all its API keys together: ${limitsText}.`]),
  ];
  print(options, { ...toJson(account), limits, quotaUse }, lines.join('\n'));
}

async function setPassword(text: string, options: PasswordCommandOptions): Promise<void> {
  // Before it asks for a password.
  await withInstallation({}, async ({ accounts }) => accounts.findPerson((await accounts.find(text)).id));
  const { password, isGenerated } = await obtainPassword(options);
  const account = await afterChange(text, ({ accounts }, { id }) => accounts.setPassword(operator, id, password));
  printAccount(options, account, 'Set the password of', isGenerated ? password.reveal() : undefined);
}

async function setEmail(text: string, email: string, options: OutputOptions): Promise<void> {
  const { account, expiresAt } = await withInstallation({}, async ({ accounts, emailSetting }) => {
    const found = await accounts.find(text);
    return { account: found, expiresAt: toInstant(await emailSetting.request(operator, found.id, email)) };
  });
  const line = `A mail with a link is being sent to ${email}. The link is valid until ${expiresAt}. Account ${account.email} (${account.id}) keeps its email address until the link is used.`;
  print(options, { ...toJson(account), requestedEmail: email, expiresAt }, line);
}

async function setRole(text: string, role: Role, options: OutputOptions): Promise<void> {
  const account = await afterChange(text, ({ accounts }, { id }) => accounts.setRole(operator, id, role));
  printAccount(options, account, 'Set the role of');
}

async function entitlements(
  text: string,
  { set, clear = false, ...options }: OutputOptions & { set?: string; clear?: boolean },
): Promise<void> {
  const names = clear ? [] : set?.split(',');
  const { account, held } = await withInstallation({}, async ({ accounts, entitlements: service }) => {
    const found = await accounts.find(text);
    if (names) await service.set(operator, found.id, names);
    return { account: found, held: await service.list(found.id) };
  });
  const line = `Account ${labelOf(account)} has ${held.length === 0 ? 'no entitlements' : `the entitlements ${held.join(', ')}`}.`;
  print(options, { id: account.id, entitlements: held }, line);
}

const list = (options: OutputOptions): Promise<void> =>
  withInstallation({}, ({ accounts }) =>
    printList(options, accounts.list(), {
      head: ['EMAIL OR NAME', 'ID', 'ROLE', 'STATE', 'CREATED'],
      cells: (account) => [
        account.name ?? account.email,
        account.id,
        kindOf(account),
        stateOf(account),
        toInstant(account.createdAt),
      ],
      json: ({ name, ...account }) => ({ ...toJson(account), name }),
      end: (count) => plural(count, 'account'),
    }),
  );

/** @returns the account after the change */
const afterChange = (
  idOrEmail: string,
  apply: (context: CommandContext, account: Account) => Promise<void>,
): Promise<Account> =>
  withInstallation({}, async (context) => {
    const account = await context.accounts.find(idOrEmail);
    await apply(context, account);
    return context.accounts.findById(account.id);
  });

/** The action of a command that changes an account and prints it. */
const changing =
  (done: string, apply: Parameters<typeof afterChange>[1]) =>
  async (text: string, options: OutputOptions): Promise<void> =>
    printAccount(options, await afterChange(text, apply), done);

async function remove(text: string, options: OutputOptions & { yes?: boolean }): Promise<void> {
  const account = await withInstallation({}, async ({ accounts, apiKeys }) => {
    const found = await accounts.find(text);
    const keys = plural((await apiKeys.list(found.id)).length, 'API key');
    await confirm(`Account ${found.email} will be deleted with ${keys}. This cannot be undone.`, options);
    await accounts.delete(operator, found.id);
    return found;
  });
  printAccount(options, account, 'Deleted');
}

function printAccount(options: OutputOptions, account: Account, done: string, password?: string): void {
  const value = { ...toJson(account), ...(password === undefined ? {} : { password }) };
  const lines = [
    lineOf(account, done),
    ...(password === undefined ? [] : [`Password: ${password}`, 'It is shown only once.']),
  ];
  print(options, value, lines.join('\n'));
}

const lineOf = (account: Account, done: string): string =>
  isService(account)
    ? serviceLineOf(account, done)
    : `${done === '' ? 'Account' : `${done} account`} ${labelOf(account)}, ${kindOf(account)}, ${stateOf(account)}${account.requiresSecondFactor === 1 ? ', second factor required' : ''}.`;

const serviceLineOf = (account: Account, done: string): string =>
  done === '' ? `Service account ${account.id}, ${stateOf(account)}.` : `${done} service account ${account.id}.`;

const kindOf = (account: Account): string => (isService(account) ? 'service' : account.role);
const stateOf = ({ disabledAt }: Account): string => (disabledAt === null ? 'enabled' : 'disabled');

const toJson = ({ id, email, role, createdAt, updatedAt, disabledAt }: Account) => ({
  id,
  email: isService({ id, email }) ? null : email,
  role,
  createdAt: toInstant(createdAt),
  updatedAt: toInstant(updatedAt),
  disabledAt: disabledAt === null ? null : toInstant(disabledAt),
});
