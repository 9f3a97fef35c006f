/** `keyreeve root-key …`: rotates the root key after a leak. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { processEnvironment, readConfig } from '../app/configuration/config.ts';
import { rotateInstallation, type RotationResult } from '../app/key-files/root-key-rotation.ts';
import { systemClock } from '../foundation/clock.ts';
import { describeDatabase } from '../foundation/database/database.ts';
import { CliCommand } from './command.ts';
import { confirm, yesHelp } from './confirm.ts';
import { collect, plural, print, type OutputOptions } from './output.ts';
import { operator } from './session.ts';

interface RotateCommandOptions extends OutputOptions {
  readonly journal?: readonly string[];
  readonly endedInstance?: readonly string[];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function rootKeyCommand(): Command {
  const rootKey = new CliCommand('root-key')
    .group('recover')
    .description('Rotate the root key after a leak.')
    .references('docs/master-key.md', 'database', 'masterKey', 'deletionJournal');
  rootKey
    .command('rotate')
    .description(
      'Replace the root key while the service is stopped. All sessions, portal sessions, access tokens and one-time codes end; passwords, API keys, passkeys and second factors stay.',
    )
    .option('--journal <folder>', 'further deletion journal of the installation (repeatable)', collect)
    .option('--ended-instance <id>', 'instance that has ended, with a last time in the future (repeatable)', collect)
    .option('--dry-run', 'print what would change; change nothing')
    .option('--yes', yesHelp)
    .json()
    .examples('keyreeve root-key rotate --dry-run', 'keyreeve root-key rotate')
    .action(rotate);
  return rootKey;
}

async function rotate(options: RotateCommandOptions): Promise<void> {
  const { journal: folders = [], endedInstance: endedInstances = [], dryRun: isDryRun = false } = options;
  const config = readConfig(processEnvironment());
  if (!isDryRun)
    await confirm(`All sessions and access tokens of ${describeDatabase(config.database)} will end.`, options);
  const journalFolders = folders.map((folder) => resolve(folder));
  const rotation = { clock: systemClock, journalFolders, endedInstances, isDryRun };
  const result = await rotateInstallation(operator, config, rotation);
  print(options, { ...result, isDryRun }, describe(result, isDryRun));
}

function describe(result: RotationResult, isDryRun: boolean): string {
  const { version, signingKeysRevoked, oneTimeCodesDeleted, valuesResealed, valuesUnreadable } = result;
  const { journalFiles, warnings } = result;
  const ended = [
    plural(result.sessionsEnded, 'session'),
    plural(result.portalSessionsEnded, 'portal session'),
    plural(result.shortLivedSecretsEnded, 'short-lived secret'),
  ];
  const head = isDryRun
    ? `Nothing was changed. The rotation would create version ${version} of the root key:`
    : `The root key has version ${version} now:`;
  return [
    head,
    `  ended: ${ended.join(', ')}`,
    `  revoked: ${plural(signingKeysRevoked, 'signing key')}`,
    `  deleted: ${plural(oneTimeCodesDeleted, 'one-time code')}`,
    `  sealed again: ${plural(valuesResealed, 'secret')}`,
    ...(isDryRun ? [] : [`  confirmed: ${plural(journalFiles, 'file')} of the deletion journal`]),
    ...(valuesUnreadable > 0 ? [`Secrets that were damaged before, and stay unusable: ${valuesUnreadable}.`] : []),
    ...warnings.map((warning) => `Warning: ${warning}.`),
    ...(isDryRun ? [] : ['Make a backup now, delete the earlier ones, then start the service.']),
  ].join('\n');
}
