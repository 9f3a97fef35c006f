/** `keyreeve session …`: the sessions of an account, for an operator. */
import { Argument, type Command } from 'commander';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { withOperations } from './operations/operations.ts';
import { plural, print, shorten, table, type OutputOptions } from './output.ts';

const accountArgument = ['<account>', 'email address or id'] as const;
const agentCharsMax = 40;

export function sessionCommand(): Command {
  const session = new CliCommand('session')
    .group('daily')
    .description('List and end the sessions of an account.')
    .references('docs/administration.md', 'database', 'masterKey');
  session
    .command('list')
    .remote('administrator')
    .argument(...accountArgument)
    .description('List the sessions of an account, newest first.')
    .json()
    .examples('keyreeve session list you@example.com')
    .action(list);
  session
    .command('end')
    .remote('administrator')
    .argument(...accountArgument)
    .addArgument(new Argument('[id]', 'id of the session'))
    .option('--all', 'end all sessions of the account')
    .description('End a session, or all sessions of an account. Its tokens are rejected immediately.')
    .json()
    .examples(
      'keyreeve session end you@example.com ses_7Hq2mXwZ0RkT5bLp1NvYcd',
      'keyreeve session end you@example.com --all',
    )
    .action(end);
  return session;
}

async function list(text: string, options: OutputOptions): Promise<void> {
  const found = await withOperations(async ({ accounts, sessions }) => sessions.list((await accounts.find(text)).id));
  // Without `current`, which is true for the session of a remote command.
  const shown = found.map(({ id, createdAt, lastUsedAt, expiresAt, clientIp, userAgent }) => ({
    id,
    createdAt,
    lastUsedAt,
    expiresAt,
    clientIp,
    userAgent,
  }));
  const rows = shown.map(({ id, createdAt, lastUsedAt, expiresAt, clientIp, userAgent }) => [
    id,
    createdAt,
    lastUsedAt,
    expiresAt,
    clientIp,
    shorten(userAgent, agentCharsMax),
  ]);
  const head = ['ID', 'CREATED', 'LAST USED', 'EXPIRES', 'CLIENT IP', 'USER AGENT'];
  print(options, shown, `${table(head, rows)}\n${plural(shown.length, 'session')}`);
}

async function end(text: string, id: string | undefined, options: OutputOptions & { all?: true }): Promise<void> {
  if ((id === undefined) !== (options.all === true)) throw new UsageError('name a session by its id, or add --all');
  const account = await withOperations(async ({ accounts, sessions }) => {
    const found = await accounts.find(text);
    await (id === undefined ? sessions.endAll(found.id) : sessions.end(found.id, id));
    return found;
  });
  const what = id === undefined ? 'all sessions' : `the session ${id}`;
  const value = { accountId: account.id, ...(id === undefined ? { all: true } : { id }), ended: true };
  print(options, value, [`Ended ${what} of account ${account.email ?? account.id}.`]);
}
