/**
 * Keyreeve compared with other Node servers: better-auth with its API-key plugin, and oidc-provider. All run on the same
 * machine, in the same run and on the same kind of database. `peers/` configures them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostgresServer } from '../packages/server/test-kit/postgres/server.ts';
import type { HashLimitOptions } from './hash-limit.ts';
import {
  createRequest,
  forwardRequest,
  introspectRequest,
  keyreeve,
  limitRequest,
  signInRequest,
  verifyRequest,
} from './keyreeve.ts';
import type { LoadResult } from './load.ts';
import * as peer from './peer-requests.ts';
import { processorMs } from './processor-time.ts';
import { load, Programs, run, type Running } from './processes.ts';
import { writePool, type RequestTemplate } from './request.ts';
import { alternate, ms, rate, table, type Contender, type Rounds } from './rounds.ts';
import { seed } from './seed.ts';
import { basicOf, signIn } from './tokens.ts';

export interface PeersOptions {
  readonly keys: number;
  readonly rounds: number;
  readonly seconds: number;
  /** `sqlite` or `postgres`. */
  readonly databases: readonly string[];
  readonly folder: string;
}

interface Setup {
  readonly name: string;
  readonly folder: string;
  /** @returns the URL of a new database for one program */
  readonly newUrl: (name: string) => Promise<string>;
}

interface Comparison {
  readonly what: string;
  readonly peer: Contender;
  readonly ours: readonly Contender[];
  readonly limit: Contender;
}

const connections = 64;
/** A hash takes tens of milliseconds of one core, so four connections keep latency below a second. */
const signInConnections = 4;
const accountsThatSignIn = 1_000;
const userCount = 1_000;
const signedInUsers = 32;

export async function peers(options: PeersOptions): Promise<string> {
  installPeers();
  const rows: string[][] = [];
  for (const name of options.databases) {
    const folder = join(options.folder, name);
    mkdirSync(folder);
    if (name === 'sqlite') {
      const newUrl = (file: string) => Promise.resolve(`sqlite:${join(folder, `${file}.db`)}`);
      rows.push(...(await measure({ name, folder, newUrl }, options)));
      continue;
    }
    await using server = await PostgresServer.start({ durable: true });
    const newUrl = async () => `${(await server.createDatabase()).url}?sslmode=disable`;
    rows.push(...(await measure({ name, folder, newUrl }, options)));
  }
  return table(
    [
      'database',
      'what',
      'requests/s',
      'p50 ms',
      'p99 ms',
      'processor µs/request',
      'rate / peer',
      'p50, times faster',
      'p99, times faster',
      'rate / limit',
    ],
    rows,
  );
}

