/** `keyreeve journal …` */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { replayOnLive } from '../modules/backup/replay-on-live.ts';
import type { ReplayResult } from '../modules/backup/replay.ts';
import { systemClock } from '../foundation/clock.ts';
import { UsageError } from './failure.ts';
import { collect, jsonHelp, plural, print, type OutputOptions } from './output.ts';
import { operator, withInstallation } from './session.ts';

interface ReplayCommandOptions extends OutputOptions {
  readonly journal?: readonly string[];
  readonly dryRun?: boolean;
}

export function journalCommand(): Command {
  const journal = new Command('journal').description('The journal of deletions, apart from the database.');
  journal
    .command('replay')
    .description(
      'Delete and take away again in the running database what it has lost, after a failover or a copy of its files.',
    )
    .option('--journal <folder>', 'a further journal of deletions; may be given several times', collect)
    .option('--dry-run', 'say what would be deleted; change nothing')
    .option('--json', jsonHelp)
    .action(replay);
  return journal;
}

async function replay({ journal: folders = [], dryRun: isDryRun = false, ...options }: ReplayCommandOptions) {
  const result = await withInstallation({}, async ({ installation: { db, keys }, journal }) => {
    if (!journal && folders.length === 0) {
      throw new UsageError('there is no journal: set KEYREEVE_DELETION_JOURNAL, or name its folder with --journal');
    }
    const journalFolders = folders.map((folder) => resolve(folder));
    return replayOnLive(operator, { db, keys, clock: systemClock, journal, journalFolders, isDryRun });
  });
  const { journalCompleteUntil } = result;
  const head = isDryRun ? 'Nothing was changed. The journal of deletions would do' : 'From the journal of deletions';
  const text = [`${head}: ${describeReplayed(result)}`, describeReach(journalCompleteUntil)].join('\n');
  print(options, { ...result, isDryRun }, text);
}

/** Sentences, the first of which completes another one. */
export function describeReplayed({ replayed, unconfirmed }: ReplayResult): string {
  const { apiKeys, accounts, signingKeys, accountsDisabled } = replayed;
  const { rolesRemoved, secondFactorsRemoved, recoveryCodesUsed, recoveryCodesReplaced, passwordsVoided } = replayed;
  const { secondFactorsRequired, webhooksDeleted, webhooksDisabled } = replayed;
  const deleted = `${plural(apiKeys, 'key')} and ${plural(accounts, 'account')} deleted again, ${plural(accountsDisabled, 'account')} disabled again, ${plural(signingKeys, 'signing key')} revoked again.`;
  const removed = [
    ...some(rolesRemoved, 'administrator role'),
    ...some(secondFactorsRemoved, 'second factor'),
    ...some(recoveryCodesUsed, 'used recovery code'),
    ...(recoveryCodesReplaced > 0 ? [`replaced recovery codes of ${plural(recoveryCodesReplaced, 'account')}`] : []),
    ...some(webhooksDeleted, 'webhook endpoint'),
  ];
  return [
    deleted,
    ...(removed.length > 0 ? [`Removed again: ${removed.join(', ')}.`] : []),
    ...(webhooksDisabled > 0 ? [`Disabled again: ${plural(webhooksDisabled, 'webhook endpoint')}.`] : []),
    ...(secondFactorsRequired > 0
      ? [`A second factor is required again of ${plural(secondFactorsRequired, 'account')}.`]
      : []),
    ...(passwordsVoided > 0
      ? [
          `Passwords voided because they had been changed: ${passwordsVoided}. Their owners choose new ones by “forgot password”, or you run \`keyreeve account set-password\`.`,
        ]
      : []),
    ...(unconfirmed.length > 0
      ? [
          `Email addresses that had been changed and are the old ones again: ${unconfirmed.length}. No password reset is sent there until the owner changes the address, or you have asked the owner and run \`keyreeve account confirm-email <id>\`:`,
          ...unconfirmed.map((id) => `  ${id}`),
        ]
      : []),
  ].join('\n');
}

const some = (count: number, noun: string): string[] => (count > 0 ? [plural(count, noun)] : []);

export const describeReach = (completeUntil: string | null): string =>
  completeUntil === null
    ? 'Nothing is known of how complete the journal is.'
    : `The journal is known to be complete until ${completeUntil}. What was deleted later on an instance whose journal was not named is not in it.`;
