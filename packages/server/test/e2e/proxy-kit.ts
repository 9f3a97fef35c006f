/**
 * Starts a proxy with its configuration from `docs/forward-auth/` on free ports, between a backend that records its requests and
 * a tap that records the requests of the proxy to Keyreeve.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants, chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { basename, delimiter, join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from '../../test-kit/free-port.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { until } from '../../test-kit/until.ts';
import { pairs, send } from './proxy-client.ts';

/** A key as in the response to its creation. */
export interface TestKey {
  readonly id: number;
  readonly nickname: string;
  readonly key: string;
}

/** A running Keyreeve with one account. */
export interface ForwardAuthServer {
  readonly port: number;
  readonly accountId: string;
  readonly accessToken: string;
  /** Without scopes, with a nickname outside ASCII. */
  readonly key: TestKey;
  /** With the scope `orders:read` only. */
  readonly ordersKey: TestKey;
  /** With the maximum number and length of scopes, and the longest nickname. */
  readonly largestKey: TestKey;
  /** @param more members of the request, such as `addresses` */
  createKey(nickname: string, more?: object): Promise<TestKey>;
  deleteKey(id: number): Promise<void>;
  stop(): Promise<void>;
}

export interface Proxy {
  readonly name: string;
  readonly program: string;
  /** In `docs/forward-auth/`; copied into an empty directory with only the ports replaced. */
  readonly files: readonly string[];
  args(directory: string, port: number): readonly string[];
  readonly stopSignal: NodeJS.Signals;
}

export interface Running {
  readonly port: number;
  stop(): Promise<void>;
}

const docs = new URL('../../../../docs/forward-auth/', import.meta.url);

/** The ports that every file in `docs/forward-auth/` uses. */
const portsInDocs = { keyreeve: '8787', proxy: '8080', backend: '9000' } as const;

