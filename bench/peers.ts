/**
 * Keyreeve compared with other Node servers: better-auth with its API-key plugin, and oidc-provider. All run on the same
 * machine, in the same run and on the same kind of database. `peers/` configures them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Databases, type BenchOptions } from './databases.ts';
import type { HashLimitOptions } from './hash-limit.ts';
import {
  createRequest,
  forwardRequest,
  introspectRequest,
  keyreeve,
  signInRequest,
  verifyRequest,
} from './keyreeve.ts';
import { constantRequest, contender } from './measure.ts';
import * as peer from './peer-requests.ts';
import { Programs, run, type Running } from './processes.ts';
import { barText, titleOf, verdict } from './report.ts';
import { writePool, type RequestTemplate } from './request.ts';
import {
  alternate,
  generatorNote,
  ms,
  rate,
  table,
  type Contender,
  type Figure,
  type Measured,
  type Rounds,
} from './rounds.ts';
import { signedInAccounts } from './seed.ts';
import { basicOf, signIn } from './tokens.ts';

interface Setup {
  readonly name: string;
  readonly folder: string;
  readonly databases: Databases;
}

/** A measurement of Keyreeve, and its limit: the constant for the same request, or bare hashes. */
interface Ours {
  readonly program: Contender;
  readonly limit: Contender;
}

interface Comparison {
  readonly what: string;
  readonly peer: Contender;
  readonly ours: readonly Ours[];
}

/** The results of one database. */
interface Results {
  readonly rows: readonly string[][];
  /** Values by the name of a goal. */
  readonly goals: ReadonlyMap<string, number>;
}

const forwardGoal = '`/auth/forward` / better-auth’s verification';
const verifyGoal = '`POST /auth/verify` / better-auth’s verification';
const signInGoal = 'sign-ins / bare hashes at the same priority';
const bars: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  [forwardGoal]: { sqlite: 40, postgres: 25 },
  [verifyGoal]: { sqlite: 25, postgres: 15 },
  [signInGoal]: { sqlite: 0.95, postgres: 0.95 },
};

const connections = 64;
/** A hash takes tens of milliseconds of one core, so four connections keep latency below a second. */
const signInConnections = 4;
const accountsThatSignIn = 1_000;
const userCount = 1_000;
const signedInUsers = 32;

export async function peers(options: BenchOptions): Promise<string> {
  installPeers();
  const byDatabase = new Map<string, Results>();
  for (const name of options.databases) {
    const folder = join(options.folder, name);
    mkdirSync(folder);
    await using databases = await Databases.start(name, folder);
    byDatabase.set(name, await measureAll({ name, folder, databases }, options));
  }
  const columns = [
    'what',
    'requests/s',
    'p50/p99 ms',
    'processor µs/request',
    'rate / peer',
    'processor time, peer’s / ours',
    'p50/p99, times faster',
    'processor time / limit',
  ];
  const tables = [...byDatabase].map(([name, { rows }]) => `${titleOf(name)}:\n\n${table(columns, rows)}`);
  return [...tables, generatorNote, goalTable(byDatabase)].join('\n\n');
}

function goalTable(byDatabase: ReadonlyMap<string, Results>): string {
  const names = [...byDatabase.keys()];
  const rows = Object.entries(bars).map(([goal, atLeast]) => [
    goal,
    ...names.map((name) => {
      const value = byDatabase.get(name)?.goals.get(goal) ?? Number.NaN;
      const bar = { atLeast: atLeast[name] ?? 0 };
      return `${times(value)}, ${barText(bar)}: ${verdict(value, bar)}`;
    }),
  ]);
  return table(['goal', ...names.map(titleOf)], rows);
}

async function measureAll(setup: Setup, options: BenchOptions): Promise<Results> {
  await using programs = new Programs();
  const comparisons = await prepare(setup, options, programs);
  const rows: string[][] = [];
  const goals = new Map<string, number>();
  for (const comparison of comparisons) {
    const { peer: thePeer, ours } = comparison;
    const contenders = [thePeer, ...ours.flatMap(({ program, limit }) => [program, limit])];
    const rounds = await alternate(contenders, options.rounds, 1);
    const measured = rowsOf(comparison, rounds);
    for (const row of measured) console.error(row.join(', '));
    rows.push(...measured);
    for (const [goal, value] of goalsOf(comparison, rounds)) goals.set(goal, value);
  }
  return { rows, goals };
}

