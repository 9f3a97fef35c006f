/** `keyreeve audit export`: exports the audit log, and removes the exported events if the operator asks for it. */
import { createWriteStream, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { systemClock, toInstant } from '../foundation/clock.ts';
import { createComplete, FileExistsError } from '../foundation/complete-file.ts';
import { exportLog, type ExportFormat } from '../modules/audit/export.ts';
import { listChains } from '../modules/audit/store.ts';
import { confirmCut, describeCut, removableDays } from './audit-cut.ts';
import { UsageError } from './failure.ts';
import { withoutControls, writeParts } from './output.ts';
import { withOperations, type Operations } from './operations/operations.ts';
import { serviceOfTarget } from './remote/target.ts';
import { operator, withInstallation, type CommandContext } from './session.ts';

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly since?: number;
  readonly until?: number;
  readonly account?: string;
  readonly output?: string;
  readonly thenForget?: boolean;
  readonly yes?: boolean;
}

/** @returns the exit status */
export function exportEvents(options: ExportOptions): Promise<number> {
  const { thenForget = false } = options;
  if (!thenForget) return withOperations((to) => exportOnly(to, options));
  if (serviceOfTarget()) throw new UsageError('--then-forget works only on the machine of the service, without --url');
  const { since, until, account, output } = options;
  // A part of the events cannot be removed. The command cannot flush what reads its standard output.
  if (since !== undefined || account !== undefined || until === undefined || output === undefined)
    throw new UsageError('--then-forget needs --until and --output, without --since and --account');
  return withInstallation({}, (context) => exportAndForget(context, options, until, resolve(output)));
}

async function exportOnly(
  { accounts, audit }: Operations,
  { format, since, until, account, output }: ExportOptions,
): Promise<number> {
  const accountId = account === undefined ? undefined : await accountIdOf(accounts, account);
  await audit.export(format, { since, until, accountId }, (lines) =>
    output === undefined
      ? writeParts(process.stdout.isTTY ? forTerminal(lines) : lines)
      : writeComplete(Readable.from(lines), resolve(output)),
  );
  return 0;
}

/** A file gets the exact text. A terminal would execute control characters. */
async function* forTerminal(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of lines) yield withoutControls(text.replaceAll('\r\n', '\n'));
}

/** Removes only events of the snapshot that the file was written from. The file is on the disk before. */
async function exportAndForget(
  { config, journal, auditRetention, installation: { db } }: CommandContext,
  options: ExportOptions,
  until: number,
  path: string,
): Promise<number> {
  const now = systemClock.now();
  const days = removableDays(config, until, now);
  if (existsSync(path)) throw existing(path);
  // A nightly job does not ask, unless the clock has jumped forward: then the job would remove younger events.
  if (!(await auditRetention.isClockPlausible())) await confirmCut(now, until, options);
  const positionsMax = await db.snapshot(async (reader) => {
    const chains = await listChains(reader);
    const span = { since: Number.MIN_SAFE_INTEGER, until };
    await writeComplete(Readable.from(exportLog(reader, options.format, span)), path);
    return new Map(chains.map(({ chain, events }) => [chain, events ?? 0]));
  });
  await journal?.catchUp();
  const result = await auditRetention.cutNow(operator, { eventsBefore: until, days, positionsMax }, false);
  process.stdout.write(
    `Exported the audit events from before ${toInstant(until)} to ${path}.\n${describeCut(result)}\n`,
  );
  return result.blocked ? 1 : 0;
}

/** An id is not looked up: the audit log has events of deleted accounts. */
const accountIdOf = async (accounts: Operations['accounts'], account: string): Promise<string> =>
  account.includes('@') ? (await accounts.find(account)).id : account;

async function writeComplete(lines: Readable, path: string): Promise<void> {
  try {
    await createComplete(path, (draft) =>
      pipeline(lines, createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })),
    );
  } catch (error) {
    throw error instanceof FileExistsError ? existing(path) : error;
  }
}

const existing = (path: string): UsageError => new UsageError(`${path} exists; name a file that does not exist`);
