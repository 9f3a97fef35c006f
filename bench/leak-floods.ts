/**
 * Latency of verifications at a fixed rate, beside floods of reports without effect from many client IPs, compared with the
 * same server without load.
 *
 *     npm run bench -- leaks [--keys 20000] [--rounds 5] [--seconds 3] [--quick]
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../packages/server/src/modules/api-keys/key-format.ts';
import { githubSettings, GithubSigner, signedBy } from '../packages/server/test-kit/github.ts';
import type { BenchOptions } from './databases.ts';
import type { FloodOptions } from './flood.ts';
import { forwardRequest, keyreeve } from './keyreeve.ts';
import { measure } from './measure.ts';
import { Programs, run } from './processes.ts';
import { Report, timesOf } from './report.ts';
import { jsonRequest } from './request.ts';
import { alternate, type Measured } from './rounds.ts';
import { seed } from './seed.ts';

const path = '/auth/leaks';
const forwarded = { 'X-Forwarded-For': '@client-ip@' };
const textsPerReport = 100;
const matchesPerReport = 10;
const differentReports = 20;
const floodConnections = 64;
const verifications = { connections: 16, rate: 500 };
const p50RatioMax = 1.3;
/** The flood starts before the measurement and ends after it. */
const leadSeconds = 0.5;

const texts = (count: number): string[] => Array.from({ length: count }, () => makeKey('krv').reveal());
const reports = (make: () => string): string[] => Array.from({ length: differentReports }, make);

/** Well-formed keys that do not exist. */
const misses = (): string[] => reports(() => jsonRequest(path, forwarded, { keys: texts(textsPerReport) }));

/** Reports that GitHub did not sign, with the id of its public key. */
function wrongSignatures({ keyId }: GithubSigner): string[] {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return reports(() => {
    const body = texts(matchesPerReport).map((token) => ({ token, type: 'keyreeve_api_key' }));
    const { 'content-type': _, ...headers } = signedBy(
      keyId,
      sign('sha256', Buffer.from(JSON.stringify(body)), privateKey).toString('base64'),
    );
    return jsonRequest(`${path}/github`, { ...forwarded, ...headers }, body);
  });
}

export async function leakFloods({ keys, rounds, seconds, folder }: BenchOptions): Promise<string> {
  const seeded = await seed(`sqlite:${join(folder, 'leaks.db')}`, join(folder, 'leaks.keys'), keys);
  const github = new GithubSigner();
  await using programs = new Programs();
  const environment = {
    ...githubSettings(folder, github),
    KEYREEVE_LEAK_REPORTS: 'on',
    KEYREEVE_THROTTLE: 'on',
    KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32',
  };
  const server = programs.add(await keyreeve('0', seeded, undefined, environment));
  const verify = (): Promise<Measured> =>
    measure(server, { ...verifications, seconds, request: forwardRequest(seeded.keys) });
  const statuses: string[] = [];
  const beside = (name: string, requests: readonly string[]) => async (): Promise<Measured> => {
    const flood: FloodOptions = {
      port: server.port,
      connections: floodConnections,
      seconds: seconds + 2 * leadSeconds + 1,
      requests,
    };
    const flooding = run<Record<string, number>>('1', './flood.ts', flood);
    await sleep(leadSeconds * 1_000);
    const measured = await verify();
    statuses.push(`${name}: ${JSON.stringify(await flooding)}`);
    return measured;
  };
  const floods = {
    misses: misses(),
    'wrong signatures': wrongSignatures(github),
    // A flood without a route, for comparison.
    'unknown paths': [jsonRequest('/unknown', forwarded, {})],
  };
  await verify();
  const found = await alternate(
    [
      { name: 'calm', run: verify },
      ...Object.entries(floods).map(([name, requests]) => ({ name, run: beside(name, requests) })),
    ],
    rounds,
  );
  const report = new Report();
  for (const name of Object.keys(floods)) {
    report.ratio(
      `p50 of ${verifications.rate} verifications/s, with / without a flood of ${name}`,
      found,
      [name, 'calm', 'msP50', `${timesOf(found, name, 'calm', 'msP50')}, p99 ${timesOf(found, name, 'calm', 'msP99')}`],
      { atMost: p50RatioMax },
    );
  }
  console.error(statuses.join('\n'));
  return String(report);
}
