/** `keyreeve key usage`: how often verifications accepted and refused an API key, for an operator. */
import { Option } from 'commander';
import { limits, type UsageEntry, type UsageQuery } from '@keyreeve/contract';
import { toInstant } from '../foundation/clock.ts';
import type { CliCommand } from './command.ts';
import { ownerOption } from './key-input.ts';
import { withOperations } from './operations/operations.ts';
import { plural, print, table, type OutputOptions } from './output.ts';
import { parseTime } from './time.ts';

interface UsageOptions extends OutputOptions {
  readonly account?: string;
  readonly step: 'hour' | 'day';
  readonly from?: string;
  readonly to?: string;
}

export function addUsageCommand(key: CliCommand): void {
  key
    .command('usage')
    .remote('management_key')
    .argument('<id>', 'id of the key')
    .option(...ownerOption)
    .description('Show how often an API key was accepted and refused.')
    .addOption(new Option('--step <step>', 'period of each line, in UTC').choices(['hour', 'day']).default('hour'))
    .option('--from <time>', 'start in RFC 3339 (default: 24 hours or 30 days before the end)')
    .option('--to <time>', `end in RFC 3339, at most ${limits.usageRowsMax} hours or days later (default: now)`)
    .json()
    .examples(
      'keyreeve key usage 3920480220219155',
      'keyreeve key usage 3920480220219155 --step day --from 2026-11-01T00:00:00Z --to 2026-12-01T00:00:00Z',
    )
    .action(usage);
}

async function usage(idText: string, options: UsageOptions): Promise<void> {
  const { step, from, to } = options;
  const query: UsageQuery = {
    step,
    ...(from === undefined ? {} : { from: toInstant(parseTime(from, '--from')) }),
    ...(to === undefined ? {} : { to: toInstant(parseTime(to, '--to')) }),
  };
  const { usage: entries, uncounted } = await withOperations(async ({ keys }) =>
    keys.usage(await keys.find(idText, options.account), query),
  );
  print(options, entries, usageText(entries, step));
  if (uncounted > 0) process.stderr.write(incomplete(uncounted));
}

const incomplete = (uncounted: number): string =>
  `keyreeve: the usage can be incomplete: ${plural(uncounted, 'verification')} of any keys in this period could not be counted\n`;

/** A line for each hour or day with verifications, and their sum. */
export function usageText(entries: readonly UsageEntry[], step: 'hour' | 'day'): string {
  const timeOf = (at: string): string => (step === 'hour' ? `${at.slice(0, 16)}Z` : at.slice(0, 10));
  const sum = (name: 'accepted' | 'refused'): string =>
    String(entries.reduce((total, entry) => total + entry[name], 0));
  const rows = entries.map(({ at, accepted, refused }) => [timeOf(at), String(accepted), String(refused)]);
  return table([step.toUpperCase(), 'ACCEPTED', 'REFUSED'], [...rows, ['total', sum('accepted'), sum('refused')]]);
}
