/** Deletions of keys beside floods of eight other accounts over 1,200 connections, each request from another client IP. */
import { during } from './beside.ts';
import type { Bench } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import { deleteRequest } from './keyreeve.ts';
import { startLoad } from './load.ts';
import { measure, Programs } from './processes.ts';
import type { Report } from './report.ts';
import { blank, ipBytes, jsonRequest, requestText, writePool, withIps, type RequestTemplate } from './request.ts';
import type { Measured } from './rounds.ts';
import { basicOf, signedInAccounts } from './seeded.ts';
import { signIn, tokensOf, type Tokens } from './tokens.ts';

const attackers = 8;
const connectionsOfFlood = 1_200;
const seconds = 600;
const deletions = { connections: 8, rate: 20 };
const succeededMin = 0.99;
const ratioMax = 10;
const limited = {
  KEYREEVE_THROTTLE: 'on',
  KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32',
  KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
};

export async function fairness(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) await compare(bench, report, kind);
}

async function compare(bench: Bench, report: Report, kind: Kind): Promise<void> {
  const shared = await bench.shared(kind);
  // All sign-ins have one client IP, so they need a server without rate limits.
  const first = await bench.keyreeve(shared.seeded);
  const signedIn = await signIn(first.port, bench.options.folder);
  const floods = await floodsOf(bench, first.port);
  await first.stop();
  await using programs = new Programs();
  const server = programs.add(await bench.keyreeve(shared.seeded, { env: limited }));
  const deleteKeys = async (): Promise<Measured> => {
    const request = { ...deleteRequest(shared.remaining(signedIn.deletions)), status: '', contains: '' };
    const result = await measure(server, { ...deletions, seconds: bench.options.seconds, request });
    shared.addDeleted(result.requests, deletions.connections);
    return { ...result, succeeded: (result.statuses['200'] ?? 0) / result.requests };
  };
  const sides = Object.entries(floods).map(([name, requests]) => {
    const load = { port: server.port, connections: Math.floor(connectionsOfFlood / requests.length), seconds };
    const start = (request: RequestTemplate) => startLoad({ ...load, request: { ...request, status: '' } });
    return { name, run: () => during(requests.map(start), deleteKeys) };
  });
  const found = await bench.compare(report, [{ name: 'alone', run: deleteKeys }, ...sides]);
  for (const { name } of sides) {
    const what = `${titleOf(kind)}: deletions beside a flood of ${name}`;
    report.ratio(`${what}: p99, divided by the p99 alone`, found, [name, 'alone', 'msP99'], { atMost: ratioMax });
    const values = found.values(name, 'succeeded');
    report.add(`${what}: share that succeeds`, { values, bar: { atLeast: succeededMin } });
  }
}

/** @returns the requests of the attackers, by the name of the flood */
async function floodsOf(bench: Bench, port: number): Promise<Readonly<Record<string, readonly RequestTemplate[]>>> {
  // Not those of the deletions, whose oldest sessions the sign-ins would end.
  const accounts = Array.from({ length: attackers }, (_, index) => signedInAccounts + 1 + index);
  const tokens: Tokens[] = [];
  for (const account of accounts) tokens.push(await tokensOf(port, account));
  const pool = (name: string, secrets: readonly string[]) => writePool(bench.file(`flood-${name}`), withIps(secrets));
  const access = pool(
    'access',
    tokens.map(({ accessToken }) => accessToken),
  );
  const refresh = pool(
    'refresh',
    tokens.map(({ refreshToken }) => refreshToken),
  );
  const basic = pool('basic', accounts.map(basicOf));
  const forwarded = { 'X-Forwarded-For': blank(ipBytes) };
  const secret = (of: { readonly recordBytes: number }): string => blank(of.recordBytes - ipBytes);
  const headers = { ...forwarded, Authorization: `Bearer ${secret(access)}` };
  const deletion = (path: string): RequestTemplate => ({
    text: requestText({ method: 'DELETE', path, headers }),
    pool: access,
  });
  const signingIn = { ...forwarded, Authorization: `Basic ${secret(basic)}`, 'Content-Length': '0' };
  return {
    // The first of the creations has an effect.
    'requests that change nothing': [
      deletion('/auth/api-keys/4711'),
      { text: jsonRequest('/auth/api-keys', headers, { nickname: 'taken' }), pool: access },
    ],
    'session ends and refreshes': [
      deletion('/auth/sessions'),
      deletion(`/auth/sessions/ses_${'0'.repeat(22)}`),
      { text: jsonRequest('/auth/token/refresh', forwarded, { refreshToken: secret(refresh) }), pool: refresh },
    ],
    'sign-ins': [{ text: requestText({ method: 'POST', path: '/auth/token', headers: signingIn }), pool: basic }],
  };
}
