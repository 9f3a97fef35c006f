/** `keyreeve account link-sso` and `unlink-sso`: identities of single sign-on, for an operator. */
import type { Account } from '../modules/accounts/accounts.ts';
import { isIdentifier } from '../modules/single-sign-on/claims.ts';
import type { Identities } from '../modules/single-sign-on/identities.ts';
import type { CliCommand } from './command.ts';
import { UsageError } from './failure.ts';
import { print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

const accountArgument = ['<account>', 'email address or id'] as const;

export function addIdentityCommands(account: CliCommand): void {
  account
    .command('link-sso')
    .argument(...accountArgument)
    .argument('<subject>', 'subject (`sub`) at the OpenID provider, which the page of the refused sign-in shows')
    .description('Link an account to an identity at the OpenID provider, which then signs in to it.')
    .json()
    .documentedIn('docs/single-sign-on.md')
    .examples('keyreeve account link-sso you@example.com 24400320')
    .action(link);
  account
    .command('unlink-sso')
    .argument(...accountArgument)
    .description('Unlink an account from its identities at OpenID providers, and end its sessions.')
    .json()
    .documentedIn('docs/single-sign-on.md')
    .examples('keyreeve account unlink-sso you@example.com')
    .action(unlink);
}

async function link(text: string, subject: string, options: OutputOptions): Promise<void> {
  if (!isIdentifier(subject)) throw new UsageError('the subject must be 1 to 255 printable characters');
  const { account, issuer } = await withIdentities(text, async (identities, { id }) => {
    if (!(await identities.link(operator, id, subject)))
      throw new UsageError(
        'the identity is linked already, or the account has another one; run `keyreeve account unlink-sso` first',
      );
  });
  const { id, email } = account;
  print(
    options,
    { id, email, issuer, subject },
    `Linked account ${email} (${id}) to the subject ${subject} of ${issuer}.`,
  );
}

async function unlink(text: string, options: OutputOptions): Promise<void> {
  const { account } = await withIdentities(text, async (identities, { id }) => {
    if (!(await identities.unlink(operator, id))) throw new UsageError('the account has no identity of single sign-on');
  });
  const { id, email } = account;
  print(options, { id, email }, `Unlinked account ${email} (${id}) from its identities, and ended its sessions.`);
}

/** @returns the account, and the issuer of the configured provider */
const withIdentities = (
  text: string,
  run: (identities: Identities, account: Account) => Promise<void>,
): Promise<{ readonly account: Account; readonly issuer: string }> =>
  withInstallation({}, async ({ accounts, singleSignOn }) => {
    if (!singleSignOn) throw new UsageError('single sign-on is not configured; set KEYREEVE_SSO_ISSUER');
    const account = await accounts.find(text);
    await run(singleSignOn.identities, account);
    return { account, issuer: singleSignOn.identities.issuer };
  });
