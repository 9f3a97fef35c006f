/** `keyreeve account …` */
import { Argument, Command } from 'commander';
import type { Account, Role } from '../modules/accounts/accounts.ts';
import { toInstant } from '../foundation/clock.ts';
import { confirm, yesHelp } from './confirm.ts';
import { jsonHelp, plural, print, table, type OutputOptions } from './output.ts';
import { obtainPassword, type PasswordOptions } from './password-input.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

type PasswordCommandOptions = OutputOptions & PasswordOptions;

const who = ['<account>', 'email or id'] as const;

export function accountCommand(): Command {
  const account = new Command('account').description('Make and manage accounts.');
  withPassword(
    account.command('create').argument('<email>').description('Make an account; its email counts as verified.'),
  )
    .option('--admin', 'give it the role of an administrator')
    .action(create);
  account.command('list').description('List all accounts.').option('--json', jsonHelp).action(list);
  account
    .command('show')
    .argument(...who)
    .description('Show one account.')
    .option('--json', jsonHelp)
    .action(show);
  account
    .command('disable')
    .argument(...who)
    .description('End its sessions and pause its keys, at once.')
    .option('--json', jsonHelp)
    .action((text: string, options: OutputOptions) => change(text, options, 'disable', 'Disabled'));
  account
    .command('enable')
    .argument(...who)
    .description('Let it sign in again; its keys work again.')
    .option('--json', jsonHelp)
    .action((text: string, options: OutputOptions) => change(text, options, 'enable', 'Enabled'));
  account
    .command('set-email')
    .argument(...who)
    .argument('<email>', 'the new address, which gets a link and confirms first')
    .description(
      'Set a new email address, for an owner who has lost the mailbox. Nothing changes until it is confirmed.',
    )
    .option('--json', jsonHelp)
    .action(setEmail);
  account
    .command('confirm-email')
    .argument(...who)
    .description(
      'After a restore: confirm that the email address is the owner’s, so that password resets are sent again.',
    )
    .option('--json', jsonHelp)
    .action((text: string, options: OutputOptions) =>
      change(text, options, 'confirmEmail', 'Confirmed the email address of'),
    );
  account
    .command('set-role')
    .argument(...who)
    .addArgument(new Argument('<role>', 'what it may do').choices(['user', 'admin']))
    .description('Make it an administrator, or a user again; its email must be verified.')
    .option('--json', jsonHelp)
    .action(setRole);
  account
    .command('require-second-factor')
    .argument(...who)
    .description('Until it has enrolled one, its sessions are good for nothing else; its keys go on working.')
    .option('--json', jsonHelp)
    .action((text: string, options: OutputOptions) => requireSecondFactor(text, options, true));
  account
    .command('waive-second-factor')
    .argument(...who)
    .description('No longer require one; what is enrolled stays in force.')
    .option('--json', jsonHelp)
    .action((text: string, options: OutputOptions) => requireSecondFactor(text, options, false));
  account
    .command('remove-second-factor')
    .argument(...who)
    .description('For an owner who has lost it and has shown who they are; ends its sessions.')
    .option('--json', jsonHelp)
    .action(removeSecondFactor);
  account
    .command('delete')
    .argument(...who)
    .description('Delete an account with its sessions and API keys. This cannot be undone.')
    .option('--yes', yesHelp)
    .option('--json', jsonHelp)
    .action(remove);
  withPassword(
    account
      .command('set-password')
      .argument(...who)
      .description('Set a new password; ends its sessions.'),
  ).action(setPassword);
  return account;
}

function withPassword(command: Command): Command {
  return command
    .option('--password-stdin', 'read the password from standard input')
    .option('--generate', 'make a password and print it')
    .option('--json', jsonHelp);
}

async function create(email: string, options: PasswordCommandOptions & { admin?: boolean }): Promise<void> {
  const { password, isGenerated } = await obtainPassword(options);
  const role = options.admin ? 'admin' : 'user';
  const account = await withInstallation({ mayCreate: true }, ({ accounts }) =>
    accounts.create(operator, email, password, role),
  );
  tell(options, account, 'Created', isGenerated ? password.reveal() : undefined);
}

async function show(text: string, options: OutputOptions): Promise<void> {
  tell(options, await withInstallation({}, ({ accounts }) => accounts.find(text)), '');
}

