/** Runs the table against the guard of one framework, in the test program of its library. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { fillIn, guardTable, type GuardCase } from './guard-table.ts';
import type { LibraryProgram } from './library-program.ts';
import { awaited, until } from '../server/test-kit/until.ts';
import { startReplay, type Replay } from './replay-server.ts';

interface Response {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly body: string;
}

/** A service with the credentials of the table. */
export interface RealService {
  readonly url: string;
  readonly serviceKey: string;
  /** By the names of the table. */
  readonly credentials: Readonly<Record<string, string>>;
}

const serviceKey = 'krv_conformance_service';
const guardsAtOnce = 4;
const replayedTexts = Object.fromEntries(
  Object.entries(guardTable.credentials).map(([name, { text }]) => [name, text]),
);

/** @throws AssertionError with all cases that the guard answers differently */
export async function checkReplayedCases(program: LibraryProgram, framework: string): Promise<void> {
  await checkAll(guardTable.cases, async ([first, ...more], check) => {
    await using server = await startReplay();
    // The port stays unused: no other program listens on a port that was closed just now.
    if (first.answer?.network === 'refused') await server[Symbol.asyncDispose]();
    const url = await program.startGuard({ framework, url: server.url, serviceKey, options: first.guard ?? {} });
    for (const row of [first, ...more]) await check(row, () => checkReplayed(program, url, server, row));
  });
}

async function checkReplayed(program: LibraryProgram, url: string, server: Replay, row: GuardCase): Promise<void> {
  const { request, question, expect, answer } = fillIn(row, { ...replayedTexts, url: server.url });
  if (answer) server.answerWith(answer);
  const before = server.requests.length;
  const responding = send(url, request);
  if (expect.seconds !== undefined) {
    await until('Keyreeve has received the question', () => server.requests.length > before);
    await assertSilent(program, url, responding, expect.seconds * 1_000 - 1);
    await program.moveClock(url, 1);
  }
  assertResponse(await responding, expect, request.method);
  const isRecorded = question !== null && answer?.network !== 'refused';
  const asked = server.requests.slice(before);
  assert.equal(asked.length, isRecorded ? 1 : 0, 'requests to Keyreeve');
  for (const { line, headers, body } of asked) {
    assert.equal(line, 'POST /auth/verify/batch HTTP/1.1');
    assert.equal(headers.get('authorization'), `Bearer ${serviceKey}`);
    assert.match(headers.get('content-type') ?? '', /^application\/json(?:;|$)/);
    // Common firewalls block requests without it.
    assert.match(headers.get('user-agent') ?? '', /^keyreeve-[a-z]+$/);
    assert.deepEqual(JSON.parse(body), { questions: [question] });
  }
}

/** Moves the clock of a guard. A response that this has caused would arrive before that to a later request. */
async function assertSilent(
  program: LibraryProgram,
  url: string,
  responding: Promise<Response>,
  ms: number,
): Promise<void> {
  let hasResponded = false;
  const observed = responding.finally(() => (hasResponded = true)).catch(() => undefined);
  await program.moveClock(url, ms);
  await send(url, { headers: [] });
  await Promise.race([observed, new Promise(setImmediate)]);
  assert.ok(!hasResponded, `a response after ${ms} ms of the clock of the guard`);
}

/** @throws AssertionError with all cases that the guard answers differently */
export async function checkRealCases(program: LibraryProgram, framework: string, service: RealService): Promise<void> {
  const rows = guardTable.cases.filter(({ real }) => real === true);
  await checkAll(rows, async ([first, ...more], check) => {
    const { url: keyreeve, serviceKey: key } = service;
    const url = await program.startGuard({ framework, url: keyreeve, serviceKey: key, options: first.guard ?? {} });
    for (const row of [first, ...more])
      await check(row, async () => {
        const { request, expect } = fillIn(row, service.credentials);
        assertResponse(await send(url, request), expect, request.method, ['valid', 'type', 'nickname', 'scopes']);
      });
  });
}

type Rows = readonly [GuardCase, ...GuardCase[]];

