/**
 * The longest delays of the server's event loop on SQLite while it does other work than verifications, with verifications at
 * a constant rate in the background.
 *
 *     npm run bench -- delays [--keys 200000] [--rounds 3] [--seconds 10] [--quick]
 */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import type { BenchOptions } from './databases.ts';
import { forwardRequest, keyreeve, keyreeveCommand } from './keyreeve.ts';
import { load, Programs, type Running } from './processes.ts';
import { requestText } from './request.ts';
import { median, ms, table } from './rounds.ts';
import { emailAt, password, seed, type Seeded } from './seed.ts';
import { signIn } from './tokens.ts';

interface Context extends BenchOptions {
  readonly server: Running;
  readonly seeded: Seeded;
  readonly round: number;
}

interface Longest {
  /** Of the event loop. */
  readonly delayMs: number;
  /** Processor time of the main thread between two samples: other programs on the machine affect it less. */
  readonly processorMs: number;
}

interface Measured extends Longest {
  readonly msP99: number;
}

/** Work beside verifications. A scenario lasts for its duration, or until the work ends if that is later. */
type Work = (context: Context) => Promise<unknown>;

const allCores = Array.from({ length: availableParallelism() }, (_, core) => core).join(',');
const verifications = { connections: 16, rate: 500 };
const expiredRows = 50_000;
const importedLines = 10_000;

const scenarios: Readonly<Record<string, Work>> = {
  'start, with 50,000 expired rows of each kind to delete': async () => undefined,
  'nothing else': async () => undefined,
  'first use of the list of common passwords': ({ server }) => rejectedPassword(server),
  'a metrics scrape every second': async ({ server, seconds }) => {
    for (let scrape = 0; scrape < seconds; scrape++) {
      await fetch(`${server.adminUrl}/metrics`).then((response) => response.text());
      await sleep(1_000);
    }
  },
  'lists of 100 keys without pause on 8 connections': async ({ server, seconds, folder }) => {
    const { accessTokens } = await signIn(server.port, folder);
    const headers = { Authorization: `Bearer ${'\0'.repeat(accessTokens.recordBytes)}` };
    const text = requestText({ method: 'GET', path: '/auth/api-keys?view=full', headers });
    await load({ port: server.port, connections: 8, seconds, request: { text, pool: accessTokens } }, allCores);
  },
  'keyreeve backup': ({ seeded, folder, round }) =>
    keyreeveCommand(allCores, seeded, ['backup', '--to', join(folder, `backup-${round}.gz`)]),
  'keyreeve import accounts, 10,000 lines': ({ seeded, folder, round }) => {
    const lines = Array.from({ length: importedLines }, (_, line) => ({
      email: `import-${round}-${line}@example.com`,
    }));
    return importLines(seeded, 'accounts', join(folder, `accounts-${round}`), lines);
  },
  'keyreeve import api-keys, 10,000 lines': ({ seeded, folder, round }) => {
    const lines = Array.from({ length: importedLines }, (_, line) => ({
      account: emailAt(201 + (line % 100)),
      nickname: `import ${round} ${line}`,
      hash: createHash('sha256').update(`${round} ${line}`).digest('hex'),
    }));
    return importLines(seeded, 'api-keys', join(folder, `keys-${round}`), lines);
  },
  'keyreeve audit verify': ({ seeded }) => keyreeveCommand(allCores, seeded, ['audit', 'verify']),
};

