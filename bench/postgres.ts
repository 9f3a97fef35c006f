/** Keyreeve on PostgreSQL, compared with its limit, with one query per request, and while keys are created and deleted. */
import { join } from 'node:path';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import { createRequest, deleteRequest, forwardRequest, keyreeve, limitRequest } from './keyreeve.ts';
import type { LoadResult } from './load.ts';
import { load, Programs, type Running } from './processes.ts';
import type { RequestTemplate } from './request.ts';
import { alternate, ms, rate, table, type Rounds } from './rounds.ts';
import { keysPerAccount, seed, signedInAccounts, type Seeded } from './seed.ts';
import { signIn, type SignedIn } from './tokens.ts';
import { variantOf } from './variant.ts';

export interface PostgresOptions {
  readonly keys: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

/** Rate of the deletions, and of the creations, during a measurement. */
const changesPerSecond = 200;
const changeConnections = 16;
const calmConnections = 64;

export async function postgres(options: PostgresOptions): Promise<string> {
  await using server = await PostgresServer.start({ durable: true });
  const { url } = await server.createDatabase();
  console.error(`seeding ${options.keys} keys`);
  const seeded = await seed(`${url}?sslmode=disable`, join(options.folder, 'keys'), options.keys);
  using variant = variantOf('one-query-per-request');
  await using programs = new Programs();
  const running = {
    limit: await programs.start('0', './limit-server.ts', ['0']),
    keyreeve: programs.add(await keyreeve('0', seeded)),
    'one query per request': programs.add(await keyreeve('0', seeded, variant.program)),
  };
  const rows = [...(await rates(running, seeded, options)), ...(await changes(running.keyreeve, seeded, options))];
  return table(['what', 'measured', 'goal'], rows);
}

type Contenders = Readonly<Record<'limit' | 'keyreeve' | 'one query per request', Running>>;
type Row = readonly [what: string, measured: string, goal: string];

const logged = (row: Row): Row => {
  console.error(row.join(': '));
  return row;
};

async function rates(running: Contenders, { keys }: Seeded, { rounds, seconds }: PostgresOptions): Promise<Row[]> {
  const measure = async (connections: number): Promise<Rounds> => {
    const contenders = Object.entries(running).map(([name, { port }]) => ({
      name,
      run: () => load({ port, connections, seconds, request: name === 'limit' ? limitRequest : forwardRequest(keys) }),
    }));
    await alternate(contenders, 1);
    return alternate(contenders, rounds);
  };
  const rows: Row[] = [];
  const name = 'one query per request';
  for (const connections of [64, 256]) {
    const found = await measure(connections);
    const per = (program: string): string => rate(found.median(program, 'perSecond'));
    const times = (other: string): string => found.ratio('keyreeve', other, 'perSecond').toFixed(2);
    rows.push(
      logged([
        `GET /auth/forward / limit, ${connections} connections`,
        `${times('limit')} (${per('keyreeve')} against ${per('limit')} requests/s)`,
        'at least 0.55',
      ]),
      logged([
        `GET /auth/forward / one query per request, ${connections} connections`,
        `${times(name)} (${per('keyreeve')} against ${per(name)} requests/s)`,
        'at least 2',
      ]),
    );
  }
  const one = await measure(1);
  rows.push(
    logged([
      'p50 with one connection / one query per request',
      `${one.ratio('keyreeve', name, 'msP50').toFixed(2)} (${ms(one.median('keyreeve', 'msP50'))} against ${ms(one.median(name, 'msP50'))} ms)`,
      'at most 1.3',
    ]),
  );
  return rows;
}

/** Measures at half the highest rate, so that p99 shows interference and not saturation. */
async function changes({ port }: Running, seeded: Seeded, options: PostgresOptions): Promise<Row[]> {
  const { rounds, seconds, folder } = options;
  const tokens = await signIn(port, folder);
  const request = forwardRequest(seeded.keys);
  const highest = await load({ port, connections: calmConnections, seconds, request });
  const half = Math.round(highest.perSecond / 2);
  const verify = (): Promise<LoadResult> => load({ port, connections: calmConnections, seconds, request, rate: half });
  const change = (changing: RequestTemplate, longerSeconds = 0): Promise<LoadResult> =>
    load({
      port,
      connections: changeConnections,
      seconds: seconds + longerSeconds,
      request: changing,
      rate: changesPerSecond,
    });
  const deletions = nextDeletions(tokens, changesPerSecond * (seconds + 2));

  const deletion = await alternate(
    [
      { name: 'calm', run: () => change(deletions()) },
      { name: 'under load', run: () => during(() => change(deletions()), [verify()]) },
    ],
    rounds,
  );
  const verification = await alternate(
    [
      { name: 'calm', run: verify },
      {
        name: 'during changes',
        run: () => during(verify, [change(deletions(), 1), change(createRequest(tokens.accessTokens), 1)]),
      },
    ],
    rounds,
  );
  const p99 = (found: Rounds, busy: string): string =>
    `${found.ratio(busy, 'calm', 'msP99').toFixed(2)} (${ms(found.median(busy, 'msP99'))} against ${ms(found.median('calm', 'msP99'))} ms)`;
  return [
    logged([
      `p99 of deletions, with / without ${rate(half)} verifications/s (half the highest rate)`,
      p99(deletion, 'under load'),
      'at most 3',
    ]),
    logged([
      `p99 of ${rate(half)} verifications/s, with / without ${changesPerSecond} deletions/s and ${changesPerSecond} creations/s`,
      p99(verification, 'during changes'),
      'at most 3',
    ]),
  ];
}

/** @throws Error if a concurrent load failed */
async function during(
  measured: () => Promise<LoadResult>,
  concurrent: readonly Promise<LoadResult>[],
): Promise<LoadResult> {
  const result = await measured();
  for (const other of await Promise.all(concurrent)) {
    if (other.failures > 0) throw new Error(`${other.failures} concurrent requests failed: ${other.firstFailure}`);
  }
  return result;
}

/** @returns a function whose results each delete other keys */
function nextDeletions({ deletions }: SignedIn, keysPerLoad: number): () => RequestTemplate {
  let first = 0;
  return () => {
    const pool = { ...deletions, first };
    first += keysPerLoad;
    if (first > signedInAccounts * keysPerAccount) throw new Error('not enough keys were seeded to delete');
    return deleteRequest(pool);
  };
}
