/**
 * How much sign-ins, creations and deletions slow down verifications, and the reverse. The server, PostgreSQL and the load
 * generators share all cores.
 */
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from './databases.ts';
import type { HashLimitOptions } from './hash-limit.ts';
import { createRequest, deleteRequest, forwardRequest, keyreeve, signInRequest } from './keyreeve.ts';
import type { LoadResult } from './load.ts';
import { measure, type Load } from './measure.ts';
import { Programs, run, type Running } from './processes.ts';
import type { Report } from './report.ts';
import { writePool, type Pool, type RequestTemplate } from './request.ts';
import { alternate, rate, type Measured, type Rounds } from './rounds.ts';
import { emailAt, keysPerAccount, signedInAccounts, type Seeded } from './seed.ts';
import { basicOf, signIn, type SignedIn } from './tokens.ts';

type InterferenceOptions = Pick<BenchOptions, 'rounds' | 'seconds' | 'folder'>;

interface SignInOptions extends InterferenceOptions {
  readonly credentials: Pool;
}

/** Rate of the deletions, and of the creations, during a measurement. */
const changesPerSecond = 200;
const changeConnections = 16;
const verifyingConnections = 64;
/** Loads of which the median gives the highest rate. */
const ratedLoads = 3;
const signInConnections = 4;
/** The flood requests more sign-ins than any machine with few cores can compute. */
const flood = { connections: 32, rate: 400 };
const allCores = Array.from({ length: availableParallelism() }, (_, core) => core).join(',');

/** Verifications at half the highest rate: p99 then shows interference and not saturation. */
interface Calm {
  readonly halfPerSecond: number;
  readonly verify: () => Promise<Measured>;
}

export async function interference(report: Report, seeded: Seeded, options: InterferenceOptions): Promise<void> {
  await using programs = new Programs();
  const server = programs.add(await keyreeve(allCores, seeded));
  const verifying: Load = {
    connections: verifyingConnections,
    seconds: options.seconds,
    request: forwardRequest(seeded.keys),
  };
  const highest = await alternate([{ name: 'highest', run: () => measure(server, verifying, allCores) }], ratedLoads);
  const halfPerSecond = Math.round(highest.median('highest', 'perSecond') / 2);
  const calm: Calm = { halfPerSecond, verify: () => measure(server, { ...verifying, rate: halfPerSecond }, allCores) };
  await floodOfSignIns(report, server, calm, options);
  await changes(report, server, calm, options);
  const withCredentials = { ...options, credentials: credentialsOf(seeded, options.folder) };
  await signInRate(report, server, withCredentials);
  await saturation(report, server, verifying, withCredentials);
}

async function floodOfSignIns(
  report: Report,
  server: Running,
  calm: Calm,
  options: InterferenceOptions,
): Promise<void> {
  const { rounds, seconds, folder } = options;
  const wrong = Array.from({ length: 1_000 }, (_, index) => `${emailAt(index + 1)}:wrong horse battery staple`);
  const credentials = writePool(
    join(folder, 'wrong-credentials'),
    wrong.map((text) => Buffer.from(text).toString('base64')),
  );
  const request = { ...signInRequest(credentials), mayFail: true };
  const signIns = (): Promise<LoadResult> => measure(server, { ...flood, seconds: seconds + 1, request }, allCores);
  const found = await alternate(
    [
      { name: 'calm', run: calm.verify },
      { name: 'disturbed', run: () => during(calm.verify, [signIns()]) },
    ],
    rounds,
  );
  reportP99(report, `verifications at ${rate(calm.halfPerSecond)}/s, with / without a flood of sign-ins`, found, 1.5);
}

