/**
 * Stands between an instance and PostgreSQL and does what networks do: cuts connections around a commit, delays answers,
 * swallows everything, refuses. Speaks no TLS. It understands only how messages are framed and which of them commit.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { MessageReader, type Message } from './postgres-messages.ts';

/** Where a commit is cut: the server never hears it, or it commits and the instance never learns that. */
export type CommitCut = 'before it is sent' | 'before its answer';

interface CommitCutting {
  readonly cut: CommitCut;
  /** Of the commits that qualify, every so many-th. */
  readonly every: number;
  /** A statement that the transaction must hold: its name. */
  readonly statement: string | undefined;
  seen: number;
}

export interface FaultCounts {
  connections: number;
  /** By what was cut; only commits that the server has acknowledged count as cut before their answer. */
  readonly commitsCut: Record<CommitCut, number>;
  refused: number;
  cut: number;
  delayed: number;
  swallowed: number;
}

export class FaultProxy implements AsyncDisposable {
  readonly counts: FaultCounts = {
    connections: 0,
    commitsCut: { 'before it is sent': 0, 'before its answer': 0 },
    refused: 0,
    cut: 0,
    delayed: 0,
    swallowed: 0,
  };
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  #cutting: CommitCutting | undefined;
  #isRefusing = false;
  /** Added to every answer. */
  delayMs = 0;
  isBlackHole = false;

  private constructor(databaseUrl: string) {
    const { hostname, port } = new URL(databaseUrl);
    this.#target = { host: hostname, port: Number(port) };
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  /** In front of the database's server, on a port of its own. */
  static async start(databaseUrl: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(databaseUrl);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The same database, through this proxy. */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** From now on, until {@link heal}. @param statement by its name: only transactions that hold it */
  cutCommits(cut: CommitCut, { every = 1, statement }: { every?: number; statement?: string } = {}): void {
    this.#cutting = { cut, every, statement, seen: 0 };
  }

  /** Closes new connections as soon as they are made, until {@link heal}. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /** Every connection that is open. */
  cutAll(): void {
    this.counts.cut += this.#links.size;
    for (const link of this.#links) link.destroy();
  }

  /** Everything passes again, what was swallowed is lost. */
  heal(): void {
    this.#cutting = undefined;
    this.#isRefusing = false;
    this.delayMs = 0;
    // A connection of which bytes are missing can’t go on.
    if (this.isBlackHole) this.cutAll();
    this.isBlackHole = false;
  }

  /** Whether this commit is one to cut, and how. */
  judgeCommit(transaction: string): CommitCut | undefined {
    const cutting = this.#cutting;
    if (cutting === undefined) return undefined;
    // On the wire a statement's name is followed by a digest of its text (`db/sql.ts`).
    const { statement } = cutting;
    if (statement !== undefined && !new RegExp(`\\0${statement}(?:_[0-9a-f]+)?\\0`).test(transaction)) return undefined;
    return cutting.seen++ % cutting.every === 0 ? cutting.cut : undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const link of this.#links) link.destroy();
    if (this.#server.listening) await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#isRefusing) {
      this.counts.refused++;
      client.on('error', () => undefined).destroy();
      return;
    }
    this.counts.connections++;
    const link = new Link(client, connect({ ...this.#target, noDelay: true }), this);
    this.#links.add(link);
    client.once('close', () => this.#links.delete(link));
  }
}

/** One connection of the instance and the one that was made for it. */
class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #proxy: FaultProxy;
  /** What the open transaction holds so far, for its statements' names. */
  #transaction = '';
  /** The answer to the commit under way is not passed on. */
  #isCutAtCommitted = false;
  /** Answers leave in the order in which they came, however the delay changes. */
  #lastSent = Promise.resolve();

  constructor(client: Socket, server: Socket, proxy: FaultProxy) {
    this.#client = client;
    this.#server = server;
    this.#proxy = proxy;
    const fromClient = new MessageReader({ hasStartup: true });
    const fromServer = new MessageReader({ hasStartup: false });
    client.on('data', (chunk: Buffer) => fromClient.read(chunk).forEach((message) => this.#ask(message)));
    server.on('data', (chunk: Buffer) => this.#answer(chunk, fromServer.read(chunk)));
    for (const socket of [client, server]) socket.on('error', () => this.destroy()).on('close', () => this.destroy());
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #ask({ type, bytes }: Message): void {
    if (this.#client.destroyed) return;
    if (this.#proxy.isBlackHole) {
      this.#proxy.counts.swallowed++;
      return;
    }
    const text = bytes.toString('latin1');
    if (type === 'Q' && /(?:^|; *)commit\b/i.test(text.slice(5))) {
      const cut = this.#proxy.judgeCommit(this.#transaction);
      if (cut === 'before it is sent') {
        this.#proxy.counts.commitsCut[cut]++;
        this.destroy();
        return;
      }
      this.#isCutAtCommitted = cut === 'before its answer';
    }
    if (type === 'Q') this.#transaction = '';
    else this.#transaction += text;
    this.#server.write(bytes);
  }

  #answer(chunk: Buffer, messages: readonly Message[]): void {
    const { counts, delayMs, isBlackHole } = this.#proxy;
    if (this.#isCutAtCommitted) {
      // Only now has the server committed for certain.
      if (!messages.some(isCommitted)) return;
      counts.commitsCut['before its answer']++;
      this.destroy();
      return;
    }
    if (isBlackHole) {
      counts.swallowed++;
      return;
    }
    if (delayMs > 0) counts.delayed++;
    const delay = delayMs > 0 ? new Promise<void>((resolve) => setTimeout(resolve, delayMs)) : undefined;
    this.#lastSent = this.#lastSent.then(() => delay).then(() => void this.#client.write(chunk));
  }
}

const isCommitted = ({ type, bytes }: Message): boolean => type === 'C' && bytes.toString('latin1', 5) === 'COMMIT\0';
