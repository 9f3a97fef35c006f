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
import { lockFile } from '../../foundation/database/file-lock.ts';
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
/** Only the user may read the lock, and so hold it. */
const lockUmask = 0o177;

/** @returns undefined if another process has the socket @throws Error with `code` */
export async function bindShared(address: VerifyAddress): Promise<SharedSocket | undefined> {
  if (address.kind === 'socket') return bindPath(address.path);
  const handle = await bindPort(address.host, address.port);
  if (handle === undefined) return undefined;
  const out: { port?: number } = {};
  handle.getsockname?.(out);
  return { handle, url: urlOf(address.host, out.port ?? address.port), close: () => handle.close() };
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

/**
 * The file of a socket outlives the process that has bound it, unless that process has closed it. A connection to a socket on which
 * no verifier listens yet is refused too, so a main process holds a lock while it has the socket.
 */
async function bindPath(path: string): Promise<SharedSocket | undefined> {
  const lock = withUmask(() => lockFile(`${path}.lock`), lockUmask);
  if (lock === undefined) return undefined;
  try {
    const handle = await bindLocked(path);
    if (handle !== undefined) {
      const close = (): void => {
        handle.close();
        lock.close();
      };
      return { handle, url: `unix:${path}`, close };
    }
  } catch (error) {
    lock.close();
    throw error;
  }
  lock.close();
  return undefined;
}

/** @returns undefined while a process has the socket open, also a stopped one */
async function bindLocked(path: string): Promise<Handle | undefined> {
  const handle = bindFile(path);
  if (handle !== undefined || (await isServed(path))) return handle;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === false)
    throw new Error(`cannot listen on ${path}: it is a file`);
  rmSync(path, { force: true });
  return bindFile(path);
}

const bindFile = (path: string): Handle | undefined => withUmask(() => orInUse(bind(path, -1, -1), path));

function withUmask<T>(create: () => T, umask = socketUmask): T {
  const before = process.umask(umask);
  try {
    return create();
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

/** Whether a process, also a stopped one, listens on the socket. @throws Error with `code` EACCES */
const isServed = (path: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = net.connect(path);
    socket.once('connect', () => resolve(true));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const { code = '' } = error;
      if (code === 'EACCES') reject(error);
      else resolve(!['ECONNREFUSED', 'ENOENT'].includes(code));
    });
    socket.once('connect', () => socket.destroy());
  });
