/**
 * Decides which connection closes when the bound of open connections is reached, so that a new client is always accepted.
 * Otherwise one client with idle connections would shut out all others.
 *
 * The connection that has gone longest without completing a request closes, of the client IP range that has the most: first
 * the largest network, then the largest range in it. A connection whose request has not arrived completely counts as idle.
 * Trusted proxies have no share, because they connect for many clients, and their idle connections close last.
 */
import type { Socket } from 'node:net';
import { coarseRange, ipRange } from '../foundation/ip-address.ts';
import { LargestFirst } from '../foundation/largest-first.ts';

/** The part of a connection that this file uses. */
export interface OpenConnection {
  readonly socket: Pick<Socket, 'remoteAddress' | 'destroy'>;
  /** Whether the server waits for bytes of a request. */
  readonly isWaitingForRequest: boolean;
}

export interface PlaceOptions {
  /** Whether the IP address is that of a trusted proxy. Default: none is. */
  readonly isProxy?: (ip: string) => boolean;
  /** Closes a connection whose client does not read a response. @returns whether there was one */
  readonly closeStalled: () => boolean;
  /** Called at most once a minute, with the number of connections that were closed since the last call. */
  readonly onClosed?: (closed: number) => void;
}

const reportMs = 60_000;

export class ConnectionPlaces {
  readonly #options: Required<PlaceOptions>;
  readonly #idle = new ByRange();
  readonly #idleOfProxies = new ByRange();
  /** They have a request in progress. A connection moves here when its turn to close comes. */
  readonly #busy = new ByRange();
  readonly #busyOfProxies = new ByRange();
  #closed = 0;
  #isReportDue = false;

  constructor(options: PlaceOptions) {
    this.#options = { isProxy: () => false, onClosed: () => undefined, ...options };
  }

  open(connection: OpenConnection): ConnectionPlace {
    const ip = connection.socket.remoteAddress ?? '';
    return new ConnectionPlace(connection, ip, this.#options.isProxy(ip) ? this.#idleOfProxies : this.#idle);
  }

  /** Closes one connection. Without one that may close, the next client has to wait. */
  closeOne(): void {
    let place = firstIdle(this.#idle, this.#busy);
    if (!place && this.#options.closeStalled()) return;
    place ??= firstIdle(this.#idleOfProxies, this.#busyOfProxies) ?? this.#busy.first;
    if (!place) return;
    place.release();
    place.connection.socket.destroy();
    this.#closed++;
    if (this.#isReportDue) return;
    this.#isReportDue = true;
    setTimeout(() => this.#report(), reportMs).unref();
  }

  #report(): void {
    this.#options.onClosed(this.#closed);
    this.#closed = 0;
    this.#isReportDue = false;
  }
}

/** The place of one connection. */
export class ConnectionPlace {
  readonly connection: OpenConnection;
  readonly network: string;
  readonly range: string;
  readonly #idle: ByRange;
  #current: ByRange | undefined;
  /** Of its range. */
  #members: Set<ConnectionPlace> | undefined;

  constructor(connection: OpenConnection, ip: string, idle: ByRange) {
    this.connection = connection;
    this.network = coarseRange(ip) ?? '';
    this.range = ipRange(ip);
    this.#idle = idle;
    this.moveTo(idle);
  }

  /** To be called when a request is complete: the connection moves to the end of the order. */
  renew(): void {
    // A response can end after the connection.
    if (this.#current === undefined) return;
    if (this.#current !== this.#idle) this.moveTo(this.#idle);
    else if (this.#members?.delete(this)) this.#members.add(this);
  }

  /** To be called when the connection has closed. */
  release(): void {
    this.moveTo(undefined);
  }

  moveTo(next: ByRange | undefined): void {
    this.#current?.change(this, (members) => void members.delete(this), -1);
    this.#current = next;
    this.#members = next?.change(this, (members) => void members.add(this), 1);
  }
}

/** The ranges of one network. */
class Network {
  readonly ranges = new LargestFirst<Set<ConnectionPlace>>(() => new Set());
  size = 0;
}

/** In each range in the order in which they were added. */
class ByRange {
  readonly #networks = new LargestFirst<Network>(() => new Network());

  get first(): ConnectionPlace | undefined {
    const [first] = this.#networks.largest?.ranges.largest ?? [];
    return first;
  }

  /** @returns the members of the range */
  change(
    { network, range }: ConnectionPlace,
    change: (members: Set<ConnectionPlace>) => void,
    difference: 1 | -1,
  ): Set<ConnectionPlace> {
    return this.#networks.change(network, (of) => {
      of.size += difference;
      return of.ranges.change(range, (members) => {
        change(members);
        return members;
      });
    });
  }
}

/** A connection with a request in progress leaves the idle ones until its request is complete. */
function firstIdle(idle: ByRange, busy: ByRange): ConnectionPlace | undefined {
  for (let place = idle.first; place; place = idle.first) {
    if (place.connection.isWaitingForRequest) return place;
    place.moveTo(busy);
  }
  return undefined;
}
