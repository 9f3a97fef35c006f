/**
 * Deletions of keys by uninvolved accounts beside floods of eight other accounts over 1,200 connections, each request from another
 * client IP.
 */
import { during } from './beside.ts';
import type { Bench } from './bench.ts';
import { titleOf, type Kind } from './databases.ts';
import { deleteRequest } from './keyreeve.ts';
import { startLoad } from './load.ts';
import { measure, Programs } from './processes.ts';
import type { Report } from './report.ts';
import { blank, jsonRequest, requestText, writePool, type RequestTemplate } from './request.ts';
import type { Measured } from './rounds.ts';
import { basicOf, signedInAccounts } from './seeded.ts';
import { signIn } from './tokens.ts';

const attackers = 8;
const connectionsOfFlood = 1_200;
const seconds = 600;
const deletions = { connections: 8, rate: 20 };
const clientIps = 1_000;
const ipBytes = '10.255.255.255'.length;
const succeededMin = 0.99;
const ratioMax = 10;

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export async function fairness(bench: Bench, report: Report): Promise<void> {
  for (const kind of bench.options.kinds) await compare(bench, report, kind);
}

async function compare(bench: Bench, report: Report, kind: Kind): Promise<void> {
  const shared = await bench.shared(kind);
  const environment = {
    KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32',
    KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
  };
  await using programs = new Programs();
  // The tokens of the deletions come from a server without rate limits, because all sign-ins have one client IP.
  const first = await bench.keyreeve(shared.seeded);
  const signedIn = await signIn(first.port, bench.options.folder);
  await first.stop();
  const env = { ...environment, KEYREEVE_THROTTLE: 'on' };
  const server = programs.add(await bench.keyreeve(shared.seeded, { env }));
  const floods = await floodsOf(bench, server.port);
  const succeeded = new Map<string, number[]>();
  const side = (name: string) => async (): Promise<Measured> => {
    const request = { ...deleteRequest(shared.remaining(signedIn.deletions)), status: '', contains: '' };
    const result = await measure(server, { ...deletions, seconds: bench.options.seconds, request });
    shared.addDeleted(result.requests, deletions.connections);
    const share = (result.statuses['200'] ?? 0) / result.requests;
    succeeded.set(name, [...(succeeded.get(name) ?? []), share]);
    return { msP50: result.msP50, msP99: result.msP99 };
  };
  const sides = Object.entries(floods).map(([name, requests]) => ({
    name,
    run: () => {
      const connections = Math.floor(connectionsOfFlood / requests.length);
      const start = (request: RequestTemplate) =>
        startLoad({ port: server.port, connections, seconds, request: { ...request, status: '' } });
      return during(requests.map(start), side(name));
    },
  }));
  const found = await bench.compare(report, [{ name: 'alone', run: side('alone') }, ...sides]);
  for (const { name } of sides) {
    const what = `${titleOf(kind)}: deletions beside a flood of ${name}`;
    report.ratio(`${what}: p99, divided by the p99 alone`, found, [name, 'alone', 'msP99'], { atMost: ratioMax });
    report.add(`${what}: share that succeeds`, { values: succeeded.get(name) ?? [], bar: { atLeast: succeededMin } });
  }
}

/** @returns the requests of the attackers, by the name of the flood */
async function floodsOf(bench: Bench, port: number): Promise<Readonly<Record<string, readonly RequestTemplate[]>>> {
  // Not those of the deletions, whose oldest sessions the sign-ins would end.
  const accounts = Array.from({ length: attackers }, (_, index) => signedInAccounts + 1 + index);
  const ended = await Promise.all(accounts.map((account) => signInTo(port, account)));
  await Promise.all(ended.map(({ refreshToken }) => post(port, '/auth/token/revoke', '', { refreshToken })));
  const current = await Promise.all(accounts.map((account) => signInTo(port, account)));
  const taken = { nickname: 'taken' };
  await Promise.all(current.map(({ accessToken }) => post(port, '/auth/api-keys', `Bearer ${accessToken}`, taken)));
  const pool = (name: string, secrets: readonly string[]) => {
    const ip = (index: number): string => `10.0.${index >> 8}.${index % 256}`.padEnd(ipBytes);
    const records = Array.from({ length: clientIps }, (_, index) => ip(index) + secrets[index % secrets.length]);
    return writePool(bench.file(`flood-${name}`), records);
  };
  const access = pool(
    'access',
    current.map(({ accessToken }) => accessToken),
  );
  const refresh = pool(
    'refresh',
    current.map(({ refreshToken }) => refreshToken),
  );
  const revoked = pool(
    'revoked',
    ended.map(({ refreshToken }) => refreshToken),
  );
  const basic = pool('basic', accounts.map(basicOf));
  const forwarded = { 'X-Forwarded-For': blank(ipBytes) };
  const secret = (of: { readonly recordBytes: number }): string => blank(of.recordBytes - ipBytes);
  const bearer = { ...forwarded, Authorization: `Bearer ${secret(access)}` };
  const deletion = (path: string): RequestTemplate => ({
    text: requestText({ method: 'DELETE', path, headers: bearer }),
    pool: access,
  });
  const nothing = [
    { text: jsonRequest('/auth/token/revoke', forwarded, { refreshToken: secret(revoked) }), pool: revoked },
    { text: jsonRequest('/auth/token/refresh', forwarded, { refreshToken: secret(revoked) }), pool: revoked },
    deletion('/auth/api-keys/4711'),
    { text: jsonRequest('/auth/api-keys', bearer, taken), pool: access },
  ];
  const own = [
    deletion('/auth/sessions'),
    deletion(`/auth/sessions/ses_${'0'.repeat(22)}`),
    { text: jsonRequest('/auth/token/refresh', forwarded, { refreshToken: secret(refresh) }), pool: refresh },
  ];
  const headers = { ...forwarded, Authorization: `Basic ${secret(basic)}`, 'Content-Length': '0' };
  const signIns = [{ text: requestText({ method: 'POST', path: '/auth/token', headers }), pool: basic }];
  return {
    'requests that change nothing': nothing,
    'session ends and refreshes': own,
    'sign-ins': signIns,
    'all of these': [...nothing, ...own, ...signIns],
  };
}

async function signInTo(port: number, account: number): Promise<Tokens> {
  const response = await post(port, '/auth/token', `Basic ${basicOf(account)}`);
  if (!response.ok) throw new Error(`the sign-in returned ${response.status}`);
  return (await response.json()) as Tokens;
}

const post = (port: number, path: string, authorization: string, body?: object): Promise<Response> =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...(authorization === '' ? {} : { authorization }), 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
