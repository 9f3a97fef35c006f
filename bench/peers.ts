/**
 * Keyreeve compared with better-auth and its API-key plugin, and with oidc-provider, each on one core. `peers/` configures
 * them.
 */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import {
  createRequest,
  forwardRequest,
  introspectRequest,
  keyreeve,
  signInRequest,
  verifyRequest,
} from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { measure, Programs, run, script, start, type Running } from './processes.ts';
import type { Bar, Report } from './report.ts';
import {
  blank,
  formRequest,
  jsonRequest,
  requestText,
  serial,
  writePool,
  type Pool,
  type RequestTemplate,
} from './request.ts';
import type { Side } from './rounds.ts';
import { basicOf, signedInAccounts } from './seeded.ts';
import { accessTokensOf } from './tokens.ts';

const keysMax = 40_000;
const connections = 64;
/** A hash takes tens of milliseconds of one core, so four connections keep latency below a second. */
const signInConnections = 4;
const users = 1_000;
const sessions = 32;
const env = { NODE_ENV: 'production' };

/** The output of `peers/better-auth-seed.ts`. */
interface BetterAuthSeeded {
  readonly keys: Pool;
  readonly emails: Pool;
  /** Each record is a complete Cookie header. */
  readonly cookies: Pool;
  readonly password: string;
  readonly origin: string;
}

/** The output of `peers/oidc-provider-seed.ts`. */
interface OidcSeeded {
  readonly tokens: Pool;
  /** The credentials of the client: `id:secret`. */
  readonly client: string;
}

interface Comparison {
  readonly what: string;
  readonly connections?: number;
  readonly server: Running;
  readonly ours: RequestTemplate;
  readonly peer: Running;
  readonly theirs: RequestTemplate;
  /** Of the rate of Keyreeve, divided by that of the peer. */
  readonly bar?: Bar;
}

export async function peers(bench: Bench, report: Report): Promise<void> {
  installPeers();
  for (const kind of bench.options.kinds) await compareAll(bench, report, kind);
}

async function compareAll(bench: Bench, report: Report, kind: Kind): Promise<void> {
  const { seconds } = bench.options;
  await using programs = new Programs();
  for (const { what, peer, bar = {}, ...of } of await comparisons(bench, kind, programs)) {
    const side = (name: string, running: Running, request: RequestTemplate): Side => ({
      name,
      run: async () => {
        const load = { connections: of.connections ?? connections, seconds, request };
        const { perSecond, processorUs, msP50, msP99 } = await measure(running, load);
        return { perSecond, processorUs, msP50, msP99 };
      },
    });
    const found = await bench.compare(report, [side('Keyreeve', of.server, of.ours), side('peer', peer, of.theirs)]);
    const title = `${titleOf(kind)}: ${what}`;
    report.ratio(`${title}: rate, Keyreeve / peer`, found, ['Keyreeve', 'peer', 'perSecond'], bar);
    report.ratio(`${title}: processor time, peer / Keyreeve`, found, ['peer', 'Keyreeve', 'processorUs']);
  }
}

/** Fills the databases and starts the programs. */
async function comparisons(bench: Bench, kind: Kind, programs: Programs): Promise<readonly Comparison[]> {
  const keys = Math.min(keysMax, bench.options.keys);
  const databases = await bench.databases(kind);
  const path = (name: string): string => bench.file(`${kind}-${name}`);
  const seeded = await databases.seed('beside-peers', keys);
  const server = programs.add(await keyreeve(seeded, { cores: oneCore }));
  const tokens = writePool(path('tokens'), await accessTokensOf(server.port, sessions));
  // Not those of the access tokens, whose oldest sessions the sign-ins would end.
  const count = seeded.accounts - signedInAccounts;
  const signingIn = Array.from({ length: count }, (_, index) => basicOf(signedInAccounts + index + 1));

  const betterAuthUrl = await databases.newUrl('better-auth');
  const ofBetterAuth = { databaseUrl: betterAuthUrl, keys, users, sessions, poolPath: path('better-auth') };
  const theirs = await run<BetterAuthSeeded>(peerScript('better-auth-seed.ts', ofBetterAuth), { env });
  const oidcUrl = await databases.newUrl('oidc-provider');
  const ofOidc = { databaseUrl: oidcUrl, tokens: keys, poolPath: path('oidc') };
  const oidc = await run<OidcSeeded>(peerScript('oidc-provider-seed.ts', ofOidc), { env });
  const onCore = { cores: oneCore, env };
  const betterAuth = programs.add(await start(script('peers/better-auth-server.ts', betterAuthUrl), onCore));
  const oidcProvider = programs.add(await start(script('peers/oidc-provider-server.ts', oidcUrl), onCore));
  const { keys: pool, serviceKey } = seeded;
  const least = (sqlite: number, postgres: number): Bar => ({ atLeast: kind === 'sqlite' ? sqlite : postgres });
  const verification = { server, peer: betterAuth, theirs: verifyOf(theirs) };
  return [
    { what: 'verification, /auth/verify', ...verification, ours: verifyRequest(pool, serviceKey), bar: least(25, 15) },
    { what: 'verification, /auth/forward', ...verification, ours: forwardRequest(pool), bar: least(40, 25) },
    {
      what: 'introspection',
      server,
      ours: introspectRequest(pool, serviceKey),
      peer: oidcProvider,
      theirs: introspectionOf(oidc),
    },
    {
      what: 'sign-in',
      connections: signInConnections,
      server,
      ours: signInRequest(writePool(path('credentials'), signingIn)),
      peer: betterAuth,
      theirs: signInOf(theirs),
    },
    { what: 'key creation', server, ours: createRequest(tokens), peer: betterAuth, theirs: creationOf(theirs) },
  ];
}

const peerScript = (name: string, options: object): readonly string[] =>
  script(`peers/${name}`, JSON.stringify(options));

const verifyOf = ({ keys }: BetterAuthSeeded): RequestTemplate => ({
  text: requestText({
    method: 'GET',
    path: '/verify',
    headers: { Authorization: `Bearer ${blank(keys.recordBytes)}` },
  }),
  pool: keys,
  contains: '"valid":true',
});

const signInOf = ({ emails, password, origin }: BetterAuthSeeded): RequestTemplate => ({
  text: jsonRequest('/api/auth/sign-in/email', { Origin: origin }, { email: blank(emails.recordBytes), password }),
  pool: emails,
  contains: '"token"',
});

const creationOf = ({ cookies, origin }: BetterAuthSeeded): RequestTemplate => ({
  text: jsonRequest(
    '/api/auth/api-key/create',
    { Origin: origin, Cookie: blank(cookies.recordBytes) },
    { name: `bench ${serial}` },
  ),
  pool: cookies,
  contains: '"key"',
});

/** Has a type hint, which saves the peer a query. */
const introspectionOf = ({ tokens, client }: OidcSeeded): RequestTemplate => ({
  text: formRequest(
    '/token/introspection',
    { Authorization: `Basic ${Buffer.from(client).toString('base64')}` },
    `token=${blank(tokens.recordBytes)}&token_type_hint=access_token`,
  ),
  pool: tokens,
  contains: '"active":true',
});

/** Installs the peers' packages, which are separate from those of the repository. */
function installPeers(): void {
  const folder = join(import.meta.dirname, 'peers');
  const changedAt = (file: string): number => statSync(join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changedAt('node_modules/.package-lock.json') >= changedAt('package-lock.json')) return;
  console.error('installing the peers');
  // No install scripts are needed: the only package with native code ships its binaries.
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the peers could not be installed');
}