/** Creations and deletions with verifications. */
async function changes(report: Report, server: Running, calm: Calm, options: InterferenceOptions): Promise<void> {
  const { rounds, seconds, folder } = options;
  const tokens = await signIn(server.port, folder);
  const change = (request: RequestTemplate, longerSeconds = 0): Promise<Measured> => {
    const load = { connections: changeConnections, rate: changesPerSecond, seconds: seconds + longerSeconds, request };
    return measure(server, load, allCores);
  };
  const next = nextDeletions(tokens);
  const deletions = (longerSeconds = 0): Promise<Measured> =>
    change(next(changesPerSecond * (seconds + longerSeconds + 0.5)), longerSeconds);
  const verification = await alternate(
    [
      { name: 'calm', run: calm.verify },
      {
        name: 'disturbed',
        run: () => during(calm.verify, [deletions(1), change(createRequest(tokens.accessTokens), 1)]),
      },
    ],
    rounds,
  );
  const both = `${changesPerSecond} creations/s and ${changesPerSecond} deletions/s`;
  reportP99(report, `verifications at ${rate(calm.halfPerSecond)}/s, with / without ${both}`, verification);
  const deletion = await alternate(
    [
      { name: 'calm', run: () => deletions() },
      { name: 'disturbed', run: () => during(deletions, [calm.verify()]) },
    ],
    rounds,
  );
  const what = `${changesPerSecond} deletions/s, with / without ${rate(calm.halfPerSecond)} verifications/s`;
  reportP99(report, what, deletion);
}

function reportP99(report: Report, what: string, found: Rounds, goal?: number): void {
  const bar = { atMost: 3, ...(goal === undefined ? {} : { goal }) };
  report.ratio(`p99 of ${what}`, found, ['disturbed', 'calm', 'msP99'], bar);
}

/** As many bare hashes run at once as in the server. */
async function signInRate(report: Report, server: Running, options: SignInOptions): Promise<void> {
  const { rounds, seconds, credentials } = options;
  const request = signInRequest(credentials);
  const concurrency = Math.max(1, availableParallelism() - 1);
  const bare: HashLimitOptions = { concurrency, seconds };
  const contenders = [
    { name: 'sign-in', run: () => measure(server, { connections: signInConnections, seconds, request }, allCores) },
    { name: 'hash', run: () => run<Measured>(allCores, './hash-limit.ts', bare) },
  ];
  const found = await alternate(contenders, rounds, 1);
  report.ratio(
    'rate of sign-ins / bare hashes at the same priority',
    found,
    ['sign-in', 'hash', 'perSecond', `${found.rate('sign-in')} against ${found.rate('hash')} per second`],
    { atLeast: 0.95 },
  );
}

/** A load generator for each core, so that they and the server use all of them. */
async function saturation(report: Report, server: Running, verifying: Load, options: SignInOptions): Promise<void> {
  const { rounds, seconds, credentials } = options;
  const signIns = (): Promise<Measured> =>
    measure(server, { connections: signInConnections, seconds, request: signInRequest(credentials) }, allCores);
  const longer = { ...verifying, seconds: seconds + 1 };
  const verifications = () => allCores.split(',').map(() => measure(server, longer, allCores));
  const found = await alternate(
    [
      { name: 'calm', run: signIns },
      { name: 'disturbed', run: () => during(signIns, verifications()) },
    ],
    rounds,
  );
  report.ratio(
    'rate of sign-ins, with / without verifications that saturate all cores',
    found,
    ['disturbed', 'calm', 'perSecond', `${found.rate('disturbed')} against ${found.rate('calm')} per second`],
    { atLeast: 0.25 },
  );
}

/** Accounts without access tokens, because sign-ins end old sessions. */
function credentialsOf({ accounts }: Seeded, folder: string): Pool {
  const count = Math.min(1_000, accounts - signedInAccounts);
  const credentials = Array.from({ length: count }, (_, index) => basicOf(signedInAccounts + index + 1));
  return writePool(join(folder, 'credentials'), credentials);
}

/** @throws Error if a concurrent load failed */
async function during(
  measured: () => Promise<Measured>,
  concurrent: readonly Promise<LoadResult>[],
): Promise<Measured> {
  const result = await measured();
  for (const other of await Promise.all(concurrent)) {
    if (other.failures > 0) throw new Error(`${other.failures} concurrent requests failed: ${other.firstFailure}`);
  }
  return result;
}

/** @returns a function that gets a number of keys and returns requests that delete them: other keys at each call */
function nextDeletions({ deletions }: SignedIn): (keys: number) => RequestTemplate {
  let first = 0;
  return (keys) => {
    const pool = { ...deletions, first };
    first += Math.ceil(keys);
    if (first > signedInAccounts * keysPerAccount) throw new Error('not enough keys were seeded to delete');
    return deleteRequest(pool);
  };
}