export async function delays(options: BenchOptions): Promise<string> {
  const path = join(options.folder, 'delays.db');
  console.error(`seeding ${options.keys} keys`);
  const seeded = await seed(`sqlite:${path}`, `${path}.keys`, options.keys);
  const found = new Map<string, Measured[]>(Object.keys(scenarios).map((name) => [name, []]));
  for (let round = 0; round < options.rounds; round++) {
    addExpiredRows(path);
    await using programs = new Programs();
    const monitored = {
      BENCH_DELAYS: join(options.folder, `delays-${round}`),
      NODE_OPTIONS: `--import=${import.meta.resolve('./delay-monitor.ts')}`,
    };
    const server = programs.add(await keyreeve(allCores, seeded, undefined, monitored));
    for (const [name, work] of Object.entries(scenarios)) {
      const startedAt = Date.now();
      const msP99 = await verifyDuring(
        () => work({ ...options, server, seeded, round }),
        server,
        seeded,
        options.seconds,
      );
      const measured = { ...longestSince(monitored.BENCH_DELAYS, startedAt), msP99 };
      found.get(name)?.push(measured);
      console.error(`${name}: ${ms(measured.delayMs)} ms, ${ms(measured.processorMs)} ms of processor time`);
    }
  }
  const longest = (rounds: readonly Measured[], figure: keyof Measured): string =>
    ms(median(rounds.map((round) => round[figure])));
  return table(
    ['beside 500 verifications/s', 'longest delay, ms', 'of processor time, ms', 'p99 of verifications, ms'],
    [...found].map(([name, rounds]) => [
      name,
      longest(rounds, 'delayMs'),
      longest(rounds, 'processorMs'),
      longest(rounds, 'msP99'),
    ]),
  );
}

/** @returns the p99 of the verifications @throws Error if one fails */
async function verifyDuring(
  work: () => Promise<unknown>,
  { port }: Running,
  { keys }: Seeded,
  seconds: number,
): Promise<number> {
  const verifying = load({ ...verifications, port, seconds, request: forwardRequest(keys) }, allCores);
  const [{ failures, firstFailure, msP99 }] = await Promise.all([verifying, work()]);
  if (failures > 0) throw new Error(`${failures} verifications failed: ${firstFailure}`);
  return msP99;
}

/** @returns the longest delay and the longest use of the processor between two samples, in milliseconds */
function longestSince(path: string, startedAt: number): Longest {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  const since = lines.map((line) => line.split(' ').map(Number)).filter(([at = 0]) => at >= startedAt);
  return {
    delayMs: Math.max(0, ...since.map(([, delayMs = 0]) => delayMs)),
    processorMs: Math.max(0, ...since.map(([, , processorMs = 0]) => processorMs)),
  };
}

/** The server checks the new password before the current one. */
async function rejectedPassword({ port }: Running): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const basic = Buffer.from(`${emailAt(1)}:${password}`).toString('base64');
  const signedIn = await fetch(`${url}/auth/token`, { method: 'POST', headers: { authorization: `Basic ${basic}` } });
  const { accessToken } = (await signedIn.json()) as { accessToken: string };
  const response = await fetch(`${url}/auth/account/password`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ currentPassword: password, newPassword: 'passwordpassword' }),
  });
  const text = await response.text();
  if (!text.includes('password_common')) throw new Error(`a common password returned ${text}`);
}

async function importLines(seeded: Seeded, noun: string, path: string, lines: readonly object[]): Promise<void> {
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await keyreeveCommand(allCores, seeded, ['import', noun, path]);
}

/** Sessions and rate limits that the server deletes when it starts. */
function addExpiredRows(path: string): void {
  const connection = new SqliteConnection(path, 'write');
  connection.exec('begin');
  const session = connection.prepare(
    `insert into sessions (id, account_pk, account_epoch, created_at, generation, token_hash, rotated_at, idle_expires_at, expires_at)
     values (?, ?, 0, 0, 1, ?, 0, 1, 1)`,
  );
  const bucket = connection.prepare(
    `insert into rate_limit_buckets (bucket, count, window_started_at, blocked_until, touched_at) values (?, 1, 0, 0, 0)`,
  );
  for (let row = 0; row < expiredRows; row++) {
    session.run(`ses_${randomBytes(16).toString('base64url')}`, 1 + (row % 200), randomBytes(32));
    bucket.run(randomBytes(32));
  }
  connection.exec('commit');
  connection.close();
}
