/**
 * Verifications and key creations at fixed rates while the audit retention removes events, compared with the same server without
 * retention, on SQLite. The server starts with so many old events that the cut of its start lasts for the whole measurement.
 * While one server is measured, the other one is suspended, so that it does not use the same cores.
 */
import { copyFileSync } from 'node:fs';
import { databaseUrl } from '../packages/server/src/app/configuration/config-values.ts';
import { dayMs, systemClock } from '../packages/server/src/foundation/clock.ts';
import { deriveKeys } from '../packages/server/src/foundation/crypto/master-key.ts';
import { openDatabase } from '../packages/server/src/foundation/database/database.ts';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import { appendAuditEventsTx } from '../packages/server/src/modules/audit/store.ts';
import type { Bench } from './bench.ts';
import { createRequest, forwardRequest, keyreeve } from './keyreeve.ts';
import { measure, Programs, type Load, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { writePool, type Pool } from './request.ts';
import type { Side } from './rounds.ts';
import type { Seeded } from './seeded.ts';
import { accessTokensOf } from './tokens.ts';

/** More than a cut removes in a second. */
const eventsPerSecondMax = 25_000;
/** Start, sign-ins and warm-up, and void rounds. */
const otherSeconds = 30;
const eventsPerCommit = 5_000;
const keptDays = 30;
const keysMax = 20_000;
const signedIn = 8;

interface Server {
  readonly running: Running;
  readonly seeded: Seeded;
  readonly tokens: Pool;
}

const loads: Readonly<Record<string, (server: Server) => Omit<Load, 'seconds'>>> = {
  'verifications at 1,000/s': ({ seeded }) => ({ connections: 16, rate: 1_000, request: forwardRequest(seeded.keys) }),
  'creations at 100/s': ({ tokens }) => ({ connections: 8, rate: 100, request: createRequest(tokens) }),
};

export async function auditCut(bench: Bench, report: Report): Promise<void> {
  const { keys, rounds, seconds } = bench.options;
  const plain = await (await bench.databases('sqlite')).seed('plain', Math.min(keysMax, keys));
  const events = (Object.keys(loads).length * rounds * seconds + otherSeconds) * eventsPerSecondMax;
  console.error(`seeding ${events} audit events`);
  await addOldEvents(plain, events);
  const cutPath = bench.file('cut.db');
  copyFileSync(plain.databaseUrl.slice('sqlite:'.length), cutPath);
  const cut = { ...plain, databaseUrl: `sqlite:${cutPath}` };
  await using programs = new Programs();
  const started = async (name: string, seeded: Seeded, env: Readonly<Record<string, string>>): Promise<Server> => {
    const running = programs.add(await keyreeve(seeded, { env }));
    const tokens = writePool(bench.file(`${name}-tokens`), await accessTokensOf(running.port, signedIn));
    running.process.kill('SIGSTOP');
    return { running, seeded, tokens };
  };
  const without = await started('without', plain, {});
  const withCut = await started('with', cut, { KEYREEVE_AUDIT_DAYS: String(keptDays) });
  const removed = new SqliteConnection(cutPath, 'read');
  const removedEvents = (): number =>
    (removed.prepare('select coalesce(sum(position), 0) as count from audit_cuts').get() as { count: number }).count;
  const side = (name: string, server: Server, load: Omit<Load, 'seconds'>): Side => ({
    name,
    run: async () => {
      const before = removedEvents();
      server.running.process.kill('SIGCONT');
      const measured = await measure(server.running, { ...load, seconds });
      server.running.process.kill('SIGSTOP');
      if (server === withCut && removedEvents() === before) throw new Error('the cut has ended, or has not begun');
      return measured;
    },
  });
  for (const [name, load] of Object.entries(loads)) {
    const found = await bench.compare(report, [
      side('without', without, load(without)),
      side('with', withCut, load(withCut)),
    ]);
    report.ratio(`p50 of ${name}, with / without a cut`, found, ['with', 'without', 'msP50']);
    report.ratio(`p99 of ${name}, with / without a cut`, found, ['with', 'without', 'msP99']);
  }
  removed.close();
  for (const { running } of [without, withCut]) running.process.kill('SIGCONT');
}

/** Events that are old enough, and a new one, which shows that the clock is right. */
async function addOldEvents({ databaseUrl: url, masterKey }: Seeded, count: number): Promise<void> {
  const db = await openDatabase(databaseUrl(url), deriveKeys(Buffer.from(masterKey, 'base64url')).auditChain);
  const now = systemClock.now();
  const event = (index: number, at: number) => ({
    at,
    actor: 'operator',
    action: 'session.created',
    accountId: `acc_${index % 1_000}`,
    target: `ses_${index}`,
    details: JSON.stringify({ clientIp: '203.0.113.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' }),
  });
  const first = now - 3 * keptDays * dayMs;
  for (let from = 0; from < count; from += eventsPerCommit) {
    const rows = Array.from({ length: eventsPerCommit }, (_, index) => event(from + index, first + from + index));
    await db.transaction((tx) => appendAuditEventsTx(tx, rows));
  }
  await db.transaction((tx) => appendAuditEventsTx(tx, [event(0, now)]));
  await db.close();
}