/** Fills the databases and starts the programs. */
async function prepare(
  { name, folder, databases }: Setup,
  { keys, seconds }: BenchOptions,
  programs: Programs,
): Promise<readonly Comparison[]> {
  console.error(`${name}: ${keys} keys for each`);
  const seeded = await databases.seed('keyreeve', keys);
  const betterAuthUrl = await databases.newUrl('better-auth');
  const poolPath = join(folder, 'better-auth');
  const betterAuthInput = { databaseUrl: betterAuthUrl, keys, users: userCount, sessions: signedInUsers, poolPath };
  const betterAuthScript = './peers/better-auth-seed.ts';
  const betterAuth = await run<peer.BetterAuthSeeded>('0,1', betterAuthScript, betterAuthInput, production);
  const oidcUrl = await databases.newUrl('oidc-provider');
  const oidcInput = { databaseUrl: oidcUrl, tokens: keys, poolPath: join(folder, 'oidc-tokens') };
  const oidc = await run<peer.OidcSeeded>('0,1', './peers/oidc-provider-seed.ts', oidcInput, production);

  const limit = await programs.start('0', './limit-server.ts', ['0']);
  const ours = programs.add(await keyreeve('0', seeded));
  const betterAuthServer = await programs.start('0', './peers/better-auth-server.ts', [betterAuthUrl], production);
  const oidcServer = await programs.start('0', './peers/oidc-provider-server.ts', [oidcUrl], production);
  const { accessTokens } = await signIn(ours.port, folder);
  // Other accounts than those of the access tokens, because sign-ins end old sessions.
  const credentials = writePool(
    join(folder, 'credentials'),
    Array.from({ length: Math.min(accountsThatSignIn, seeded.accounts - signedInAccounts) }, (_, index) =>
      basicOf(signedInAccounts + index + 1),
    ),
  );

  const loaded = (title: string, running: Running, request: RequestTemplate): Contender =>
    contender(title, running, { connections, seconds, request });
  const signingIn = (title: string, running: Running, request: RequestTemplate): Contender =>
    contender(title, running, { connections: signInConnections, seconds: seconds * 2, request });
  const withLimit = (title: string, limitTitle: string, request: RequestTemplate): Ours => ({
    program: loaded(title, ours, request),
    limit: loaded(limitTitle, limit, constantRequest(request)),
  });
  // The server is pinned to one core, so it computes one hash at once.
  const bareHashes: HashLimitOptions = { concurrency: 1, seconds: seconds * 2 };
  const bareHash = (): Promise<Measured> => run('0', './hash-limit.ts', bareHashes);
  const { keys: pool, serviceKey } = seeded;
  return [
    {
      what: 'verification',
      peer: loaded('better-auth', betterAuthServer, peer.verifyRequest(betterAuth)),
      ours: [
        withLimit('Keyreeve, /auth/verify', 'constant, /auth/verify', verifyRequest(pool, serviceKey)),
        withLimit('Keyreeve, /auth/forward', 'constant, /auth/forward', forwardRequest(pool)),
      ],
    },
    {
      what: 'introspection',
      peer: loaded('oidc-provider', oidcServer, peer.introspectRequest(oidc)),
      ours: [withLimit('Keyreeve', 'constant', introspectRequest(pool, serviceKey))],
    },
    {
      what: 'sign-in',
      peer: signingIn('better-auth (scrypt)', betterAuthServer, peer.signInRequest(betterAuth)),
      ours: [
        {
          program: signingIn('Keyreeve (Argon2id)', ours, signInRequest(credentials)),
          limit: { name: 'Argon2id alone, in a loop', run: bareHash },
        },
      ],
    },
    {
      what: 'key creation',
      peer: loaded('better-auth', betterAuthServer, peer.createRequest(betterAuth)),
      ours: [withLimit('Keyreeve', 'constant', createRequest(accessTokens))],
    },
  ];
}

function rowsOf({ what, peer: { name: peerName }, ours }: Comparison, rounds: Rounds): string[][] {
  const measured = (name: string): string[] => [
    `${what}: ${name}`,
    rounds.rate(name),
    `${ms(rounds.median(name, 'msP50'))}/${ms(rounds.median(name, 'msP99'))}`,
    processor(rounds.median(name, 'processorUs')),
  ];
  const faster = (name: string, figure: Figure): string => times(rounds.ratio(peerName, name, figure));
  const compared = ours.map(({ program: { name }, limit }) => [
    ...measured(name),
    times(rounds.ratio(name, peerName, 'perSecond')),
    faster(name, 'processorUs'),
    `${faster(name, 'msP50')}/${faster(name, 'msP99')}`,
    times(rounds.ratio(name, limit.name, 'processorUs')),
  ]);
  const nothing = ['', '', '', ''];
  return [
    [...measured(peerName), ...nothing],
    ...compared,
    ...ours.map(({ limit }) => [...measured(limit.name), ...nothing]),
  ];
}

/** @returns times of the peer's rate, or of its processor time if the load generator was the bottleneck */
function goalsOf({ what, peer: { name: peerName }, ours }: Comparison, rounds: Rounds): [string, number][] {
  if (what === 'sign-in') {
    return ours.map(({ program, limit }) => [signInGoal, rounds.ratio(program.name, limit.name, 'perSecond')]);
  }
  if (what !== 'verification') return [];
  return ours.map(({ program: { name } }) => [
    name.endsWith('forward') ? forwardGoal : verifyGoal,
    rounds.isGeneratorBound(name)
      ? rounds.ratio(peerName, name, 'processorUs')
      : rounds.ratio(name, peerName, 'perSecond'),
  ]);
}

/** Microseconds, with a decimal below ten. */
const processor = (us: number): string => (us < 10 ? us.toFixed(1) : rate(us));
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
