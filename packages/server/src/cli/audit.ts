/** `keyreeve audit …`: whether the trail is as it was written, and what stands in it. */
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command, Option } from 'commander';
import type { Accounts } from '../modules/accounts/accounts.ts';
import { findCheckpoints, type Checkpoint } from '../modules/audit/chain.ts';
import { exportFormats, exportLog, type ExportFormat } from '../modules/audit/export.ts';
import { verifyLog, type Finding, type Verified } from '../modules/audit/verify-log.ts';
import { UsageError } from './failure.ts';
import { collect, jsonHelp, plural, print, type OutputOptions } from './output.ts';
import { withInstallation } from './session.ts';

/** A minute's each: a week of them. */
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

/** @param end is given the exit status */
export function auditCommand(end: (status: number) => void): Command {
  const audit = new Command('audit').description('The audit trail: what was changed, by whom, to what.');
  audit
    .command('verify')
    .description('Whether the trail is as it was written. Exit status 1 when it is not, with each place.')
    .option('--checkpoint <text>', 'a state from the log that it must hold; may be given several times', collect)
    .option('--checkpoints <file>', 'all checkpoints of a file, such as the log itself; - is standard input')
    .option('--json', jsonHelp)
    .action(async (options: VerifyOptions) => end(await verify(options)));
  audit
    .command('export')
    .description('Write the trail, oldest event first.')
    .addOption(new Option('--format <format>', 'JSON Lines or CSV').choices(exportFormats).default('jsonl'))
    .option('--since <time>', 'from then on; ISO 8601', instant)
    .option('--until <time>', 'before then; ISO 8601', instant)
    .option('--account <email or id>', 'of one account; a deleted one by its id')
    .option('--output <file>', 'a file that doesn’t exist; otherwise standard output')
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
      throw new UsageError(`${path} has more than ${checkpointsMax} checkpoints; each stands for all before it too`);
    }
  }
  if (found.size === 0) throw new UsageError(`there is no checkpoint in ${path}`);
  return [...found.values()];
}

function describe(verified: Verified): string {
  const { events, chains, eventsBefore, checkpointsHeld, checkpoint, findings, findingsTotal } = verified;
  const scope = `${plural(events, 'event')} in ${plural(chains, 'chain')}`;
  const more = [
    ...(eventsBefore > 0 ? [`${plural(eventsBefore, 'event')} from before there were chains can’t be verified.`] : []),
    ...(checkpoint === null ? [] : [`Checkpoint: ${checkpoint}`]),
  ];
  if (findingsTotal === 0) {
    const held = checkpointsHeld > 0 ? `, and what ${plural(checkpointsHeld, 'checkpoint')} had seen is there` : '';
    return [`${scope}: as they were written${held}.`, ...more].join('\n');
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
      else await writeWhole(lines, resolve(output));
    });
  });
}

/** The trail outlives accounts, so an id is taken as it is. */
const accountIdOf = async (accounts: Accounts, account: string): Promise<string> =>
  account.includes('@') ? (await accounts.find(account)).id : account;

function instant(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(ms)) {
    throw new UsageError(`“${text}” is not a time; write it like 2026-11-21 or 2026-11-21T09:30:00Z`);
  }
  return ms;
}

/** The file appears whole or not at all, and never over another one. */
async function writeWhole(lines: Readable, path: string): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}.partial`;
  try {
    await pipeline(lines, createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }));
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new UsageError(`${path} exists already; name a file that doesn’t`);
  } finally {
    await rm(draft, { force: true });
  }
}
