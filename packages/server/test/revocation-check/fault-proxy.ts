/**
 * A TCP proxy between an instance and PostgreSQL that simulates network faults: it cuts connections around a commit, delays
 * responses, drops all data, or refuses connections. It does not support TLS. It reads only the framing of messages, names of
 * statements and commits.
 */
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { lasts } from './fault-duration.ts';
import { MessageReader, type Message } from './postgres-messages.ts';

/** Where the connection is cut: the server does not receive the commit, or the instance does not receive its response. */
export type CommitCut = 'before it is sent' | 'before its response';

/** Where a connection is cut: before a message of the next transaction, counted from 0 in one direction. */
export interface MessageCut {
  readonly direction: 'request' | 'response';
  readonly index: number;
}

interface CommitCutting {
  readonly cut: CommitCut;
  /** Cuts one in so many of the commits that qualify. */
  readonly every: number;
  /** The name of a statement that the transaction must contain. */
  readonly statement: string | undefined;
  count: number;
}

export interface FaultCounts {
  connections: number;
  /** A commit counts as cut before its response only if the server has acknowledged it. */
  readonly commitsCut: Record<CommitCut, number>;
  refused: number;
  cut: number;
  delayed: number;
  dropped: number;
}

export class FaultProxy implements AsyncDisposable {
  readonly counts: FaultCounts = {
    connections: 0,
    commitsCut: { 'before it is sent': 0, 'before its response': 0 },
    refused: 0,
    cut: 0,
    delayed: 0,
    dropped: 0,
  };
  readonly #server: Server;
  #target: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  #cutting: CommitCutting | undefined;
  #isRefusing = false;
  /** Cuts the next transaction that reaches the message. */
  messageCut: MessageCut | undefined;
  /** Ends the next connection that commits as a server does that shuts down meanwhile: with an error after the commit. */
  isShutDownAfterCommit = false;
  /** Called for each commit. @param transaction contains the names of its statements */
  onCommit: ((transaction: string, roundTrips: number) => void) | undefined;
  /** Added to every response. */
  delayMs = 0;
  isBlackHole = false;

