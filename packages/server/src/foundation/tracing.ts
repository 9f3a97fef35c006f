/**
 * Spans: the steps of a recorded request and their durations. A span is published to a channel of `node:diagnostics_channel`
 * when it ends. Without a subscriber, no span is created. The package `@keyreeve/otel` subscribes (docs/tracing.md).
 *
 * A span contains names, ids of traces, times, and the attributes of `docs/tracing.md`: never an email address, a client IP, a
 * credential, a path, a query, or the id of an account or key.
 */
import { randomFillSync } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import { monotonicMs, systemClock } from './clock.ts';

/** In lower-case hexadecimal: 16 and 8 bytes, not all zero. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

export type SpanAttributes = Readonly<Record<string, string | number>>;
export type SpanKind = 'server' | 'client' | 'internal';

/** What the channel `keyreeve:span` publishes. */
export interface SpanRecord extends SpanContext {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parentId: string | undefined;
  /** Whether the parent is a span of another process. */
  readonly isParentRemote: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  readonly links: readonly SpanContext[];
  /** Links beyond the maximum. */
  readonly droppedLinks: number;
  readonly hasFailed: boolean;
}

/** What the channel `keyreeve:tracing` publishes: subscribers prepare or flush, and the service waits for them. */
export interface TracingPhase {
  readonly phase: 'start' | 'stop';
  readonly waitFor: (work: Promise<unknown>) => void;
}

/** As the SDKs of OpenTelemetry by default. */
const linksMax = 128;
/** A service that stops does not wait longer for subscribers. */
const stopMsMax = 1_500;

const spans = channel('keyreeve:span');
const phases = channel('keyreeve:tracing');

/** Whether spans have a subscriber. About 2 ns. */
export const isTraced = (): boolean => spans.hasSubscribers;

/** Waits for subscribers. An error of a subscriber does not reach the service. */
export async function announcePhase(phase: TracingPhase['phase']): Promise<void> {
  if (!phases.hasSubscribers) return;
  const works: Promise<unknown>[] = [];
  phases.publish({ phase, waitFor: (work) => works.push(work) } satisfies TracingPhase);
  const ready = Promise.allSettled(works);
  if (phase === 'start') return void (await ready);
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, stopMsMax);
  await Promise.race([ready, late.promise]);
  clearTimeout(timer);
}

interface SpanStart {
  readonly name: string;
  readonly kind?: SpanKind;
  /** The parent in another process. Undefined: the span begins a trace. */
  readonly remote?: SpanContext | undefined;
}

export class Span implements SpanContext {
  readonly traceId: string;
  readonly spanId = randomHex(8);
  /** The span of the request or job. */
  readonly root: Span;
  isEnded = false;
  #name: string;
  readonly #kind: SpanKind;
  readonly #parentId: string | undefined;
  readonly #startedMs: number;
  /** The time at which the monotonic clock was 0. All spans of a trace use one value, so a changed clock does not move them. */
  readonly #zeroMs: number;
  readonly #attributes: Record<string, string | number> = {};
  readonly #links: SpanContext[] = [];
  #droppedLinks = 0;
  #hasFailed = false;

  /** @param parent in this process */
  constructor({ name, kind = 'internal', remote }: SpanStart, parent?: Span, startedMs = monotonicMs()) {
    this.#name = name;
    this.#kind = kind;
    this.root = parent?.root ?? this;
    this.traceId = parent?.traceId ?? (remote ? copyOf(remote.traceId) : randomHex(16));
    this.#parentId = parent?.spanId ?? (remote && copyOf(remote.spanId));
    this.#zeroMs = parent ? parent.#zeroMs : systemClock.now() - monotonicMs();
    this.#startedMs = startedMs;
  }

  child(name: string, kind: SpanKind = 'internal', startedMs?: number): Span {
    return new Span({ name, kind }, this, startedMs);
  }

  rename(name: string): this {
    this.#name = name;
    return this;
  }

  set(name: string, value: string | number): this {
    this.#attributes[name] = value;
    return this;
  }

  link({ traceId, spanId }: SpanContext): void {
    if (this.#links.length < linksMax) this.#links.push({ traceId: copyOf(traceId), spanId: copyOf(spanId) });
    else this.#droppedLinks++;
  }

  fail(): this {
    this.#hasFailed = true;
    return this;
  }

  /** Publishes the span. A second call does nothing. */
  end(endedMs = monotonicMs()): void {
    if (this.isEnded) return;
    this.isEnded = true;
    spans.publish({
      name: this.#name,
      kind: this.#kind,
      traceId: this.traceId,
      spanId: this.spanId,
      parentId: this.#parentId,
      isParentRemote: this.root === this && this.#parentId !== undefined,
      startMs: this.#zeroMs + this.#startedMs,
      endMs: this.#zeroMs + endedMs,
      attributes: this.#attributes,
      links: this.#links,
      droppedLinks: this.#droppedLinks,
      hasFailed: this.#hasFailed,
    } satisfies SpanRecord);
  }
}

/** Calls `run` in a span, which is marked as failed if `run` fails. Without a parent, there is no span. */
export async function inSpan<T>(
  parent: Span | undefined,
  { name, kind }: Pick<SpanStart, 'name' | 'kind'>,
  run: (span?: Span) => Promise<T>,
): Promise<T> {
  if (!parent) return run();
  const span = parent.child(name, kind);
  try {
    return await run(span);
  } catch (error) {
    span.fail();
    throw error;
  } finally {
    span.end();
  }
}

/**
 * A read or commit that several requests share: a child of the first one's span, with links to all.
 * @returns undefined if none of the requests is recorded
 */
export function startShared(name: string, parents: readonly (Span | undefined)[]): Span | undefined {
  const recorded = parents.filter((parent) => parent !== undefined);
  if (recorded.length === 0) return undefined;
  const span = recorded[0]?.child(name, 'client');
  for (const parent of recorded) span?.link(parent);
  return span?.set('db.operation.batch.size', parents.length);
}

/**
 * Chooses a share of requests at random. It draws the number of requests up to the next chosen one (a geometric distribution),
 * so that the others cost a decrement.
 */
export class Sampling {
  readonly #ratio: number;
  #left: number;

  /** @param ratio 0 to 1 */
  constructor(ratio: number) {
    this.#ratio = ratio;
    this.#left = this.#draw();
  }

  isNextChosen(): boolean {
    if (--this.#left > 0) return false;
    this.#left = this.#draw();
    return true;
  }

  #draw(): number {
    if (this.#ratio <= 0) return Infinity;
    if (this.#ratio >= 1) return 1;
    const random = draw(4).readUInt32LE() / 2 ** 32;
    return 1 + Math.floor(Math.log1p(-random) / Math.log1p(-this.#ratio));
  }
}

const randomHex = (bytes: number): string => draw(bytes).toString('hex');

/** A part of a header would keep the bytes of the whole request, with its credential, in memory until the export. */
const copyOf = (hex: string): string => Buffer.from(hex, 'hex').toString('hex');

const pool = Buffer.alloc(1_024);
let used = pool.length;

/** Bytes for many ids are generated at once. The result is valid until the next call. */
function draw(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
