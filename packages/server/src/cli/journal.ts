/** `keyreeve journal …` */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { replayOnLive } from '../backup/replay-on-live.ts';
import type { Replayed } from '../deletion-journal/replay.ts';
import { systemClock } from '../clock.ts';
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
    .description('Delete again in the running database what it has forgotten, after a failover or a copy of its files.')
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
  const { replayed, journalCompleteUntil } = result;
  const head = isDryRun ? 'Nothing was changed. The journal of deletions would do' : 'From the journal of deletions';
  const text = `${head}: ${describeReplayed(replayed)}.\n${describeReach(journalCompleteUntil)}`;
  print(options, { ...result, isDryRun }, text);
}

export const describeReplayed = ({ apiKeys, accounts, signingKeys, accountsDisabled }: Replayed): string =>
  `${plural(apiKeys, 'key')} and ${plural(accounts, 'account')} deleted again, ${plural(accountsDisabled, 'account')} disabled again, ${plural(signingKeys, 'signing key')} revoked again`;

export const describeReach = (completeUntil: string | null): string =>
  completeUntil === null
    ? 'Nothing is known of how complete the journal is.'
    : `The journal is known to be complete until ${completeUntil}. What was deleted later on an instance whose journal was not named is not in it.`;
