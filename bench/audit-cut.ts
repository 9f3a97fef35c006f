/**
 * Verifications and key creations at fixed rates while the audit retention removes events, compared with the same server without
 * retention: `npm run bench -- audit-cut`.
 *
 * The server starts with so many old events that the cut of its start lasts for the whole measurement. While one server is
 * measured, the other one is suspended, so that it does not use the same core.
 */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, dayMs } from '../packages/server/src/foundation/clock.ts';
import { databaseUrl } from '../packages/server/src/app/configuration/config-values.ts';
import { deriveKeys } from '../packages/server/src/foundation/crypto/master-key.ts';
import { openDatabase } from '../packages/server/src/foundation/database/database.ts';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import { appendAuditEventsTx } from '../packages/server/src/modules/audit/store.ts';
import type { BenchOptions } from './databases.ts';
import { createRequest, forwardRequest, keyreeve } from './keyreeve.ts';
import { measure, type Load } from './measure.ts';
import { threadsProcessorMs } from '../packages/server/test-kit/processor-time.ts';
import { intervalOf } from './pairs.ts';
import { Programs, type Running } from './processes.ts';
import { Report } from './report.ts';
import { writePool } from './request.ts';
import { alternate, median, rate, type Contender, type Measured, type Rounds } from './rounds.ts';
import { seed, type Seeded } from './seed.ts';
import { accessTokensOf } from './tokens.ts';

/** More than a cut removes in a second. */
const eventsPerSecondMax = 25_000;
/** Start, sign-ins and warm-up. */
const otherSeconds = 15;
const eventsPerCommit = 5_000;
const keptDays = 30;
const verifications = { connections: 16, rate: 1_000 };
const creations = { connections: 8, rate: 100 };
const signedIn = 8;
const warmUpRounds = 2;

export async function auditCut({ keys, rounds, seconds, folder }: BenchOptions): Promise<string> {
  const path = join(folder, 'plain.db');
  const plain = await seed(`sqlite:${path}`, `${path}.keys`, keys);
  const events = (2 * (rounds + warmUpRounds) * seconds + otherSeconds) * eventsPerSecondMax;
  console.error(`seeding ${events} audit events`);
  await addOldEvents(plain, events);
  const cutPath = join(folder, 'cut.db');
  copyFileSync(path, cutPath);
  const cut = { ...plain, databaseUrl: `sqlite:${cutPath}` };
  await using programs = new Programs();
  const without = await Suspended.start(programs, plain, join(folder, 'plain.tokens'));
  const withCut = await Suspended.start(programs, cut, join(folder, 'cut.tokens'), {
    KEYREEVE_AUDIT_DAYS: String(keptDays),
  });
  const report = new Report();
  using removed = new RemovedEvents(cutPath);
  const row = async (what: string, loadOf: (of: Suspended) => Load): Promise<void> => {
    const perSecond: number[] = [];
    const contenders: Contender[] = [
      { name: 'without', run: () => without.measure(loadOf(without)) },
      {
        name: 'with',
        run: async () => {
          const before = removed.count();
          const result = await withCut.measure(loadOf(withCut));
          const count = removed.count() - before;
          if (count === 0) throw new Error('no event was removed: the cut has ended, or has not begun');
          perSecond.push(count / result.seconds);
          return result;
        },
      },
    ];
    const found = await alternate(contenders, rounds, warmUpRounds);
    const removedPerSecond = median(perSecond.slice(warmUpRounds));
    addRows(report, what, found, removedPerSecond);
    const addedUs = found.median('with', 'processorUs') - found.median('without', 'processorUs');
    const { rate: requestsPerSecond = 0 } = loadOf(withCut);
    report.add(
      `processor time for each removed event beside ${what}`,
      (addedUs * requestsPerSecond) / removedPerSecond,
      { unit: ' µs' },
    );
  };
  await row(`verifications at ${rate(verifications.rate)}/s`, ({ seeded }) => ({
    ...verifications,
    seconds,
    request: forwardRequest(seeded.keys),
  }));
  await row(`creations at ${rate(creations.rate)}/s`, ({ tokens }) => ({
    ...creations,
    seconds,
    request: createRequest(tokens),
  }));
  without.resume();
  withCut.resume();
  return String(report);
}

function addRows(report: Report, what: string, found: Rounds, removedPerSecond: number): void {
  report.ratio(
    `processor time for each of ${what}, with / without a cut`,
    found,
    [
      'with',
      'without',
      'processorUs',
      `${intervalOf(found, 'with', 'without').text}, ${rate(removedPerSecond)} removed events/s`,
    ],
    {},
  );
  report.ratio(`p50 of ${what}, with / without a cut`, found, ['with', 'without', 'msP50'], {});
  report.ratio(`p99 of ${what}, with / without a cut`, found, ['with', 'without', 'msP99'], {});
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

/** A server that runs only while it is measured. */
class Suspended {
  readonly seeded: Seeded;
  readonly tokens: ReturnType<typeof writePool>;
  readonly #running: Running;

  private constructor(running: Running, seeded: Seeded, tokens: ReturnType<typeof writePool>) {
    this.#running = running;
    this.seeded = seeded;
    this.tokens = tokens;
    running.process.kill('SIGSTOP');
  }

  static async start(
    programs: Programs,
    seeded: Seeded,
    tokensPath: string,
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Suspended> {
    const running = programs.add(await keyreeve('0', seeded, undefined, environment));
    const tokens = await accessTokensOf(running.port, signedIn);
    return new Suspended(running, seeded, writePool(tokensPath, tokens));
  }

  resume(): void {
    this.#running.process.kill('SIGCONT');
  }

  async measure(load: Load): Promise<Measured> {
    this.resume();
    try {
      return await measure(this.#running, load, '1', threadsProcessorMs);
    } finally {
      this.#running.process.kill('SIGSTOP');
    }
  }
}

class RemovedEvents implements Disposable {
  readonly #connection: SqliteConnection;

  constructor(path: string) {
    this.#connection = new SqliteConnection(path, 'read');
  }

  count(): number {
    const row = this.#connection.prepare('select coalesce(sum(position), 0) as count from audit_cuts').get();
    return (row as { count: number }).count;
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}
