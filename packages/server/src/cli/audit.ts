/** `keyreeve audit …`: verifies, exports and cuts the audit log. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { Option, type Command } from 'commander';
import { systemClock, toInstant } from '../foundation/clock.ts';
import { findCheckpoints, type Checkpoint } from '../modules/audit/chain.ts';
import { exportFormats } from '../modules/audit/export.ts';
import { verifyLog, type Finding, type Verified } from '../modules/audit/verify-log.ts';
import { cutEvents, type CutOptions } from './audit-cut.ts';
import { exportEvents, type ExportOptions } from './audit-export.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { UsageError } from './failure.ts';
import { yesHelp } from './confirm.ts';
import { collect, plural, print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';
import { parseTimeOrDay } from './time.ts';

/** A week of checkpoints: `serve` logs at most one per minute. */
const checkpointsMax = 10_000;

interface VerifyOptions extends OutputOptions {
  readonly checkpoint?: readonly string[];
  readonly checkpoints?: string;
}

export function auditCommand(setStatus: SetStatus): Command {
  const audit = new CliCommand('audit')
    .group('operate')
    .lowPriority()
    .description('Verify, export and cut the audit log.')
    .references('docs/audit.md', 'database', 'masterKey');
  audit
    .command('verify')
    .description('Verify the integrity of the audit log. Prints each finding and exits with status 1 if there is any.')
    .option('--checkpoint <text>', 'checkpoint that the audit log must contain (repeatable)', collect)
    .option('--checkpoints <file>', 'file with checkpoints, such as the log of the service; - is standard input')
    .json()
    .examples('keyreeve audit verify', 'keyreeve audit verify --checkpoints /var/log/keyreeve.log')
    .action(async (options: VerifyOptions) => setStatus(await verify(options)));
  audit
    .command('export')
    .description('Export audit events, oldest first. With --url: newest first, without the columns of the chain.')
    .remote('administrator')
    .addOption(new Option('--format <format>', 'JSON Lines or CSV').choices(exportFormats).default('jsonl'))
    .option('--since <time>', 'only events at or after this time (ISO 8601)', parseTimeOrDay)
    .option('--until <time>', 'only events before this time (ISO 8601)', parseTimeOrDay)
    .option('--account <account>', 'only events of this account: email address or id. A deleted account only by its id')
    .option('--output <file>', 'file to create (default: standard output)')
    .option('--then-forget', 'remove the exported events from the database; needs --until and --output')
    .option(
      '--yes',
      'with --then-forget: do not ask for confirmation if the clock of this machine may have jumped forward',
    )
    .examples(
      'keyreeve audit export --since 2026-01-01 --format csv --output audit.csv',
      'keyreeve audit export --until 2026-01-01 --output 2025.jsonl --then-forget',
    )
    .action(async (options: ExportOptions) => setStatus(await exportEvents(options)));
  audit
    .command('cut')
    .description(
      'Remove the oldest audit events now, after confirmation. Without --until, this confirms the clock of this machine after a jump.',
    )
    .option('--until <time>', 'events before this time (default: KEYREEVE_AUDIT_DAYS ago)', parseTimeOrDay)
    .option('--accept-findings', 'remove events although the audit log was changed, after you have copied it')
    .option('--yes', yesHelp)
    .json()
    .examples('keyreeve audit cut', 'keyreeve audit cut --until 2026-01-01')
    .action(async (options: CutOptions) => setStatus(await cutEvents(options)));
  return audit;
}

async function verify({ checkpoint = [], checkpoints, ...options }: VerifyOptions): Promise<number> {
  const wanted = [...checkpoint.flatMap(oneCheckpoint), ...(checkpoints ? await readCheckpoints(checkpoints) : [])];
  const verified = await withInstallation({}, ({ config, installation: { db, keys } }) => {
    const expected = { checkpoints: wanted, now: systemClock.now(), keptDays: config.auditDays };
    return db.snapshot((reader) => verifyLog(reader, keys, expected));
  });
  const { removedBefore } = verified;
  const report = { ...verified, removedBefore: removedBefore === null ? null : toInstant(removedBefore) };
  print(options, report, describe(verified));
  return verified.findingsTotal === 0 ? 0 : 1;
}

function oneCheckpoint(text: string): Checkpoint[] {
  const found = findCheckpoints(text);
  if (found.length !== 1 || found[0]?.text !== text) throw new UsageError(`“${text}” is not a checkpoint`);
  return found;
}

async function readCheckpoints(path: string): Promise<Checkpoint[]> {
  const found = new Map<string, Checkpoint>();
  const input = path === '-' ? process.stdin : createReadStream(path);
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    for (const checkpoint of findCheckpoints(line)) found.set(checkpoint.text, checkpoint);
    if (found.size > checkpointsMax) {
      throw new UsageError(`${path} has more than ${checkpointsMax} checkpoints; each one covers all earlier ones`);
    }
  }
  if (found.size === 0) throw new UsageError(`${path} contains no checkpoint`);
  return [...found.values()];
}

function describe(verified: Verified): string {
  const { events, chains, checkpointsHeld, checkpoint, findings, findingsTotal } = verified;
  const { eventsRemoved, removedBefore, checkpointsCutAway } = verified;
  const scope = `${plural(events, 'event')} in ${plural(chains, 'chain')}`;
  const removed = [
    ...(removedBefore === null
      ? []
      : [`The retention has removed ${plural(eventsRemoved, 'event')} from before ${toInstant(removedBefore)}.`]),
    ...(checkpointsCutAway > 0
      ? [
          `Not verified: ${plural(checkpointsCutAway, 'checkpoint')}, because the retention has removed events that they cover.`,
        ]
      : []),
  ];
  const more = [...removed, ...(checkpoint === null ? [] : [`Checkpoint: ${checkpoint}`])];
  if (findingsTotal === 0) {
    const held = checkpointsHeld > 0 ? ` ${plural(checkpointsHeld, 'checkpoint')} verified.` : '';
    return [`${scope}: intact.${held}`, ...more].join('\n');
  }
  const rest = findingsTotal - findings.length;
  return [
    `${scope}: ${plural(findingsTotal, 'finding')}.`,
    ...findings.map(lineOf),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    ...removed,
  ].join('\n');
}

function lineOf({ fault, chain, position, eventId, detail }: Finding): string {
  const places = [
    ...(chain === null ? [] : [`chain ${chain}`]),
    ...(position === null ? [] : [`position ${position}`]),
    ...(eventId === null ? [] : [`event ${eventId}`]),
  ];
  return `  ${[fault, ...places].join(', ')}: ${detail}`;
}
