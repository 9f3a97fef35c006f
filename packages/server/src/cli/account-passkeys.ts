/** `keyreeve account passkeys`: the passkeys of an account, for an operator. `remove-second-factor` removes them. */
import type { CliCommand } from './command.ts';
import { plural, print, table, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

export function addPasskeyCommands(account: CliCommand): void {
  account
    .command('passkeys')
    .argument('<account>', 'email address or id')
    .description('List the passkeys of an account.')
    .json()
    .documentedIn('docs/passkeys.md')
    .examples('keyreeve account passkeys you@example.com')
    .action(list);
}

async function list(text: string, options: OutputOptions): Promise<void> {
  const passkeys = await withInstallation({}, async (context) => {
    const { id } = await context.accounts.find(text);
    return context.passkeys.listOf(id);
  });
  const rows = passkeys.map(({ id, name, createdAt, lastUsedAt, usable }) => [
    id,
    name,
    createdAt,
    lastUsedAt ?? 'never',
    usable ? 'usable' : 'other relying party id',
  ]);
  const shown = table(['ID', 'NAME', 'CREATED', 'LAST USED', 'STATE'], rows);
  print(options, passkeys, `${shown}\n${plural(passkeys.length, 'passkey')}`);
}
