/** Runs the table against the guard of one framework, in the test program of its library. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { fillIn, guardTable, type GuardCase } from './guard-table.ts';
import type { LibraryProgram } from './library-program.ts';
import { startReplay } from './replay-server.ts';

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
const casesAtOnce = 8;
const replayedTexts = Object.fromEntries(
  Object.entries(guardTable.credentials).map(([name, { text }]) => [name, text]),
);

/** @throws AssertionError with all cases that the guard answers differently */
export async function checkReplayedCases(program: LibraryProgram, framework: string): Promise<void> {
  await checkAll(guardTable.cases, async (row) => {
    await using server = await startReplay(row.answer, (answer, url) => fillIn(answer, { ...replayedTexts, url }));
    const guard = { framework, url: server.url, serviceKey, options: row.guard ?? {} };
    const { request, question, expect } = fillIn(row, replayedTexts);
    const url = await program.startGuard(guard);
    const started = performance.now();
    const response = await send(url, request);
    const seconds = (performance.now() - started) / 1_000;
    assertResponse(response, expect, request.method);
    const [min, max] = expect.seconds ?? [0, Infinity];
    assert.ok(seconds >= min && seconds <= max, `the response came after ${seconds} s`);
    const isRecorded = question !== null && row.answer?.network !== 'refused';
    assert.equal(server.requests.length, isRecorded ? 1 : 0, 'requests to Keyreeve');
    for (const { line, headers, body } of server.requests) {
      assert.equal(line, 'POST /auth/verify/batch HTTP/1.1');
      assert.equal(headers.get('authorization'), `Bearer ${serviceKey}`);
      assert.match(headers.get('content-type') ?? '', /^application\/json(?:;|$)/);
      assert.deepEqual(JSON.parse(body), { questions: [question] });
    }
  });
}

/** @throws AssertionError with all cases that the guard answers differently */
export async function checkRealCases(program: LibraryProgram, framework: string, service: RealService): Promise<void> {
  const rows = guardTable.cases.filter(({ real }) => real === true);
  await checkAll(rows, async (row) => {
    const { request, expect } = fillIn(row, service.credentials);
    const { url, serviceKey: key } = service;
    const guard = { framework, url, serviceKey: key, options: row.guard ?? {} };
    const response = await send(await program.startGuard(guard), request);
    assertResponse(response, expect, request.method, ['valid', 'type', 'nickname', 'scopes']);
  });
}

async function checkAll(rows: readonly GuardCase[], check: (row: GuardCase) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  const left = [...rows];
  const worker = async (): Promise<void> => {
    for (let row = left.shift(); row; row = left.shift()) {
      const { name } = row;
      await check(row).catch((error: unknown) => failures.push(`${name}: ${String(error)}`));
    }
  };
  await Promise.all(Array.from({ length: casesAtOnce }, worker));
  assert.equal(failures.join('\n\n'), '');
}

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
    return;
  }
  const code = expect.problem ?? '';
  const problem = guardTable.problems[code];
  assert.equal(status, problem?.status, body);
  if (method === 'HEAD') assert.equal(body, '');
  else assert.deepEqual(JSON.parse(body), { type: `/problems/${code}`, ...problem, code });
  assert.match(headers.get('content-type')?.join() ?? '', /^application\/problem\+json(?:; ?charset=utf-8)?$/i);
  assert.deepEqual(headers.get('cache-control'), ['no-store']);
  for (const name of ['WWW-Authenticate', 'Retry-After', 'RateLimit', 'RateLimit-Policy']) {
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
  socket.setTimeout(60_000, () => socket.destroy(new Error('the application does not answer')));
  socket.write(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
  const parts: Buffer[] = [];
  for await (const part of socket) parts.push(part as Buffer);
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
