/** `keyreeve signing-key …` */
import { Command } from 'commander';
import { limits } from '@keyreeve/contract';
import { toInstant } from '../foundation/clock.ts';
import { jsonHelp, print, table, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

export function signingKeyCommand(): Command {
  const signingKey = new Command('signing-key').description('The keys that sign access tokens.');
  signingKey.command('list').description('List them with their states.').option('--json', jsonHelp).action(list);
  signingKey
    .command('rotate')
    .description(
      `Make the next key. It signs in ${limits.signingKeyLeadSeconds / 60} minutes, when others have fetched it.`,
    )
    .option('--now', 'sign with it at once and revoke all others: ends every access token there is (for a leaked key)')
    .option('--json', jsonHelp)
    .action(rotate);
  return signingKey;
}

async function list(options: OutputOptions): Promise<void> {
  const keys = await withInstallation({}, ({ signingKeys }) => signingKeys.list());
  const rows = keys.map(({ kid, alg, state, createdAt, activatesAt }) => [
    kid,
    alg,
    state,
    toInstant(createdAt),
    toInstant(activatesAt),
  ]);
  const values = keys.map(({ createdAt, activatesAt, revokedAt, ...key }) => ({
    ...key,
    createdAt: toInstant(createdAt),
    activatesAt: toInstant(activatesAt),
    revokedAt: revokedAt === null ? null : toInstant(revokedAt),
  }));
  print(options, values, table(['KID', 'ALG', 'STATE', 'CREATED', 'SIGNS FROM'], rows));
}

async function rotate(options: OutputOptions & { now?: boolean }): Promise<void> {
  const { now: immediately = false } = options;
  const kid = await withInstallation({}, ({ signingKeys }) => signingKeys.rotate(operator, { immediately }));
  const text = immediately
    ? `Signing with ${kid} from now on. All other keys are revoked; every access token has ended, refresh tokens still work.`
    : `Made ${kid}. It is published now and signs in ${limits.signingKeyLeadSeconds / 60} minutes.`;
  print(options, { kid, isActive: immediately }, text);
}