  private constructor(databaseUrl: string) {
    this.#target = serverOf(databaseUrl);
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(databaseUrl: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(databaseUrl);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** @returns the URL of the same database through this proxy */
  through(databaseUrl: string): string {
    const url = new URL(databaseUrl);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** New connections go to the server of another URL. */
  retarget(databaseUrl: string): void {
    this.#target = serverOf(databaseUrl);
  }

  /** Until {@link clearFaults}. @param statement the name of a statement that the transaction must contain */
  cutCommits(cut: CommitCut, { every = 1, statement }: { every?: number; statement?: string } = {}): void {
    this.#cutting = { cut, every, statement, count: 0 };
  }

  /** Closes new connections immediately, until {@link clearFaults}. */
  refuse(): void {
    this.#isRefusing = true;
  }

  /** Cuts all open connections. */
  cutAll(): void {
    this.counts.cut += this.#links.size;
    for (const link of this.#links) link.destroy();
  }

  /**
   * A network has forgotten the connections that are open now.
   * @param how each breaks when the instance uses it, or drops what the instance sends
   */
  forgetAll(how: 'broken' | 'silent' = 'broken'): void {
    for (const link of this.#links) link.forgotten = how;
  }

  /** Forwards all data again. Dropped data is lost. */
  clearFaults(): void {
    this.#cutting = undefined;
    this.messageCut = undefined;
    this.isShutDownAfterCommit = false;
    this.#isRefusing = false;
    this.delayMs = 0;
    // A connection with missing bytes is unusable.
    if (this.isBlackHole) this.cutAll();
    this.isBlackHole = false;
  }

  /** @returns where to cut this commit; undefined to forward it */
  cutOf(transaction: string): CommitCut | undefined {
    const cutting = this.#cutting;
    if (cutting === undefined) return undefined;
    // The program appends a digest of the text to the name of a statement (`foundation/database/sql.ts`).
    const { statement } = cutting;
    if (statement !== undefined && !new RegExp(`\\0${statement}(?:_[0-9a-f]+)?\\0`).test(transaction)) return undefined;
    return cutting.count++ % cutting.every === 0 ? cutting.cut : undefined;
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

function serverOf(databaseUrl: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(databaseUrl);
  return { host: hostname, port: Number(port) };
}

/** A connection of the instance, and the proxy's connection to PostgreSQL for it. */
class Link {
  forgotten: 'broken' | 'silent' | undefined;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #proxy: FaultProxy;
  /** The messages of the open transaction, which contain the names of its statements. */
  #transaction = '';
  /** Times that the instance has waited for a response since the transaction began, including the current one. */
  #roundTrips = 0;
  #hasResponded = true;
  /** Messages since the transaction began; undefined outside one. */
  #messages: Record<MessageCut['direction'], number> | undefined;
  /** The response to the current commit is not forwarded. */
  #isCutAtCommitted = false;
  /** Keeps responses in order when the delay changes. */
  #lastSent = Promise.resolve();

  constructor(client: Socket, server: Socket, proxy: FaultProxy) {
    this.#client = client;
    this.#server = server;
    this.#proxy = proxy;
    const fromClient = new MessageReader({ hasStartup: true });
    const fromServer = new MessageReader({ hasStartup: false });
    client.on('data', (chunk: Buffer) => fromClient.read(chunk).forEach((message) => this.#forwardRequest(message)));
    server.on('data', (chunk: Buffer) => this.#forwardResponse(fromServer.read(chunk)));
    for (const socket of [client, server]) socket.on('error', () => this.destroy()).on('close', () => this.destroy());
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  #forwardRequest({ type, bytes }: Message): void {
    if (this.#client.destroyed) return;
    if (this.forgotten === 'broken') {
      this.#proxy.counts.cut++;
      this.destroy();
      return;
    }
    if (this.forgotten === 'silent' || this.#proxy.isBlackHole) {
      this.#proxy.counts.dropped++;
      return;
    }
    const text = bytes.toString('latin1');
    if (type === 'B' && /^\0begin_[0-9a-f]+\0/.test(text.slice(5))) {
      this.#messages = { request: 0, response: 0 };
      this.#roundTrips = 0;
      this.#hasResponded = true;
    }
    if (this.#isCutAt('request')) {
      this.#server.end();
      this.#client.destroy();
      return;
    }
    if (this.#hasResponded) this.#roundTrips++;
    this.#hasResponded = false;
    const isCommit =
      type === 'Q' ? text.slice(5) === 'commit\0' : type === 'B' && /^\0commit_[0-9a-f]+\0/.test(text.slice(5));
    if (isCommit) {
      this.#proxy.onCommit?.(this.#transaction, this.#roundTrips);
      const cut = this.#proxy.cutOf(this.#transaction);
      if (cut === 'before it is sent') {
        this.#proxy.counts.commitsCut[cut]++;
        this.destroy();
        return;
      }
      this.#isCutAtCommitted = cut === 'before its response';
    }
    if (isCommit) this.#transaction = '';
    else this.#transaction += text;
    this.#server.write(bytes);
  }

  /** Counts a message. @returns whether the connection is cut before it */
  #isCutAt(direction: MessageCut['direction']): boolean {
    if (!this.#messages) return false;
    const index = this.#messages[direction]++;
    const cut = this.#proxy.messageCut;
    if (cut?.direction !== direction || cut.index !== index) return false;
    this.#proxy.messageCut = undefined;
    return true;
  }

  #forwardResponse(messages: readonly Message[]): void {
    const { counts, delayMs, isBlackHole } = this.#proxy;
    if (this.#isCutAtCommitted) {
      // Without this response, the server may not have committed.
      if (!messages.some(isCommitted)) return;
      counts.commitsCut['before its response']++;
      this.destroy();
      return;
    }
    if (isBlackHole) {
      counts.dropped++;
      return;
    }
    const cutAt = messages.findIndex(() => this.#isCutAt('response'));
    if (cutAt >= 0) {
      this.#client.end(Buffer.concat(messages.slice(0, cutAt).map(({ bytes }) => bytes)));
      this.#server.destroy();
      return;
    }
    const committedAt = this.#proxy.isShutDownAfterCommit ? messages.findIndex(isCommitted) : -1;
    if (committedAt >= 0) {
      this.#proxy.isShutDownAfterCommit = false;
      this.#client.end(Buffer.concat([...messages.slice(0, committedAt + 1).map(({ bytes }) => bytes), shutDown]));
      this.#server.destroy();
      return;
    }
    for (const { type, bytes } of messages) {
      if (type === 'Z') this.#hasResponded = true;
      if (type === 'Z' && bytes[5] === idle) this.#messages = undefined;
    }
    const bytes = Buffer.concat(messages.map((message) => message.bytes));
    if (delayMs > 0) counts.delayed++;
    const delay = delayMs > 0 ? lasts(delayMs) : undefined;
    this.#lastSent = this.#lastSent.then(() => delay).then(() => void this.#client.write(bytes));
  }
}

/** The status of ReadyForQuery outside a transaction. */
const idle = 'I'.charCodeAt(0);
const isCommitted = ({ type, bytes }: Message): boolean => type === 'C' && bytes.toString('latin1', 5) === 'COMMIT\0';

/** ErrorResponse of a server that shuts down (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const shutDownFields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0';
const shutDown = Buffer.concat([Buffer.of(0x45, 0, 0, 0, 4 + shutDownFields.length), Buffer.from(shutDownFields)]);
