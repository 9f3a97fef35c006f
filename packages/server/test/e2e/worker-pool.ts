/** Tests of workers: their database, and connections to a chosen worker of a program with several workers. */
import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { newPlace } from '../../test-kit/new-db.ts';
import { until } from '../../test-kit/until.ts';
import { bearer, type Environment, type HttpResponse, type LogRecord, type Program } from './program.ts';

/** A test that gets the settings of a database of its kind. */
export const withDatabase = (run: (environment: Environment) => Promise<void>) => async (): Promise<void> => {
  await using place = await newPlace();
  await run(place.environment);
};

/** The process ids of the listening workers, by worker number. */
export function pidsOf(program: Program): ReadonlyMap<number, number> {
  const records = program.records('worker_listening');
  return new Map(records.map(({ worker, workerPid }) => [Number(worker), Number(workerPid)]));
}

export const pidOf = (program: Program, worker: number): number => {
  const pid = pidsOf(program).get(worker);
  if (pid === undefined) throw new Error(`no worker ${worker}`);
  return pid;
};

/** Kills a worker and waits for its replacement. */
export async function killAndAwaitNext(program: Program, worker: number): Promise<void> {
  const pid = pidOf(program, worker);
  process.kill(pid, 'SIGKILL');
  await program.waitFor(`a replacement of worker ${worker}`, () => (pidOf(program, worker) === pid ? undefined : true));
}

/** Waits until no process has this id. */
export async function ended(pid: number): Promise<void> {
  await until(`process ${pid} ends`, () => {
    try {
      return !process.kill(pid, 0);
    } catch {
      return true;
    }
  });
}

/** A persistent connection: the same worker receives all its requests. */
export class Connection {
  readonly worker: number;
  /** Whether the last response closed the connection. */
  isOver = false;
  readonly agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #url: string;

  /** Pauses the other workers, so that only this worker can accept the connection. */
  static async to(program: Program, worker: number): Promise<Connection> {
    const others = [...pidsOf(program)].filter(([number]) => number !== worker).map(([, pid]) => pid);
    const before = program.records().length;
    for (const pid of others) process.kill(pid, 'SIGSTOP');
    try {
      const connection = new Connection(program.url, worker);
      await connection.call('GET', '/health/live');
      const isOwn = (record: LogRecord) => record['event'] === 'request' && record['route'] === '/health/live';
      const record = await program.waitFor('its log record', () => program.records().slice(before).find(isOwn));
      if (record['worker'] !== worker) throw new Error(`worker ${String(record['worker'])} accepted it`);
      return connection;
    } finally {
      for (const pid of others) process.kill(pid, 'SIGCONT');
    }
  }

  private constructor(url: string, worker: number) {
    this.#url = url;
    this.worker = worker;
  }

  async call(method: string, path: string, headers: Environment = {}, json?: unknown): Promise<HttpResponse> {
    const body = json === undefined ? undefined : JSON.stringify(json);
    const type: Environment = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request(new URL(path, this.#url), { method, agent: this.agent, headers: { ...type, ...headers } });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const content = await text(response);
    this.isOver = response.headers.connection === 'close';
    const isJson = /json/.test(response.headers['content-type'] ?? '');
    return { status: response.statusCode ?? 0, text: content, json: isJson ? JSON.parse(content) : undefined };
  }

  async verify(key: string, times: number): Promise<void> {
    for (let count = 0; count < times; count++) await this.call('GET', '/auth/forward', bearer(key));
  }

  /** Sends a request, and resets the connection after `whenReceived`, so that its response cannot be written. */
  async leave(path: string, json: unknown, whenReceived: () => Promise<unknown>): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const sent = request(new URL(path, this.#url), { method: 'POST', agent: this.agent, headers });
    sent.on('error', () => undefined);
    const closed = new Promise((resolve) => sent.once('close', resolve));
    sent.end(JSON.stringify(json));
    await once(sent, 'finish');
    await whenReceived();
    sent.socket?.resetAndDestroy();
    await closed;
  }

  [Symbol.dispose](): void {
    this.agent.destroy();
  }
}

/** One connection to each worker. */
export async function connectionsTo(program: Program): Promise<readonly [Connection, Connection, ...Connection[]]> {
  const connections: Connection[] = [];
  for (const worker of [...pidsOf(program).keys()].toSorted((a, b) => a - b)) {
    connections.push(await Connection.to(program, worker));
  }
  const [first, second, ...more] = connections;
  if (!first || !second) throw new Error('fewer than two workers');
  return [first, second, ...more];
}
