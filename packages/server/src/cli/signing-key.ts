/** `keyreeve signing-key …`: lists and rotates signing keys. */
import type { Command } from 'commander';
import { limits } from '@keyreeve/contract';
import { CliCommand } from './command.ts';
import { print, table, type OutputOptions } from './output.ts';
import { withOperations } from './operations/operations.ts';

export function signingKeyCommand(): Command {
  const signingKey = new CliCommand('signing-key')
    .group('operate')
    .description('List and rotate the keys that sign access tokens.')
    .references('docs/operating.md', 'database', 'masterKey', 'jwtAlg');
  signingKey
    .command('list')
    .description('List the signing keys with their states.')
    .json()
    .remote('administrator')
    .examples('keyreeve signing-key list')
    .action(list);
  signingKey
    .command('rotate')
    .description(
      `Create the next signing key. It signs ${limits.signingKeyLeadSeconds / 60} minutes later, when other services have fetched it.`,
    )
    .option('--now', 'sign with the new key immediately and revoke all others: all access tokens become invalid')
    .json()
    .remote('administrator')
    .examples('keyreeve signing-key rotate', 'keyreeve signing-key rotate --now')
    .action(rotate);
  return signingKey;
}

async function list(options: OutputOptions): Promise<void> {
  const keys = await withOperations((to) => to.signingKeys.list());
  const rows = keys.map(({ kid, alg, state, createdAt, activatesAt }) => [kid, alg, state, createdAt, activatesAt]);
  print(options, keys, table(['KID', 'ALG', 'STATE', 'CREATED', 'SIGNS FROM'], rows));
}

async function rotate(options: OutputOptions & { now?: boolean }): Promise<void> {
  const { now: immediately = false } = options;
  const { kid } = await withOperations((to) => to.signingKeys.rotate(immediately));
  const text = immediately
    ? `Created ${kid}, which signs from now on. All other signing keys are revoked. All access tokens are invalid; refresh tokens still work.`
    : `Created ${kid}. It is published now and signs in ${limits.signingKeyLeadSeconds / 60} minutes.`;
  print(options, { kid, isActive: immediately }, [text]);
}