/** @returns the path of a program, or undefined. Debian installs some in folders that a user's PATH may lack. */
export function findProgram(program: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/usr/lib/systemd'];
  return folders
    .map((folder) => join(folder, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** @returns undefined where the program is not installed: then the test is skipped, and fails under CI */
export function installedProgram(t: TestContext, program: string): string | undefined {
  const path = findProgram(program);
  if (path !== undefined) return path;
  assert.notEqual(process.env['CI'], 'true', `${program} is not installed, but CI requires it`);
  t.skip(`${program} is not installed`);
  return undefined;
}

/** @param edit changes the text of a file, as an operator does */
export async function startProxy(
  proxy: Proxy,
  program: string,
  ports: { keyreeve: number; backend: number },
  edit = (text: string) => text,
): Promise<Running> {
  const port = await freePort();
  const folder = newTempFolder();
  const directory = folder.path;
  // As root, nginx runs its workers as another user, which needs access to store large bodies.
  chmodSync(directory, 0o755);
  for (const file of proxy.files) {
    writeFileSync(
      join(directory, basename(file)),
      withPorts(edit(readFileSync(new URL(file, docs), 'utf8')), { ...ports, proxy: port }),
    );
  }
  // In another directory than the files: Traefik would read traefik.yml in its working directory as its static configuration.
  const child = spawnQuietly(program, proxy.args(directory, port), mkdtempSync(join(directory, 'home-')));
  const stop = async (): Promise<void> => {
    await end(child.process, proxy.stopSignal);
    folder[Symbol.dispose]();
  };
  try {
    await untilReady(port, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, stop };
}

function withPorts(text: string, ports: { keyreeve: number; proxy: number; backend: number }): string {
  const replacements: Record<string, string> = {
    [portsInDocs.keyreeve]: String(ports.keyreeve),
    [portsInDocs.proxy]: String(ports.proxy),
    [portsInDocs.backend]: String(ports.backend),
  };
  return text.replace(/\b(?:8787|8080|9000)\b/g, (found) => replacements[found] ?? found);
}

interface QuietChild {
  readonly process: ChildProcess;
  output(): string;
}

/** Killed with this process, if a test fails to stop them. */
const running = new Set<ChildProcess>();
process.once('exit', () => running.forEach((child) => child.kill('SIGKILL')));

/** Keeps the end of the output for error messages. The program is killed when this process ends. */
export function spawnQuietly(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): QuietChild {
  const child = spawn(program, args, {
    cwd,
    env: { ...env, HOME: cwd, XDG_CONFIG_HOME: cwd, XDG_DATA_HOME: cwd },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString()).slice(-20_000);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  child.on('error', (error) => keep(Buffer.from(error.message)));
  running.add(child);
  child.once('close', () => running.delete(child));
  return { process: child, output: () => output };
}

/** @param signal SIGKILL for a program that waits for its connections, and has no processes of its own */
export async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

/** Waits for a response other than 404, which Traefik returns before it has read its file. */
async function untilReady(port: number, child: QuietChild): Promise<void> {
  await until('the proxy responds', async () => {
    const { exitCode } = child.process;
    if (exitCode !== null) throw new Error(`the proxy has ended with status ${exitCode}:\n${child.output()}`);
    const response = await send(port, {}).catch(() => undefined);
    return response !== undefined && response.status !== 404;
  });
}

/** @param port 0 for a free one */
async function listen(server: Server, port = 0, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A request as the backend received it. */
export interface BackendRequest {
  readonly method: string;
  readonly url: string;
  /** Unchanged, in order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly trailers: readonly string[];
  readonly bodyBytes: number;
  readonly bodySha256: string;
}

export interface Backend extends Running {
  /** @returns the requests since the last call */
  takeRequests(): BackendRequest[];
  /** Answers requests in place of the backend; undefined ends that. */
  respondWith(listener: RequestListener | undefined): void;
}

/** Records all requests, returns 200 or the status in `X-Test-Status`, and echoes the bytes of a WebSocket. */
export async function startBackend(): Promise<Backend> {
  let reached: BackendRequest[] = [];
  let responder: RequestListener | undefined;
  // Longer than a test: a proxy must not reuse a connection that the backend is closing.
  // Nor does it end a request that takes long: the tests ask whether a proxy does.
  const server = createHttpServer({ keepAliveTimeout: programMsMax, requestTimeout: 0 }, (req, res) => {
    if (responder) return responder(req, res);
    const hash = createHash('sha256');
    let bodyBytes = 0;
    req.on('data', (chunk: Buffer) => {
      bodyBytes += chunk.length;
      hash.update(chunk);
    });
    req.on('end', () => {
      const headers = pairs(req.rawHeaders);
      const trailers = req.rawTrailers;
      reached.push({
        method: req.method ?? '',
        url: req.url ?? '',
        headers,
        trailers,
        bodyBytes,
        bodySha256: hash.digest('hex'),
      });
      res.statusCode = Number(req.headers['x-test-status'] ?? 200);
      res.setHeader('content-type', 'text/plain');
      // Headers of a misconfigured backend, which the proxy must remove.
      res.setHeader('access-control-allow-origin', req.headers.origin ?? '*');
      res.setHeader('access-control-allow-credentials', 'true');
      res.end('from the backend');
    });
  });
  server.on('upgrade', (req, socket) => {
    reached.push({
      method: req.method ?? '',
      url: req.url ?? '',
      headers: pairs(req.rawHeaders),
      trailers: [],
      bodyBytes: 0,
      bodySha256: '',
    });
    if (req.headers.upgrade?.toLowerCase() !== 'websocket') return void socket.destroy();
    const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.on('error', () => socket.destroy());
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  const port = await listen(server);
  const takeRequests = (): BackendRequest[] => {
    const all = reached;
    reached = [];
    return all;
  };
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port, takeRequests, stop, respondWith: (listener) => void (responder = listener) };
}

export interface Tap extends Running {
  /** @returns the bytes from the proxy to Keyreeve since the last call */
  takeRecorded(): string;
  /** The number of accepted connections. */
  connections(): number;
  /** Refuses new connections and cuts open ones, like a stopped server. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
  /** Sends these bytes instead of forwarding requests; undefined forwards again. Cuts open connections. */
  respondWith(bytes: string | undefined): void;
}

/**
 * Forwards connections of a proxy to Keyreeve, and records them.
 * @param at where it listens; default: a free port of 127.0.0.1
 */
export async function startTap(
  targetPort: number,
  at: { readonly host?: string; readonly port?: number } = {},
): Promise<Tap> {
  let recorded: Buffer[] = [];
  let connections = 0;
  let canned: string | undefined;
  const open = new Set<Socket>();
  const server = createServer((from) => {
    connections += 1;
    open.add(from);
    from.on('error', () => from.destroy());
    from.on('close', () => open.delete(from));
    from.on('data', (chunk: Buffer) => recorded.push(chunk));
    if (canned !== undefined) {
      const bytes = canned;
      // Without bytes, the request stays without a response.
      from.on('data', () => void (bytes === '' ? undefined : from.end(bytes)));
      return;
    }
    const to = connect(targetPort, '127.0.0.1');
    from.pipe(to).pipe(from);
    to.on('error', () => from.destroy());
    to.on('close', () => from.destroy());
    from.on('close', () => to.destroy());
  });
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const refuse = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  };
  const port = await listen(server, at.port, at.host);
  return {
    port,
    connections: () => connections,
    refuse,
    accept: async () => void (await listen(server, port, at.host)),
    stop: async () => {
      if (server.listening) await refuse();
    },
    takeRecorded: () => {
      const all = Buffer.concat(recorded).toString('latin1');
      recorded = [];
      return all;
    },
    respondWith: (bytes) => {
      canned = bytes;
      cut();
    },
  };
}
