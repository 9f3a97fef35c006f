/** Keys with limits compared with keys without, on one core. */
import { Client } from 'pg';
import { SqliteConnection } from '../packages/server/src/foundation/database/sqlite-connection.ts';
import { toLimitsText } from '../packages/server/src/modules/key-limits/definition.ts';
import type { Bench } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import { forwardRequest } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { measure, Programs, type Load } from './processes.ts';
import type { Bar, Report } from './report.ts';
import type { Side } from './rounds.ts';
import type { Seeded } from './seeded.ts';

const connections = 64;
const hotKeysMax = 10_000;
/** Until then, each hot key has a row, and instances know how often it is used. */
const hotWarmUpSeconds = 15;
/** In each round. */
const keysOnceMax = 30_000;
/** Beyond those that count. */
const spareRounds = 4;
const onceSecondsMax = 120;
/** Wide enough to reject no request. */
const wide = toLimitsText({ rate: { limit: 1_000_000, windowSeconds: 3_600 } });

const hotBars: Readonly<Record<Kind, Bar>> = { sqlite: { atLeast: 0.85 }, postgres: { atLeast: 0.8 } };
const onceBar: Bar = { atLeast: 0.3 };

interface Comparison {
  readonly title: string;
  /** In the database of each side. */
  readonly keys: number;
  readonly warmUp: number;
  /** @param turn counts the calls for a side, from 0 on */
  readonly load: (seeded: Seeded, turn: number) => Load;
  readonly bar: Bar;
}

export async function limits(bench: Bench, report: Report): Promise<void> {
  const { keys, rounds, seconds } = bench.options;
  const hot = Math.min(hotKeysMax, keys);
  const once = Math.min(keysOnceMax, keys);
  for (const kind of bench.options.kinds) {
    await compare(bench, report, kind, {
      title: `${hot} hot keys`,
      keys: hot,
      warmUp: Math.ceil(hotWarmUpSeconds / seconds),
      load: ({ keys: pool }) => ({ connections, seconds, request: forwardRequest(pool) }),
      bar: hotBars[kind],
    });
    await compare(bench, report, kind, {
      title: `${once} keys, each used once`,
      keys: once * (rounds + spareRounds),
      warmUp: 1,
      load: ({ keys: pool }, turn) => {
        if (turn >= rounds + spareRounds) throw new Error('too many void rounds: no key is left');
        const request = forwardRequest({ ...pool, first: turn * once });
        return { connections, seconds: onceSecondsMax, requests: once, request };
      },
      bar: onceBar,
    });
  }
}

async function compare(bench: Bench, report: Report, kind: Kind, of: Comparison): Promise<void> {
  const databases = await bench.databases(kind);
  await using programs = new Programs();
  const side = async (name: string, isLimited: boolean): Promise<Side> => {
    const seeded = await databases.seed(`${name}-${of.keys}`, of.keys);
    if (isLimited) await limitAllKeys(seeded.databaseUrl);
    const server = programs.add(await bench.keyreeve(seeded, { cores: oneCore }));
    let turn = 0;
    return { name, run: () => measure(server, of.load(seeded, turn++), server.verifyPort) };
  };
  const sides = [await side('unlimited', false), await side('limited', true)];
  const found = await bench.compare(report, sides, { warmUp: of.warmUp });
  const what = `${titleOf(kind)}: ${of.title}`;
  report.ratio(`${what}: processor time, unlimited / limited`, found, ['unlimited', 'limited', 'processorUs'], of.bar);
  report.ratio(`${what}: rate, limited / unlimited`, found, ['limited', 'unlimited', 'perSecond'], of.bar);
}

async function limitAllKeys(url: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const connection = new SqliteConnection(url.slice('sqlite:'.length), 'write');
    connection.prepare('update api_keys set limits = ?').run(wide);
    connection.close();
    return;
  }
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('update api_keys set limits = $1', [wide]);
  await client.query('vacuum analyze');
  await client.end();
}
