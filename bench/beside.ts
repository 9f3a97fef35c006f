/** Verifications at constant rates: alone, beside wrong sign-ins, and beside creations and deletions of keys. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, SharedDatabase } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import { createRequest, deleteRequest, forwardRequest, signInRequest } from './keyreeve.ts';
import { startLoad, type LoadResult, type RunningLoad } from './load.ts';
import { measure, Programs, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { writePool } from './request.ts';
import { rounded, type Measured } from './rounds.ts';
import { emailAt, signedInAccounts, type Seeded } from './seeded.ts';
import { signIn } from './tokens.ts';

const rates = [2_000, 10_000] as const;
type Rate = (typeof rates)[number];

const connections = 64;
/** The other loads start before the measurement. */
const leadMs = 500;
/** Longer than any measurement: the other loads are stopped. */
const othersSeconds = 600;

/** More than the sign-ins in progress that the server accepts, so that the rate is reached. */
const wrongSignIns = { connections: 128, rate: 400, seconds: othersSeconds };
const changes = { connections: 16, rate: 200, seconds: othersSeconds };

/** Of the p99 beside other loads: divided by that without them, and in milliseconds. */
interface Bars {
  readonly ratio: number;
  readonly ms: number;
}

const signInBars: Readonly<Record<Rate, Bars>> = { 2_000: { ratio: 2, ms: 5 }, 10_000: { ratio: 3, ms: 8 } };
const changeBars: Readonly<Record<Kind, Readonly<Record<Rate, Bars>>>> = {
  sqlite: { 2_000: { ratio: 1.5, ms: 3 }, 10_000: { ratio: 3, ms: 8 } },
  postgres: { 2_000: { ratio: 2, ms: 5 }, 10_000: { ratio: 3, ms: 8 } },
};

export const verifyAt = (server: Running, { keys }: Seeded, rate: number, seconds: number): Promise<Measured> =>
  measure(server, { connections, rate, seconds, request: forwardRequest(keys) }, server.verifyPort);

/** @param onEnd gets the results of the other loads, and ends when the server has processed their last requests */
export async function during(
  others: readonly RunningLoad[],
  run: () => Promise<Measured>,
  onEnd: OnEnd = () => undefined,
): Promise<Measured> {
  await sleep(leadMs);
  const measured = await run();
  const results = await Promise.all(others.map((other) => other.stop()));
  for (const { perSecond, statuses } of results)
    console.error(`beside ${rounded(perSecond)} requests/s: ${JSON.stringify(statuses)}`);
  await onEnd(results);
  return { ...measured, othersPerSecond: results.reduce((sum, { perSecond }) => sum + perSecond, 0) };
}

type OnEnd = (results: readonly LoadResult[]) => Promise<void> | void;

export async function calm(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) {
    const { seeded } = await bench.shared(kind);
    await using programs = new Programs();
    const server = programs.add(await bench.keyreeve(seeded));
    const sides = rates.map((rate) => ({
      name: `${titleOf(kind)}: verifications at ${rounded(rate)}/s`,
      run: () => verifyAt(server, seeded, rate, bench.options.seconds),
    }));
    const found = await bench.compare(report, sides);
    for (const { name } of sides) {
      report.add(`${name}: p50`, { values: found.values(name, 'msP50'), unit: 'ms' });
      report.add(`${name}: p99`, { values: found.values(name, 'msP99'), unit: 'ms' });
      report.add(`${name}: processor time`, { values: found.values(name, 'processorUs'), unit: 'µs' });
    }
  }
}

/** Starts the other loads of one round. */
interface Others {
  readonly name: string;
  readonly start: () => readonly RunningLoad[];
  readonly onEnd?: OnEnd;
  readonly bars: Readonly<Record<Rate, Bars>>;
}

async function compare(
  bench: Bench,
  report: Report,
  kind: Kind,
  others: (server: Running, shared: SharedDatabase) => Promise<Others>,
): Promise<void> {
  const shared = await bench.shared(kind);
  await using programs = new Programs();
  const server = programs.add(await bench.keyreeve(shared.seeded));
  const { name, start, onEnd, bars } = await others(server, shared);
  for (const rate of rates) {
    const verify = (): Promise<Measured> => verifyAt(server, shared.seeded, rate, bench.options.seconds);
    const sides = [
      { name: 'alone', run: verify },
      { name: 'beside', run: () => during(start(), verify, onEnd) },
    ];
    const found = await bench.compare(report, sides, { warmUp: rate === rates[0] ? 1 : 0 });
    const what = `${titleOf(kind)}: p99 of verifications at ${rounded(rate)}/s beside ${name}`;
    report.ratio(`${what}, divided by the p99 alone`, found, ['beside', 'alone', 'msP99'], {
      atMost: bars[rate].ratio,
    });
    report.add(what, { values: found.values('beside', 'msP99'), unit: 'ms', bar: { atMost: bars[rate].ms } });
  }
}

export async function besideSignIns(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) {
    await compare(bench, report, kind, async ({ port, adminUrl }, { seeded: { accounts } }) => {
      const wrong = Array.from(
        { length: accounts - signedInAccounts },
        (_, index) => `${emailAt(signedInAccounts + index + 1)}:wrong horse battery staple`,
      );
      const credentials = writePool(
        bench.file(`${kind}-wrong-credentials`),
        wrong.map((text) => Buffer.from(text).toString('base64')),
      );
      // 401, and 503 when too many hashes wait.
      const request = { ...signInRequest(credentials), status: '' };
      const name = `${wrongSignIns.rate} wrong sign-ins/s`;
      const start = () => [startLoad({ ...wrongSignIns, port, request })];
      return { name, start, onEnd: () => hashesEnd(`${adminUrl}/metrics`), bars: signInBars };
    });
  }
}

/** Hashes of requests whose client has left would otherwise run during the next measurement. */
async function hashesEnd(metricsUrl: string): Promise<void> {
  const someLeft = /^keyreeve_password_hashes_(?:running|waiting)(?:\{[^}]*\})? [1-9]/m;
  while (someLeft.test(await fetch(metricsUrl).then((response) => response.text()))) await sleep(50);
}

export async function besideChanges(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) {
    await compare(bench, report, kind, async ({ port }, shared) => {
      const { accessTokens, deletions } = await signIn(port, bench.options.folder);
      const start = () => [
        startLoad({ ...changes, port, request: deleteRequest(shared.remaining(deletions)) }),
        startLoad({ ...changes, port, request: createRequest(accessTokens) }),
      ];
      const onEnd = ([deleted]: readonly LoadResult[]): void =>
        shared.addDeleted(deleted?.requests ?? 0, changes.connections);
      const name = `${changes.rate} creations/s and ${changes.rate} deletions/s`;
      return { name, start, onEnd, bars: changeBars[kind] };
    });
  }
}
