/** Runs the table's batches against a client library: which questions share the fate of an entry that the service rejects. */
import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { until } from '../server/test-kit/until.ts';
import { guardTable, type BatchCase } from './guard-table.ts';
import type { LibraryProgram } from './library-program.ts';
import { responseOf, startRawServer, type RecordedRequest, type ReplayServer } from './replay-server.ts';

export interface BatchService extends AsyncDisposable {
  /** For the program of the library. */
  readonly env: Readonly<Record<string, string>>;
  readonly server: ReplayServer;
  /** Answers no request until `release`. */
  hold(): void;
  release(): void;
}

interface Question {
  readonly credential: string;
  readonly environments?: readonly string[];
}

const serviceKey = 'krv_conformance_service';
/** More batches than this are not in flight. */
const inFlightMax = 2;
const unknown = new Set(guardTable.batches.flatMap(({ unknownEnvironments }) => unknownEnvironments));
const accepted = ({ credential }: Question): object => ({ valid: true, type: 'access_token', accountId: credential });

/** A service that rejects a batch with an unknown environment, as Keyreeve does. */
export async function startBatchService(): Promise<BatchService> {
  let held: (() => void)[] | undefined;
  const server = await startRawServer((request, socket) => {
    if (held) held.push(() => answer(request, socket));
    else answer(request, socket);
  });
  return {
    env: { KEYREEVE_URL: server.url, KEYREEVE_SERVICE_KEY: serviceKey },
    server,
    hold: () => void (held = []),
    release: () => {
      const waiting = held ?? [];
      held = undefined;
      for (const respond of waiting) respond();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function answer({ body }: RecordedRequest, socket: Socket): void {
  const { questions } = JSON.parse(body) as { questions: Question[] };
  const isRejected = questions.some(({ environments = [] }) => environments.some((name) => unknown.has(name)));
  const rejection = { status: 400, body: { type: '/problems/invalid_request', status: 400, code: 'invalid_request' } };
  socket.write(responseOf(isRejected ? rejection : { results: questions.map(accepted) }));
}

/** @param framework of any guard of the program, which was started with `env` of the service */
export async function checkBatches(program: LibraryProgram, framework: string, service: BatchService): Promise<void> {
  for (const row of guardTable.batches) await checkBatch(program, framework, service, row);
}

async function checkBatch(
  program: LibraryProgram,
  framework: string,
  service: BatchService,
  { name, questions, expect }: BatchCase,
): Promise<void> {
  const { server } = service;
  const before = server.requests.length;
  service.hold();
  const first: Promise<unknown>[] = [];
  while (first.length < inFlightMax) {
    first.push(program.verify(`first ${first.length}`));
    await until('the batch is in flight', () => server.requests.length === before + first.length);
  }
  const asked = questions.map(({ credential, options }) => program.verify(credential, options));
  // The program has read the questions when it answers a later line, so those that share a batch have joined it.
  await program.startGuard({ framework, url: server.url, serviceKey, options: {} });
  service.release();
  const results = await Promise.all(asked);
  await Promise.all(first);
  const outcomes = results.map((result) => (result === undefined ? 'unavailable' : 'accepted'));
  assert.deepEqual(outcomes, expect, name);
  for (const [index, result] of results.entries())
    if (result !== undefined) assert.equal(result['accountId'], questions[index]?.credential, name);
}
