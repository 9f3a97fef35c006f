/**
 * The socket of the verification listener. The main process binds it and passes it to each verifier; only verifiers accept
 * connections from it. Each of them accepts by itself, so a main process that is stopped does not stop verifications, and one
 * verifier that hangs takes no connections from the others. The main process keeps the socket open: while no verifier runs,
 * connections wait for the next one.
 */
import { lookup } from 'node:dns/promises';
import { lstatSync, rmSync } from 'node:fs';
import net from 'node:net';
import { getSystemErrorName } from 'node:util';
import { urlOf } from '../../http/server.ts';

export type VerifyAddress =
  | { readonly kind: 'port'; readonly host: string; readonly port: number }
  | { readonly kind: 'socket'; readonly path: string };

/** A bound socket that is not listening yet. */
interface Handle {
  getsockname?(out: { port?: number }): number;
  close(): void;
}

export interface SharedSocket {
  /** To be sent to a verifier. */
  readonly handle: object;
  /** Such as `http://127.0.0.1:8789` or `unix:/run/keyreeve/verify.sock`. */
  readonly url: string;
  close(): void;
}

/** Node has no public function that binds a socket without accepting connections. `node:cluster` uses this one. */
type Bind = (address: string, port: number, addressType: 4 | 6 | -1) => Handle | number;
const bind = Reflect.get(net, '_createServerHandle') as Bind;

/** Only the user and the group may connect: the peer counts as a trusted proxy. */
const socketUmask = 0o117;

/** @returns undefined if another process has the socket @throws Error with `code` */
export async function bindShared(address: VerifyAddress): Promise<SharedSocket | undefined> {
  const bound = address.kind === 'port' ? await bindPort(address.host, address.port) : await bindPath(address.path);
  if (bound === undefined) return undefined;
  const out: { port?: number } = {};
  bound.getsockname?.(out);
  const url = address.kind === 'port' ? urlOf(address.host, out.port ?? address.port) : `unix:${address.path}`;
  return { handle: bound, url, close: () => bound.close() };
}

async function bindPort(host: string, port: number): Promise<Handle | undefined> {
  const { address, family } = await lookup(host);
  const handle = orInUse(bind(address, port, family === 6 ? 6 : 4), `${host}:${port}`);
  const out: { port?: number } = {};
  handle?.getsockname?.(out);
  // The system can report a port in use only when the socket listens: until then, the socket has no port.
  if (handle === undefined || port === 0 || out.port === port) return handle;
  handle.close();
  return undefined;
}

/** The file of a socket outlives the process that has bound it, unless that process has closed it. */
async function bindPath(path: string): Promise<Handle | undefined> {
  const handle = bindFile(path);
  if (handle !== undefined || (await isServed(path))) return handle;
  if (!lstatSync(path).isSocket()) throw new Error(`cannot listen on ${path}: it is a file`);
  rmSync(path);
  return bindFile(path);
}

function bindFile(path: string): Handle | undefined {
  const before = process.umask(socketUmask);
  try {
    return orInUse(bind(path, -1, -1), path);
  } finally {
    process.umask(before);
  }
}

function orInUse(bound: Handle | number, where: string): Handle | undefined {
  if (typeof bound !== 'number') return bound;
  const code = getSystemErrorName(bound);
  if (code === 'EADDRINUSE') return undefined;
  throw Object.assign(new Error(`cannot listen on ${where}: ${code}`), { code });
}

/** Whether a process, also a stopped one, has the socket open. */
const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED'));
    socket.once('connect', () => socket.destroy());
  });
