/** The hot path on SQLite, compared with its limit: `npm run bench`. */
import { join } from 'node:path';
import { batchRequest, forwardRequest, keyreeve, limitRequest, signInRequest, verifyRequest } from './keyreeve.ts';
import { load, start, type Running } from './processes.ts';
import { residentMib } from './processor-time.ts';
import { writePool, type RequestTemplate } from './request.ts';
import { alternate, ms, rate, table } from './rounds.ts';
import { emailAt, seed, type Seeded } from './seed.ts';

export interface HotPathOptions {
  readonly keys: number;
  /** Number of keys in a second, larger database; 0 skips it. */
  readonly many: number;
  /** Number of verifications before the server's memory is measured. */
  readonly verifications: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

type Report = (what: string, measured: string, goal: string) => void;

const connections = 64;
const batchSize = 100;

export async function hotPath(options: HotPathOptions): Promise<string> {
  const rows: (readonly string[])[] = [];
  const report: Report = (what, measured, goal) => {
    rows.push([what, measured, goal]);
    console.error(`${what}: ${measured} (goal: ${goal})`);
  };
  const seedFile = (name: string, keys: number): Promise<Seeded> => {
    console.error(`seeding ${keys} keys`);
    const path = join(options.folder, `${name}.db`);
    return seed(`sqlite:${path}`, `${path}.keys`, keys);
  };
  const small = await seedFile('small', options.keys);
  await throughput(small, options, report);
  await flood(small, options, report);
  if (options.many > 0) await size(small, await seedFile('many', options.many), options, report);
  return table(['what', 'measured', 'goal'], rows);
}

async function throughput(
  database: Seeded,
  { verifications, rounds, seconds }: HotPathOptions,
  report: Report,
): Promise<void> {
  const limit = await start('0', './limit-server.ts', ['0']);
  const server = await keyreeve('0', database);
  const { keys, serviceKey } = database;
  report('start to first response', `${server.startMs.toFixed(0)} ms`, 'under 500 ms');
  const contender = (name: string, running: Running, request: RequestTemplate) => ({
    name,
    run: () => load({ port: running.port, connections, seconds, request }),
  });
  const forward = contender('forward', server, forwardRequest(keys));
  const bare = contender('limit', limit, limitRequest);
  const others = [
    contender('verify', server, verifyRequest(keys, serviceKey)),
    contender('batch', server, batchRequest(keys, serviceKey, batchSize)),
  ];
  await alternate([forward, bare], 1);
  const pair = await alternate([forward, bare], rounds);
  report(
    'GET /auth/forward / limit',
    `${pair.ratio('forward', 'limit', 'perSecond').toFixed(2)} (${rate(pair.median('forward', 'perSecond'))} against ${rate(pair.median('limit', 'perSecond'))} requests/s)`,
    'at least 0.5, ideally 0.7',
  );
  const rest = await alternate([...others, bare], rounds);
  report(
    'POST /auth/verify / limit',
    `${rest.ratio('verify', 'limit', 'perSecond').toFixed(2)} (${rate(rest.median('verify', 'perSecond'))} requests/s)`,
    'none',
  );
  report(
    'credentials/s of POST /auth/verify/batch of 100 / limit',
    `${(rest.ratio('batch', 'limit', 'perSecond') * batchSize).toFixed(2)} (${rate(rest.median('batch', 'perSecond') * batchSize)} credentials/s)`,
    'at least 2',
  );
  // Counts the requests that were sent, because the port of the metrics is unknown here.
  for (let sent = 0; sent < verifications; sent += (await forward.run()).requests);
  report(
    `resident memory after ${rate(verifications)} verifications`,
    `${Math.round(residentMib(server.process.pid ?? 0))} MiB`,
    'under 200 MiB',
  );
  await server.stop();
  await limit.stop();
}

async function size(small: Seeded, many: Seeded, options: HotPathOptions, report: Report): Promise<void> {
  const servers = [await keyreeve('0', small), await keyreeve('0', many)] as const;
  const contender = (index: 0 | 1, { keys }: Seeded) => ({
    name: String(index),
    run: () =>
      load({
        port: servers[index].port,
        connections,
        seconds: options.seconds,
        request: forwardRequest(keys),
      }),
  });
  await contender(1, many).run();
  const result = await alternate([contender(0, small), contender(1, many)], options.rounds);
  const measured = result.ratio('0', '1', 'perSecond').toFixed(2);
  report(`time per verification, ${options.many} keys / ${options.keys} keys`, measured, 'at most 1.3');
  for (const server of servers) await server.stop();
}

/** The server and the load generators share both cores. */
async function flood(database: Seeded, { rounds, seconds, folder }: HotPathOptions, report: Report): Promise<void> {
  const server = await keyreeve('0,1', database);
  const { port } = server;
  const request = forwardRequest(database.keys);
  const wrong = Array.from({ length: 1_000 }, (_, index) => `${emailAt(index + 1)}:wrong horse battery staple`);
  const logins = writePool(
    join(folder, 'wrong-logins'),
    wrong.map((text) => Buffer.from(text).toString('base64')),
  );
  const highest = await load({ connections, seconds, port, request }, '0,1');
  const half = Math.round(highest.perSecond / 2);
  const calm = () => load({ connections, seconds, port, request, rate: half }, '0,1');
  const flooded = async () => {
    const attempts = { ...signInRequest(logins), mayFail: true };
    const signIns = load({ connections: 32, seconds: seconds + 1, port, request: attempts, rate: 400 }, '0,1');
    const result = await calm();
    await signIns;
    return result;
  };
  const result = await alternate(
    [
      { name: 'flooded', run: flooded },
      { name: 'calm', run: calm },
    ],
    rounds,
  );
  report(
    'verification p99 at half its highest rate, with / without a flood of sign-ins',
    `${result.ratio('flooded', 'calm', 'msP99').toFixed(2)} (${ms(result.median('flooded', 'msP99'))} ms against ${ms(result.median('calm', 'msP99'))} ms at ${half} requests/s)`,
    'at most 2',
  );
  await server.stop();
}