/** @param checkRows checks the cases of one guard, one after the other; `check` collects the failures */
async function checkAll(
  rows: readonly GuardCase[],
  checkRows: (rows: Rows, check: (row: GuardCase, run: () => Promise<void>) => Promise<void>) => Promise<void>,
): Promise<void> {
  const failures: string[] = [];
  const check = ({ name }: GuardCase, run: () => Promise<void>): Promise<void> =>
    run().catch((error: unknown) => void failures.push(`${name}: ${String(error)}`));
  const left = [...Map.groupBy(rows, guardOf).values()] as unknown as Rows[];
  const worker = async (): Promise<void> => {
    for (let group = left.shift(); group; group = left.shift()) await checkRows(group, check);
  };
  await Promise.all(Array.from({ length: guardsAtOnce }, worker));
  assert.equal(failures.join('\n\n'), '');
}

/** Cases with the same value share a guard. A case after which no connection is left as it was has a guard of its own. */
const guardOf = ({ name, guard = {}, answer }: GuardCase): string =>
  answer?.network === undefined ? JSON.stringify(guard) : name;

/** @param compared members of the result; by default all */
function assertResponse(
  { status, headers, body }: Response,
  expect: GuardCase['expect'],
  method = 'GET',
  compared?: readonly string[],
): void {
  if (expect.result) {
    assert.equal(status, 200, body);
    const { result } = JSON.parse(body) as { result: Record<string, unknown> };
    const isCompared = ([name]: [string, unknown]): boolean =>
      compared ? compared.includes(name) : !expect.ignored?.includes(name);
    const membersOf = (of: object): object => Object.fromEntries(Object.entries(of).filter(isCompared));
    assert.deepEqual(membersOf(result), membersOf(expect.result));
    assertHeaders(headers, expect, ['RateLimit', 'RateLimit-Policy']);
    return;
  }
  const code = expect.problem ?? '';
  const problem = guardTable.problems[code];
  assert.equal(status, problem?.status, body);
  if (method === 'HEAD') assert.equal(body, '');
  else assert.deepEqual(JSON.parse(body), { type: `/problems/${code}`, ...problem, code });
  assert.match(headers.get('content-type')?.join() ?? '', /^application\/problem\+json(?:; ?charset=utf-8)?$/i);
  assert.deepEqual(headers.get('cache-control'), ['no-store']);
  assertHeaders(headers, expect, ['WWW-Authenticate', 'Retry-After', 'RateLimit', 'RateLimit-Policy']);
}

function assertHeaders(headers: Response['headers'], expect: GuardCase['expect'], names: readonly string[]): void {
  for (const name of names) {
    const value = expect.headers?.[name];
    assert.deepEqual(headers.get(name.toLowerCase()), value === undefined ? undefined : [value], name);
  }
}

/** Sends the request on a new connection, and reads until the application closes it. */
async function send(
  url: string,
  { method = 'GET', target = '/orders', headers }: GuardCase['request'],
): Promise<Response> {
  const { hostname, port, host } = new URL(url);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    ...(method === 'POST' ? ['Content-Length: 0'] : []),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const socket = connect(Number(port), hostname);
  socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
  const parts = await awaited(
    'the application closes the connection',
    Array.fromAsync(socket as AsyncIterable<Buffer>),
  );
  return parse(Buffer.concat(parts), method);
}

function parse(bytes: Buffer, method: string): Response {
  const end = bytes.indexOf('\r\n\r\n');
  const [statusLine = '', ...fields] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split('\r\n');
  const lines = fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 1).trim()]);
  const grouped = Map.groupBy(lines, ([name = '']) => name.toLowerCase());
  const headers = new Map([...grouped].map(([name, of]) => [name, of.map(([, value = '']) => value)]));
  const content = bytes.subarray(end + 4);
  const isChunked = headers.get('transfer-encoding')?.join() === 'chunked' && method !== 'HEAD';
  const body = isChunked ? joinChunks(content) : content;
  return { status: Number(statusLine.split(' ')[1]), headers, body: body.toString() };
}

/** RFC 9112 section 7.1, without extensions and trailers. */
function joinChunks(content: Buffer): Buffer {
  const parts: Buffer[] = [];
  let rest = content;
  for (;;) {
    const end = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.subarray(0, end).toString('latin1'), 16);
    if (!(size > 0)) return Buffer.concat(parts);
    parts.push(rest.subarray(end + 2, end + 2 + size));
    rest = rest.subarray(end + 2 + size + 2);
  }
}