async function setPassword(text: string, options: PasswordCommandOptions): Promise<void> {
  const { password, isGenerated } = await obtainPassword(options);
  const account = await changed(text, ({ accounts }, { id }) => accounts.setPassword(operator, id, password));
  tell(options, account, 'Set the password of', isGenerated ? password.reveal() : undefined);
}

async function setEmail(text: string, email: string, options: OutputOptions): Promise<void> {
  const { account, expiresAt } = await withInstallation({}, async ({ accounts, emailSetting }) => {
    const found = await accounts.find(text);
    return { account: found, expiresAt: toInstant(await emailSetting.request(operator, found.id, email)) };
  });
  const line = `A link is on its way to ${email}, good until ${expiresAt}. Account ${account.email} (${account.id}) keeps its email until the link is used.`;
  print(options, { ...toJson(account), requestedEmail: email, expiresAt }, line);
}

async function setRole(text: string, role: Role, options: OutputOptions): Promise<void> {
  const account = await changed(text, ({ accounts }, { id }) => accounts.setRole(operator, id, role));
  tell(options, account, 'Set the role of');
}

async function requireSecondFactor(text: string, options: OutputOptions, isRequired: boolean): Promise<void> {
  const account = await changed(text, ({ accounts }, { id }) => accounts.requireSecondFactor(operator, id, isRequired));
  tell(options, account, isRequired ? 'Required a second factor of' : 'Waived the second factor of');
}

async function removeSecondFactor(text: string, options: OutputOptions): Promise<void> {
  const account = await changed(text, ({ administration }, { id }) =>
    administration.removeSecondFactor(operator, id, 'localhost'),
  );
  tell(options, account, 'Removed the second factor of');
}

async function list(options: OutputOptions): Promise<void> {
  const all = await withInstallation({}, ({ accounts }) => Array.fromAsync(accounts.list()));
  const rows = all.map((account) => [
    account.email,
    account.id,
    account.role,
    stateOf(account),
    toInstant(account.createdAt),
  ]);
  const text = `${table(['EMAIL', 'ID', 'ROLE', 'STATE', 'CREATED'], rows)}\n${plural(all.length, 'account')}`;
  print(options, all.map(toJson), text);
}

async function change(
  text: string,
  options: OutputOptions,
  operation: 'disable' | 'enable' | 'confirmEmail',
  done: string,
): Promise<void> {
  const account = await changed(text, ({ accounts }, { id }) => accounts[operation](operator, id));
  tell(options, account, done);
}

/** @returns the account as it is afterwards */
const changed = (
  idOrEmail: string,
  apply: (context: CommandContext, account: Account) => Promise<void>,
): Promise<Account> =>
  withInstallation({}, async (context) => {
    const account = await context.accounts.find(idOrEmail);
    await apply(context, account);
    return context.accounts.findById(account.id);
  });

async function remove(text: string, options: OutputOptions & { yes?: boolean }): Promise<void> {
  const account = await withInstallation({}, async ({ accounts, apiKeys }) => {
    const found = await accounts.find(text);
    const keys = plural((await apiKeys.list(found.id)).length, 'API key');
    await confirm(`Account ${found.email} is deleted with ${keys}. This cannot be undone.`, options);
    await accounts.delete(operator, found.id);
    return found;
  });
  tell(options, account, 'Deleted');
}

function tell(options: OutputOptions, account: Account, done: string, password?: string): void {
  const value = { ...toJson(account), ...(password === undefined ? {} : { password }) };
  const lines = [
    `${done === '' ? 'Account' : `${done} account`} ${account.email} (${account.id}), ${account.role}, ${stateOf(account)}${account.requiresSecondFactor === 1 ? ', second factor required' : ''}.`,
    ...(password === undefined ? [] : [`Password: ${password}`, 'It is shown this once.']),
  ];
  print(options, value, lines.join('\n'));
}

const stateOf = ({ disabledAt }: Account): string => (disabledAt === null ? 'enabled' : 'disabled');

const toJson = ({ id, email, role, createdAt, updatedAt, disabledAt }: Account) => ({
  id,
  email,
  role,
  createdAt: toInstant(createdAt),
  updatedAt: toInstant(updatedAt),
  disabledAt: disabledAt === null ? null : toInstant(disabledAt),
});
