/**
 * Memory cost of connections that request lists and do not read the responses, compared with as many idle connections:
 * `npx node bench/unread-responses.ts`. A client of another account requests a list of the same size all the time, and each
 * of its requests must succeed.
 *
 * The limit of open files must be above 10,500 (`ulimit -n`). The script restarts itself with the hard limit.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { Databases } from './databases.ts';
import { keyreeve } from './keyreeve.ts';
import { oneCore } from './machine.ts';
import { residentMib } from '../packages/server/test-kit/processor-time.ts';
import type { Running } from './processes.ts';
import { emailAt, password, type Seeded } from './seeded.ts';

/** Default: the limit of one worker, minus some for the other client. */
const connections = Number(process.argv[2] ?? limits.connectionsMax - 10);
const requestsEach = 60;
const keys = 100;
const watchedMs = 25_000;

if (process.env['UNREAD_RAISED'] === undefined) {
  const command = 'ulimit -n $(ulimit -Hn) && exec "$0" "$@"';
  const args = ['-c', command, process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync('sh', args, { stdio: 'inherit', env: { ...process.env, UNREAD_RAISED: '1' } });
  process.exit(status ?? 1);
}

interface Measured {
  readonly restMib: number;
  readonly peakMib: number;
  readonly endMib: number;
  readonly open: number;
  readonly requests: number;
  readonly failed: number;
  readonly msP50: number;
  readonly msP99: number;
}

const folder = mkdtempSync(join(tmpdir(), 'keyreeve-unread-'));
try {
  const rows: string[] = [];
  await using databases = await Databases.start('sqlite', folder);
  for (const what of ['idle', 'unread'] as const) {
    const seeded = await databases.seed(what, 1_000);
    const measured = await measure(seeded, what === 'unread');
    const { restMib, peakMib, endMib, open, requests, failed, msP50, msP99 } = measured;
    rows.push(
      `| ${what} | ${restMib.toFixed(0)} | ${peakMib.toFixed(0)} | ${endMib.toFixed(0)} | ${open} | ${failed} of ${requests} | ${msP50.toFixed(1)} | ${msP99.toFixed(1)} |`,
    );
    console.error(rows.at(-1));
  }
  console.log(`| ${connections} connections | MiB before | MiB at most | MiB at the end | open at the end | other client: failed | p50 ms | p99 ms |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}`);
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(seeded: Seeded, isUnread: boolean): Promise<Measured> {
  const server = await keyreeve(seeded, { cores: oneCore });
  const { port } = server;
  const [token, otherToken] = [await fillList(port, emailAt(1)), await fillList(port, emailAt(2))];
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  await requestList(agent, port, otherToken);
  const restMib = residentMib(server.process.pid ?? 0);
  const text = `GET /auth/api-keys?view=full HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const sockets: Socket[] = [];
  for (let n = 0; n < connections; n++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    // An idle connection has had one response, because the server closes a connection without a request after 10 s.
    if (isUnread) socket.pause().write(text.repeat(requestsEach));
    else socket.resume().write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    if (n % 100 === 99) await sleep(20);
  }
  const result = await watch(server, agent, otherToken);
  // A paused socket emits no close event, so count the server's side of the connections.
  const open = openConnections(port);
  for (const socket of sockets) socket.destroy();
  agent.destroy();
  await server.stop();
  return { restMib, open, ...result };
}

/** Creates the default maximum of keys, each as large as possible. @returns an access token of the account */
async function fillList(port: number, email: string): Promise<string> {
  const url = `http://127.0.0.1:${port}`;
  const authorization = `Basic ${btoa(`${email}:${password}`)}`;
  const signedIn = await fetch(`${url}/auth/token`, { method: 'POST', headers: { authorization } });
  const { accessToken } = (await signedIn.json()) as { accessToken: string };
  const headers = { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' };
  for (let n = 0; n < keys; n++) {
    const scopes = Array.from({ length: 32 }, () => `s${randomBytes(31).toString('hex')}`);
    const body = JSON.stringify({ nickname: `${n} ${'x'.repeat(50)}`, scopes });
    const created = await fetch(`${url}/auth/api-keys`, { method: 'POST', headers, body });
    if (created.status !== 201) throw new Error(await created.text());
  }
  return accessToken;
}

/** Sends the requests of the other client, one at a time, and samples the server's memory. */
async function watch(server: Running, agent: Agent, token: string): Promise<Omit<Measured, 'restMib' | 'open'>> {
  const times: number[] = [];
  let failed = 0;
  let peakMib = 0;
  for (const end = performance.now() + watchedMs; performance.now() < end;) {
    const startedMs = performance.now();
    const succeeded = await requestList(agent, server.port, token);
    times.push(performance.now() - startedMs);
    if (!succeeded) failed++;
    peakMib = Math.max(peakMib, residentMib(server.process.pid ?? 0));
    await sleep(20);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  const endMib = residentMib(server.process.pid ?? 0);
  return { peakMib, endMib, requests: times.length, failed, msP50: at(0.5), msP99: at(0.99) };
}

/** @returns whether the complete list arrived */
function requestList(agent: Agent, port: number, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request({ agent, port, host: '127.0.0.1', path: '/auth/api-keys?view=full', headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () =>
        resolve(response.statusCode === 200 && bytes === Number(response.headers['content-length'])),
      );
      response.on('error', () => resolve(false));
    });
    sent.on('error', () => resolve(false));
    sent.end();
  });
}

/** @returns the number of established connections at the server's port */
function openConnections(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .filter((line) => {
      const [, address = '', , state] = line.trim().split(/\s+/);
      return address.endsWith(local) && state === '01';
    }).length;
}
