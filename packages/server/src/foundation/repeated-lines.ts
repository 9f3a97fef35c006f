/**
 * Log lines that clients cause, as often as they like. In each minute, the first lines of a kind from one client are written.
 * Further ones have the level `debug`, and a line `repeated` at the end of the minute has their number. Otherwise one client
 * could fill a disk: 37 to 82 GiB a day, measured with 300 connections.
 */
import { systemTimers, type Timers } from './clock.ts';
import type { LogEvent } from './log-events.ts';
import type { Log } from './log.ts';

export interface RepeatableLine {
  readonly level: 'info' | 'warn' | 'error';
  /** The client IP range, or what else counts together. */
  readonly client: string;
  /** Lines of one client with these values are repetitions. Few values are possible, and clients do not choose them freely. */
  readonly kind: Readonly<Record<string, string | number | undefined>> & { readonly event: LogEvent };
  /** Values of this line alone. */
  readonly details: object;
}

export interface RepeatedLinesOptions {
  readonly timers?: Timers;
  readonly perKindMax?: number;
  readonly perClientMax?: number;
  readonly kindsMax?: number;
}

interface Kind {
  readonly line: RepeatableLine;
  lines: number;
  repeated: number;
}

interface Client {
  readonly kinds: Map<string, Kind>;
  lines: number;
}

const minuteMs = 60_000;
/** Enough to find the cause of a rejection by its request id. */
const perKindMax = 10;
/** A client can choose among some hundred kinds. */
const perClientMax = 100;
/** Of all clients, in memory. Beyond it, further ones count as one client, whose lines of one event are one kind. */
const kindsMax = 10_000;
const others = 'others';

export class RepeatedLines {
  readonly #log: Log;
  readonly #options: Required<RepeatedLinesOptions>;
  readonly #clients = new Map<string, Client>();
  #kinds = 0;

  constructor(log: Log, options: RepeatedLinesOptions = {}) {
    this.#log = log;
    this.#options = { timers: systemTimers, perKindMax, perClientMax, kindsMax, ...options };
  }

  write(line: RepeatableLine): void {
    if (!this.#log.isLevelEnabled(line.level)) return;
    const [client, kind] = this.#countersOf(line);
    const mayWrite = kind.lines < this.#options.perKindMax && client.lines < this.#options.perClientMax;
    if (mayWrite) {
      kind.lines++;
      client.lines++;
    } else kind.repeated++;
    this.#log[mayWrite ? line.level : 'debug']({ ...line.kind, ...line.details });
  }

  /** Writes the numbers since the last call. To be called at the end of the process. */
  flush(): void {
    for (const [clientRange, { kinds }] of this.#clients) {
      for (const { line, repeated: count } of kinds.values()) {
        const { event, ...kind } = line.kind;
        if (count > 0) this.#log[line.level]({ event: 'repeated', repeated: event, ...kind, clientRange, count });
      }
    }
    this.#clients.clear();
    this.#kinds = 0;
  }

  #countersOf(line: RepeatableLine): [Client, Kind] {
    if (this.#clients.size === 0) void this.#options.timers.sleep(minuteMs, { isRef: false }).then(() => this.flush());
    const fullName = `${line.level} ${Object.values(line.kind).join(' ')}`;
    const isKnown = this.#clients.get(line.client)?.kinds.has(fullName) === true;
    const hasRoom = isKnown || this.#kinds < this.#options.kindsMax;
    const [clientName, name] = hasRoom ? [line.client, fullName] : [others, `${line.level} ${line.kind.event}`];
    const client = this.#clients.get(clientName) ?? { kinds: new Map(), lines: 0 };
    this.#clients.set(clientName, client);
    let kind = client.kinds.get(name);
    if (!kind) {
      kind = { line: hasRoom ? line : { ...line, kind: { event: line.kind.event } }, lines: 0, repeated: 0 };
      client.kinds.set(name, kind);
      this.#kinds++;
    }
    return [client, kind];
  }
}
