/** `keyreeve --url … login` and `logout`: the session of an administrator at a remote service. */
import type { Command } from 'commander';
import type { Service } from '@keyreeve/client/account';
import { Secret } from '../foundation/crypto/secret.ts';
import { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { promptSecret, readStandardInput } from './password-input.ts';
import { AdministratorSession } from './remote/administrator-session.ts';
import { promptOneTimePassword, signInAsAdministrator, type SignInInput } from './remote/sign-in.ts';
import { serviceOfTarget } from './remote/target.ts';

interface LoginOptions extends OutputOptions {
  readonly passwordStdin?: boolean;
}

export function loginCommand(): Command {
  return new CliCommand('login')
    .group('daily')
    .remote('session')
    .description('Sign in as an administrator of the service at --url. Asks for the password and the second factor.')
    .argument('<email>', 'email address of the administrator')
    .option('--password-stdin', 'read the password from standard input, and a one-time code from its second line')
    .json()
    .examples('keyreeve login you@example.com --url https://auth.example.com')
    .references('docs/administration.md')
    .action(login);
}

export function logoutCommand(): Command {
  return new CliCommand('logout')
    .group('daily')
    .remote('session')
    .description('End the session at the service at --url.')
    .json()
    .examples('keyreeve logout --url https://auth.example.com')
    .references('docs/administration.md')
    .action(logout);
}

async function login(email: string, options: LoginOptions): Promise<void> {
  const service = requiredService();
  const input = options.passwordStdin ? await inputOfLines() : await inputOfTerminal(email, service);
  const session = await signInAsAdministrator(service, email, input);
  await new AdministratorSession(service).replace(session);
  print(options, { url: service.url, accountId: session.accountId, email }, [
    `Signed in to ${service.url} as ${email}.`,
  ]);
}

async function logout(options: OutputOptions): Promise<void> {
  const service = requiredService();
  const { email } = await new AdministratorSession(service).end();
  print(options, { url: service.url, email, ended: true }, [`Signed out of ${service.url}.`]);
}

function requiredService(): Service {
  const service = serviceOfTarget();
  if (service) return service;
  throw new UsageError('name the service: --url https://auth.example.com');
}

async function inputOfTerminal(email: string, { url }: Service): Promise<SignInInput> {
  if (!process.stdin.isTTY)
    throw new UsageError(
      'standard input is not a terminal, so the command cannot ask for the password; use --password-stdin',
    );
  return { password: await promptSecret(`Password of ${email} at ${url}: `), oneTimePassword: promptOneTimePassword };
}

async function inputOfLines(): Promise<SignInInput> {
  const [password = '', code = ''] = (await readStandardInput()).reveal().split(/\r?\n/);
  return {
    password: new Secret(password),
    oneTimePassword: async () => {
      if (code !== '') return new Secret(code);
      throw new UsageError(
        'the account needs a second factor; write a one-time code to the second line of standard input',
      );
    },
  };
}
