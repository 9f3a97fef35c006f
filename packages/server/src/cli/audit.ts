/** `keyreeve audit …`: verifies and exports the audit log. */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import type { Accounts } from '../modules/accounts/accounts.ts';
import { findCheckpoints, type Checkpoint } from '../modules/audit/chain.ts';
import { exportFormats, exportLog, type ExportFormat } from '../modules/audit/export.ts';
import { verifyLog, type Finding, type Verified } from '../modules/audit/verify-log.ts';
import { CliCommand, type SetStatus } from './command.ts';
import { UsageError } from './failure.ts';
import { collect, plural, print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';
import { parseTimeOrDay } from './time.ts';

/** A week of checkpoints: `serve` logs at most one per minute. */
const checkpointsMax = 10_000;

interface VerifyOptions extends OutputOptions {
  readonly checkpoint?: readonly string[];
  readonly checkpoints?: string;
}

interface ExportOptions {
  readonly format: ExportFormat;
  readonly since?: number;
  readonly until?: number;
  readonly account?: string;
  readonly output?: string;
}

export function auditCommand(setStatus: SetStatus): Command {
  const audit = new CliCommand('audit')
    .lowPriority()
    .description('Verify and export the audit log.')
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
    .description('Export audit events, oldest first.')
    .addOption(new Option('--format <format>', 'JSON Lines or CSV').choices(exportFormats).default('jsonl'))
    .option('--since <time>', 'only events at or after this time (ISO 8601)', parseTimeOrDay)
    .option('--until <time>', 'only events before this time (ISO 8601)', parseTimeOrDay)
    .option('--account <account>', 'only events of this account: email address or id. A deleted account only by its id')
    .option('--output <file>', 'file to create (default: standard output)')
    .examples('keyreeve audit export --since 2026-01-01 --format csv --output audit.csv')
    .action(exportEvents);
  return audit;
}

async function verify({ checkpoint = [], checkpoints, ...options }: VerifyOptions): Promise<number> {
  const wanted = [...checkpoint.flatMap(oneCheckpoint), ...(checkpoints ? await readCheckpoints(checkpoints) : [])];
  const verified = await withInstallation({}, ({ installation: { db, keys } }) =>
    db.snapshot((reader) => verifyLog(reader, keys.auditChain, wanted)),
  );
  print(options, verified, describe(verified));
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
  const { events, chains, eventsBefore, checkpointsHeld, checkpoint, findings, findingsTotal } = verified;
  const scope = `${plural(events, 'event')} in ${plural(chains, 'chain')}`;
  const more = [
    ...(eventsBefore > 0
      ? [`${plural(eventsBefore, 'event')} of an early version without chains cannot be verified.`]
      : []),
    ...(checkpoint === null ? [] : [`Checkpoint: ${checkpoint}`]),
  ];
  if (findingsTotal === 0) {
    const held = checkpointsHeld > 0 ? ` ${plural(checkpointsHeld, 'checkpoint')} verified.` : '';
    return [`${scope}: intact.${held}`, ...more].join('\n');
  }
  const rest = findingsTotal - findings.length;
  return [
    `${scope}: ${plural(findingsTotal, 'finding')}.`,
    ...findings.map(lineOf),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
    ...more.slice(0, eventsBefore > 0 ? 1 : 0),
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

async function exportEvents({ format, since, until, account, output }: ExportOptions): Promise<void> {
  await withInstallation({}, async ({ installation: { db }, accounts }) => {
    const span = {
      since: since ?? Number.MIN_SAFE_INTEGER,
      until: until ?? Number.MAX_SAFE_INTEGER,
      accountId: account === undefined ? undefined : await accountIdOf(accounts, account),
    };
    await db.snapshot(async (reader) => {
      const lines = Readable.from(exportLog(reader, format, span));
      if (output === undefined) await pipeline(lines, process.stdout, { end: false });
      else await writeComplete(lines, resolve(output));
    });
  });
}

/** An id is not looked up: the audit log has events of deleted accounts. */
const accountIdOf = async (accounts: Accounts, account: string): Promise<string> =>
  account.includes('@') ? (await accounts.find(account)).id : account;

/** Creates the file complete or not at all, and never replaces a file. */
async function writeComplete(lines: Readable, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}.partial`;
  try {
    await pipeline(lines, createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new UsageError(`${path} exists; name a file that does not exist`);
  } finally {
    await rm(draft, { force: true });
  }
}
