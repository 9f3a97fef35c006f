/**
 * Latency and success of an uninvolved account during a flood of requests over 1,200 connections from many client IPs,
 * compared with the same server without load.
 *
 *     npm run bench -- fairness [--seconds 10] [--databases sqlite,postgres] [--floods all] [--quick]
 */
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Databases, type BenchOptions } from './databases.ts';
import type { FloodOptions } from './flood.ts';
import { keyreeve } from './keyreeve.ts';
import { run } from './processes.ts';
import { jsonRequest, requestText } from './request.ts';
import { titleOf } from './report.ts';
import { ms, table } from './rounds.ts';
import { emailAt, password, type Seeded } from './seed.ts';

export interface FairnessOptions extends Pick<BenchOptions, 'seconds' | 'databases' | 'folder'> {
  readonly connections: number;
  /** Runs the floods whose names contain this text. */
  readonly floods: string;
}

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** A client with one connection, as a browser or an SDK has. */
class Client {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  readonly #ip: string;

  constructor(port: number, ip: string) {
    this.#port = port;
    this.#ip = ip;
  }

  async call(method: string, path: string, authorization: string, json?: unknown): Promise<Answer> {
    const body = json === undefined ? '' : JSON.stringify(json);
    const headers = {
      ...(authorization === '' ? {} : { authorization }),
      'x-forwarded-for': this.#ip,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const options = { port: this.#port, host: '127.0.0.1', agent: this.#agent, method, path, headers };
    return new Promise((resolve, reject) => {
      const sent = request(options, (response) => {
        text(response).then(
          (received) =>
            resolve({
              status: response.statusCode ?? 0,
              json: received === '' ? {} : (JSON.parse(received) as Answer['json']),
            }),
          reject,
        );
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  async signIn(email: string): Promise<{ access: string; refresh: string; status: number }> {
    const basic = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;
    const { status, json } = await this.call('POST', '/auth/token', basic);
    return { status, access: `Bearer ${String(json['accessToken'])}`, refresh: String(json['refreshToken']) };
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

interface Outcome {
  readonly deletionsMs: number[];
  readonly done: Record<Change, [succeeded: number, tried: number]>;
}
type Change = 'deletion' | 'creation' | 'sign-in';
type Count = (what: Change, isDone: boolean) => boolean;

/** Sign-ins are limited per email address and minute. */
const signInIntervalMs = 1_000;

/** Uses a separate account, because a sign-in ends the account's oldest session. */
async function signInRepeatedly(client: Client, email: string, endsAt: number, count: Count): Promise<void> {
  for (; performance.now() < endsAt; await sleep(signInIntervalMs)) {
    count('sign-in', (await client.signIn(email)).status === 200);
  }
}

async function createAndDelete(client: Client, access: string, endsAt: number, count: Count): Promise<number[]> {
  const deletionsMs: number[] = [];
  while (performance.now() < endsAt) {
    const nickname = `key ${performance.now()}`;
    const created = await client.call('POST', '/auth/api-keys', access, { nickname });
    if (!count('creation', created.status === 201)) continue;
    const startedAt = performance.now();
    const deleted = await client.call('DELETE', `/auth/api-keys/${String(created.json['id'])}`, access);
    if (count('deletion', deleted.status === 200)) deletionsMs.push(performance.now() - startedAt);
  }
  return deletionsMs;
}

/** Creates and deletes keys with one uninvolved account, and signs in with another one. */
async function useService(port: number, access: string, signInEmail: string, seconds: number): Promise<Outcome> {
  const done: Outcome['done'] = { deletion: [0, 0], creation: [0, 0], 'sign-in': [0, 0] };
  const count: Count = (what, isDone) => {
    done[what][1]++;
    if (isDone) done[what][0]++;
    return isDone;
  };
  const endsAt = performance.now() + seconds * 1_000;
  using changing = new Client(port, '192.0.2.7');
  using signingIn = new Client(port, '203.0.113.7');
  const [deletionsMs] = await Promise.all([
    createAndDelete(changing, access, endsAt, count),
    signInRepeatedly(signingIn, signInEmail, endsAt, count),
  ]);
  return { deletionsMs, done };
}

/** @returns the requests of the attacker, by the name of the flood */
async function floods(port: number, emails: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
  using client = new Client(port, '198.51.100.1');
  const forwarded = { 'X-Forwarded-For': '@client-ip@' };
  const nothing: string[] = [];
  const own: string[] = [];
  const signIns: string[] = [];
  for (const email of emails) {
    const ended = await client.signIn(email);
    await client.call('POST', '/auth/token/revoke', '', { refreshToken: ended.refresh });
    const { access, refresh } = await client.signIn(email);
    await client.call('POST', '/auth/api-keys', access, { nickname: 'taken' });
    const headers = { ...forwarded, Authorization: access };
    const endedToken = { refreshToken: ended.refresh };
    nothing.push(
      jsonRequest('/auth/token/revoke', forwarded, endedToken),
      jsonRequest('/auth/token/refresh', forwarded, endedToken),
      requestText({ method: 'DELETE', path: '/auth/api-keys/4711', headers }),
      jsonRequest('/auth/api-keys', headers, { nickname: 'taken' }),
    );
    own.push(
      requestText({ method: 'DELETE', path: '/auth/sessions', headers }),
      requestText({ method: 'DELETE', path: `/auth/sessions/ses_${'0'.repeat(22)}`, headers }),
      jsonRequest('/auth/token/refresh', forwarded, { refreshToken: refresh }),
    );
    const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`;
    signIns.push(
      requestText({
        method: 'POST',
        path: '/auth/token',
        headers: { ...forwarded, Authorization: authorization, 'Content-Length': '0' },
      }),
    );
  }
  return {
    'requests that change nothing': nothing,
    'its own session ends and refreshes': own,
    'successful sign-ins of eight accounts': signIns,
    'all of these': [...nothing, ...own, ...signIns],
  };
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
const percent = ([succeeded, tried]: readonly [number, number]): string =>
  tried === 0 ? '–' : `${((100 * succeeded) / tried).toFixed(1)} % of ${tried}`;

type Row = readonly string[];

function rowOf(name: string, quiet: Outcome, loaded: Outcome, responses: string): Row {
  const p99 = ({ deletionsMs }: Outcome): number => quantile(deletionsMs, 0.99);
  const latency = (outcome: Outcome): string => `${ms(quantile(outcome.deletionsMs, 0.5))}/${ms(p99(outcome))}`;
  const { deletion, creation, 'sign-in': signIns } = loaded.done;
  return [
    name,
    `${quiet.deletionsMs.length}/${loaded.deletionsMs.length}`,
    latency(quiet),
    latency(loaded),
    (p99(loaded) / p99(quiet)).toFixed(1),
    [deletion, creation, signIns].map(percent).join(', '),
    responses,
  ];
}

async function measure(database: string, seeded: Seeded, options: FairnessOptions): Promise<Row[]> {
  const { seconds, connections } = options;
  const environment = {
    KEYREEVE_THROTTLE: 'on',
    KEYREEVE_TRUSTED_PROXIES: '127.0.0.1/32',
    KEYREEVE_CREATIONS_PER_MINUTE_MAX: '100000',
  };
  const program = await keyreeve('0', seeded, undefined, environment);
  const [victim, signInEmail, attackers] = [emailAt(100), emailAt(101), [1, 2, 3, 4, 5, 6, 7, 8].map(emailAt)];
  const named = Object.entries(await floods(program.port, attackers)).filter(([name]) => name.includes(options.floods));
  using client = new Client(program.port, '192.0.2.7');
  const { access } = await client.signIn(victim);
  await useService(program.port, access, signInEmail, 2);
  const rows: Row[] = [];
  for (const [name, requests] of named) {
    const quiet = await useService(program.port, access, signInEmail, seconds);
    const flood: FloodOptions = { port: program.port, connections, seconds: seconds + 2, requests };
    const flooding = run<Record<string, number>>('1', './flood.ts', flood);
    const loaded = await useService(program.port, access, signInEmail, seconds);
    const responses = Object.entries(await flooding).map(([status, times]) => `${status}: ${times}`);
    const row = rowOf(`${database}: ${name}`, quiet, loaded, responses.join(', '));
    console.error(row.join(' | '));
    rows.push(row);
  }
  await program.stop();
  return rows;
}

export async function fairness(options: FairnessOptions): Promise<string> {
  const rows: Row[] = [];
  for (const database of options.databases) {
    await using databases = await Databases.start(database, options.folder);
    rows.push(...(await measure(titleOf(database), await databases.seed('keys', 1_000), options)));
  }
  const columns = [
    'flood',
    'deletions without/with flood',
    'p50/p99 ms without',
    'p50/p99 ms with',
    'p99 ratio',
    'successful deletions, creations, sign-ins',
    'responses to the flood',
  ];
  return table(columns, rows);
}