async function measure(setup: Setup, { keys, rounds, seconds }: PeersOptions): Promise<string[][]> {
  console.error(`${setup.name}: seeding ${keys} keys for each`);
  const ourUrl = await setup.newUrl('keyreeve');
  const seeded = await seed(ourUrl, join(setup.folder, 'keys'), keys);
  const betterAuthUrl = await setup.newUrl('better-auth');
  const betterAuth = await run<peer.BetterAuthSeeded>(
    '0,1',
    './peers/better-auth-seed.ts',
    {
      databaseUrl: betterAuthUrl,
      keys,
      users: userCount,
      sessions: signedInUsers,
      poolPath: join(setup.folder, 'better-auth'),
    },
    production,
  );
  const oidcUrl = await setup.newUrl('oidc-provider');
  const oidc = await run<peer.OidcSeeded>(
    '0,1',
    './peers/oidc-provider-seed.ts',
    { databaseUrl: oidcUrl, tokens: keys, poolPath: join(setup.folder, 'oidc-tokens') },
    production,
  );

  await using programs = new Programs();
  const running = {
    limit: await programs.start('0', './limit-server.ts', ['0']),
    keyreeve: programs.add(await keyreeve('0', seeded)),
    betterAuth: await programs.start('0', './peers/better-auth-server.ts', [betterAuthUrl], production),
    oidc: await programs.start('0', './peers/oidc-provider-server.ts', [oidcUrl], production),
  };
  const { accessTokens } = await signIn(running.keyreeve.port, setup.folder);
  const logins = writePool(
    join(setup.folder, 'logins'),
    Array.from({ length: Math.min(accountsThatSignIn, seeded.accounts) }, (_, index) => basicOf(index + 1)),
  );
  const contender = (
    name: string,
    { port, process: measuredProcess }: Running,
    request: RequestTemplate,
    connectionCount = connections,
  ): Contender => ({
    name,
    run: async () => {
      const pid = measuredProcess.pid ?? 0;
      const beforeMs = processorMs(pid);
      const result = await load({ port, connections: connectionCount, seconds, request });
      return { ...result, processorUs: ((processorMs(pid) - beforeMs) * 1000) / result.requests };
    },
  });
  const bareHash = (): Promise<LoadResult> =>
    run('0', './hash-limit.ts', { concurrency: signInConnections, seconds } satisfies HashLimitOptions);
  const bare = contender('bare node:http', running.limit, limitRequest);

  const comparisons: readonly Comparison[] = [
    {
      what: 'verification',
      peer: contender('better-auth', running.betterAuth, peer.verifyRequest(betterAuth)),
      ours: [
        contender('Keyreeve, /auth/verify', running.keyreeve, verifyRequest(seeded.keys, seeded.serviceKey)),
        contender('Keyreeve, /auth/forward', running.keyreeve, forwardRequest(seeded.keys)),
      ],
      limit: bare,
    },
    {
      what: 'introspection',
      peer: contender('oidc-provider', running.oidc, peer.introspectRequest(oidc)),
      ours: [contender('Keyreeve', running.keyreeve, introspectRequest(seeded.keys, seeded.serviceKey))],
      limit: bare,
    },
    {
      what: 'sign-in',
      peer: contender('better-auth (scrypt)', running.betterAuth, peer.signInRequest(betterAuth), signInConnections),
      ours: [contender('Keyreeve (Argon2id)', running.keyreeve, signInRequest(logins), signInConnections)],
      limit: { name: 'Argon2id alone, in a loop', run: bareHash },
    },
    {
      what: 'key creation',
      peer: contender('better-auth', running.betterAuth, peer.createRequest(betterAuth)),
      ours: [contender('Keyreeve', running.keyreeve, createRequest(accessTokens))],
      limit: bare,
    },
  ];
  const rows: string[][] = [];
  for (const comparison of comparisons) {
    const contenders = [comparison.peer, ...comparison.ours, comparison.limit];
    // The first round is a warm-up.
    await alternate(contenders, 1);
    const measured = rowsOf(setup.name, comparison, await alternate(contenders, rounds));
    for (const row of measured) console.error(row.join(', '));
    rows.push(...measured);
  }
  return rows;
}

function rowsOf(
  database: string,
  { what, peer: { name: peerName }, ours, limit }: Comparison,
  rounds: Rounds,
): string[][] {
  const measured = (name: string): string[] => [
    database,
    `${what}: ${name}`,
    rate(rounds.median(name, 'perSecond')),
    ms(rounds.median(name, 'msP50')),
    ms(rounds.median(name, 'msP99')),
    processor(rounds.median(name, 'processorUs')),
  ];
  const compared = ours.map(({ name }) => [
    ...measured(name),
    times(rounds.ratio(name, peerName, 'perSecond')),
    times(rounds.ratio(peerName, name, 'msP50')),
    times(rounds.ratio(peerName, name, 'msP99')),
    rounds.ratio(name, limit.name, 'perSecond').toFixed(2),
  ]);
  const nothing = ['', '', '', ''];
  return [[...measured(peerName), ...nothing], ...compared, [...measured(limit.name), ...nothing]];
}

const processor = (us: number): string => (Number.isNaN(us) ? '' : rate(us));
const times = (value: number): string => value.toFixed(value < 10 ? 2 : 1);

const production = { NODE_ENV: 'production' };

/** Installs the peers' packages, which are separate from those of the repository. */
function installPeers(): void {
  const folder = fileURLToPath(new URL('./peers/', import.meta.url));
  const changedAt = (file: string): number => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  console.error('installing the peers');
  // No install scripts are needed: the only package with native code ships its binaries.
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the peers could not be installed');
}
