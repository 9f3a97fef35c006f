/**
 * `npm run bench`: every figure that is claimed, measured beside its limit in the same run. Rounds alternate between the
 * two, so that a machine whose speed drifts slows both; ratios of neighbouring rounds and their medians are reported.
 *
 *     npm run bench -- [--keys 1000000] [--many 10000000] [--rounds 7] [--seconds 3]
 *
 * `--many 0` leaves the second, larger database out.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeKey } from '../packages/server/src/api-keys/key-text.ts';
import { deriveKeys } from '../packages/server/src/crypto/master-key.ts';
import { lookupOf } from '../packages/server/src/crypto/keyed-hash.ts';
import { SqliteConnection } from '../packages/server/src/db/sqlite-connection.ts';
import { load, median, residentMib, start, type Running } from './processes.ts';
import { seed, type Seeded } from './seed.ts';

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '1000000' },
    many: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const connections = 64;
const folder = mkdtempSync(join(tmpdir(), 'keyreeve-bench-'));

type Row = readonly [what: string, measured: string, bar: string];
const rows: Row[] = [];
const note = (what: string, measured: string, bar: string): void => {
  rows.push([what, measured, bar]);
  console.error(`${what}: ${measured} (bar: ${bar})`);
};
const ratio = (value: number): string => value.toFixed(2);

/** A key that may ask about others, put beside the seeded ones. */
function addServiceKey({ databasePath, masterKey }: Seeded): string {
  const text = makeKey('krv').reveal();
  const hash = deriveKeys(Buffer.from(masterKey, 'base64url')).apiKeyHash.stored(text);
  const connection = new SqliteConnection(databasePath, 'write');
  connection
    .prepare(
      `insert into api_keys (lookup, key_hash, id, account_pk, nickname, scopes, created_at, updated_at)
       values (?, ?, 9007199254740991, 1, 'service', 'keyreeve:verify', 0, 0)`,
    )
    .run(lookupOf(hash), hash);
  connection.close();
  return text;
}

const keyreeve = (cores: string, { databasePath, masterKey }: Seeded): Promise<Running> =>
  start(cores, '../packages/server/bin/keyreeve.js', ['serve'], {
    KEYREEVE_PORT: '0',
    KEYREEVE_ADMIN_PORT: '0',
    KEYREEVE_DATABASE_URL: `sqlite:${databasePath}`,
    KEYREEVE_MASTER_KEY: masterKey,
    KEYREEVE_THROTTLE: 'off',
    KEYREEVE_LOG_LEVEL: 'info',
    KEYREEVE_DRAIN_SECONDS: '0',
  });

/** Alternating rounds of two loads. @returns the median of each and of the ratios of neighbouring rounds */
async function pair(first: () => Promise<number>, second: () => Promise<number>) {
  const ofFirst: number[] = [];
  const ofSecond: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ofFirst.push(await first());
    ofSecond.push(await second());
  }
  const ratios = ofFirst.map((value, round) => value / (ofSecond[round] ?? Number.NaN));
  return { first: median(ofFirst), second: median(ofSecond), ratio: median(ratios) };
}

async function throughput(database: Seeded, serviceKey: string): Promise<void> {
  const limit = await start('0', './limit-server.ts', ['0']);
  const server = await keyreeve('0', database);
  const { poolPath } = database;
  note('start to first answer', `${server.startMs.toFixed(0)} ms`, 'under 500 ms');
  const common = { connections, seconds, poolPath };
  const rate = (running: Running, kind: 'constant' | 'forward' | 'verify' | 'batch') => async () => {
    const result = await load({ ...common, port: running.port, kind, serviceKey });
    if (result.failures > 0) throw new Error(`${result.failures} of ${result.requests} ${kind} requests failed`);
    return result.perSecond;
  };
  await rate(server, 'forward')();
  await rate(limit, 'constant')();
  const forward = await pair(rate(server, 'forward'), rate(limit, 'constant'));
  note(
    'GET /auth/forward / limit',
    `${ratio(forward.ratio)} (${Math.round(forward.first)} against ${Math.round(forward.second)} requests/s)`,
    'at least 0.5, dream 0.7',
  );
  const verify = await pair(rate(server, 'verify'), rate(limit, 'constant'));
  note('POST /auth/verify / limit', `${ratio(verify.ratio)} (${Math.round(verify.first)} requests/s)`, 'none');
  const batch = await pair(rate(server, 'batch'), rate(limit, 'constant'));
  note(
    'credentials/s of POST /auth/verify/batch of 100 / limit',
    `${ratio(batch.ratio * 100)} (${Math.round(batch.first * 100)} credentials/s)`,
    'at least 2',
  );
  while ((await verified(server)) < 1_000_000) await rate(server, 'forward')();
  note(
    'resident after a million verifications',
    `${Math.round(residentMib(server.process.pid ?? 0))} MiB`,
    'under 200 MiB',
  );
  await server.stop();
  await limit.stop();
}

let verifications = 0;
/** Counted here, from the rates asked for: the admin listener's port isn't known to the benchmark. */
async function verified(server: Running): Promise<number> {
  const result = await load({ connections, seconds, port: server.port, kind: 'forward', poolPath: pooled });
  verifications += result.requests;
  return verifications;
}
let pooled = '';

async function size(small: Seeded, many: Seeded): Promise<void> {
  const servers = [await keyreeve('0', small), await keyreeve('0', many)] as const;
  const rate =
    (index: 0 | 1, { poolPath }: Seeded) =>
    async () =>
      (await load({ connections, seconds, port: servers[index].port, kind: 'forward', poolPath })).perSecond;
  await rate(1, many)();
  const result = await pair(rate(0, small), rate(1, many));
  note(`time per verification, ${values.many} keys / ${values.keys} keys`, ratio(result.ratio), 'at most 1.3');
  for (const server of servers) await server.stop();
}

/** Both cores free to the server; the loads share them with it. */
async function flood({ poolPath, ...database }: Seeded): Promise<void> {
  const server = await keyreeve('0,1', { poolPath, ...database });
  const { port } = server;
  const highest = await load({ connections, seconds, port, kind: 'forward', poolPath }, '0,1');
  const half = Math.round(highest.perSecond / 2);
  const calm = (): Promise<number> =>
    load({ connections, seconds, port, kind: 'forward', poolPath, rate: half }, '0,1').then(({ msP99 }) => msP99);
  const flooded = async (): Promise<number> => {
    const logins = load({ connections: 32, seconds: seconds + 1, port, kind: 'login', rate: 400 }, '0,1');
    const p99 = await calm();
    await logins;
    return p99;
  };
  const result = await pair(flooded, calm);
  note(
    'p99 of verification at half its highest rate, with / without a flood of sign-ins',
    `${ratio(result.ratio)} (${result.first.toFixed(2)} ms against ${result.second.toFixed(2)} ms at ${half} requests/s)`,
    'at most 2',
  );
  await server.stop();
}

try {
  console.error(`seeding ${values.keys} keys`);
  const small = await seed(join(folder, 'small.db'), Number(values.keys));
  pooled = small.poolPath;
  const serviceKey = addServiceKey(small);
  await throughput(small, serviceKey);
  await flood(small);
  if (Number(values.many) > 0) {
    console.error(`seeding ${values.many} keys`);
    await size(small, await seed(join(folder, 'many.db'), Number(values.many)));
  }
  console.log(
    `| what | measured | bar |\n| --- | --- | --- |\n${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}`,
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
