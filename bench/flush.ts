/** The p99 of verifications with random keys while the server writes their usage, every 10 seconds, and in between. */
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyAt } from './beside.ts';
import type { Bench } from './bench.ts';
import { titleOf } from './databases.ts';
import { Programs, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { rounded, type Measured } from './rounds.ts';
import type { Seeded } from './seeded.ts';

/** With 10,000, the server writes usage for most of its interval. */
const perSecond = 2_000;
/** Half of the interval of the server, so that one of two windows in a row contains a flush. */
const windowSeconds = 5;
/** Of the verifications that are written in two windows: more in the other window than this share make the pair void. */
const strayShareMax = 0.1;

interface Windows {
  readonly with: Measured;
  readonly without: Measured;
}

export async function flush(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) {
    const { seeded } = await bench.shared(kind);
    await using programs = new Programs();
    const server = programs.add(await bench.keyreeve(seeded));
    // The two sides of a round are measured together: only afterwards it is known which window had the flush.
    let windows: Windows | undefined;
    const take = (which: keyof Windows) => async (): Promise<Measured> => {
      const isSecond = windows !== undefined;
      const found = (windows ??= await twoWindows(server, seeded));
      if (isSecond) windows = undefined;
      return found[which];
    };
    const sides = (['with', 'without'] as const).map((name) => ({ name, run: take(name) }));
    const found = await bench.compare(report, sides, { warmUp: 0 });
    const what = `${titleOf(kind)}: p99 of ${rounded(perSecond)} verifications/s in 5 s with a flush of usage, divided by 5 s without`;
    report.ratio(what, found, ['with', 'without', 'msP99'], { atMost: 1.25 });
  }
}

async function twoWindows(server: Running, seeded: Seeded): Promise<Windows> {
  const before = await writtenUsage(server);
  const first = await verifyAt(server, seeded, perSecond, windowSeconds);
  const middle = await writtenUsage(server);
  const second = await verifyAt(server, seeded, perSecond, windowSeconds);
  const [inFirst, inSecond] = [middle - before, (await writtenUsage(server)) - middle];
  const [more, fewer] = [Math.max(inFirst, inSecond), Math.min(inFirst, inSecond)];
  const problem = more === 0 ? 'no flush' : fewer > more * strayShareMax ? 'a flush in both windows' : undefined;
  // The next windows begin at another time of the interval.
  if (problem !== undefined) await sleep((windowSeconds * 1_000) / 2);
  const [withFlush, without] = inFirst > inSecond ? [first, second] : [second, first];
  return { with: problem === undefined ? withFlush : { ...withFlush, isVoid: problem }, without };
}

/** @returns the verifications that are in the table of usage */
async function writtenUsage({ adminUrl }: Running): Promise<number> {
  const metrics = await fetch(`${adminUrl}/metrics`).then((response) => response.text());
  const written = /^keyreeve_key_usage_total\{[^}]*result="written"[^}]*\} (\d+)/m.exec(metrics)?.[1];
  if (written === undefined) throw new Error('the metrics lack keyreeve_key_usage_total');
  return Number(written);
}
