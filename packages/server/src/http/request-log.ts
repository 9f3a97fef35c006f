/**
 * Logs requests. The response to a rejected one and its log line have the same request id. What one client repeats is counted
 * (`repeated-lines.ts`).
 */
import { randomBytes } from 'node:crypto';
import { forward } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import { coarseRange } from '../foundation/ip-address.ts';
import type { LogEvent } from '../foundation/log-events.ts';
import type { Log } from '../foundation/log.ts';
import { RepeatedLines, type RepeatableLine, type RepeatedLinesOptions } from '../foundation/repeated-lines.ts';
import { toProblem, type ProblemResponse } from './problem.ts';

/** The logged properties of a request: never a query, a header or a body. */
export interface LoggedRequest {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly ms?: number | undefined;
  readonly traceId?: string | undefined;
  /** Of the client IP, the network is logged with the number of repetitions. */
  readonly clientIp: () => string | undefined;
}

const newRequestId = (): string => randomBytes(12).toString('base64url');

export class RequestLog {
  readonly #log: Log;
  readonly #lines: RepeatedLines;

  constructor(log: Log, options?: RepeatedLinesOptions) {
    this.#log = log;
    this.#lines = new RepeatedLines(log, options);
  }

  /** A request with a response that is no problem document. */
  answered(status: number, { method, route, ms, traceId, clientIp }: LoggedRequest): void {
    const kind = { event: 'request' as const, method, route, status };
    this.#lines.write({ level: 'info', client: rangeOf(clientIp), kind, details: { traceId, ms } });
  }

  /** @returns the response, whose request id is in the log */
  refused(error: unknown, { method, route, ms, traceId, clientIp }: LoggedRequest): ProblemResponse {
    const requestId = newRequestId();
    const problem = toProblem(error, requestId, traceId);
    const { status, body } = problem;
    const kind = { event: 'refused' as const, method, route, status, code: body.code };
    const details = { requestId, traceId, ms };
    const cause = causeOf(error);
    // Anyone can send many verifications that are rejected. At the default level, their number is logged once a minute
    // (`housekeeping.ts`).
    if (route === forward.path && status < 500) this.#log.debug({ ...kind, ...details });
    else if (status < 500) this.#lines.write({ level: 'info', client: rangeOf(clientIp), kind, details });
    // An expected failure without a cause: the queue is full, or the instance stops.
    else if (cause === undefined) this.#lines.write({ level: 'warn', client: rangeOf(clientIp), kind, details });
    else this.#lines.write({ level: 'error', client: rangeOf(clientIp), kind, details: { ...details, err: cause } });
    return problem;
  }

  /** A failure that no response reports. An expected failure, which has no cause, is not logged. */
  failed(event: LogEvent, error: unknown): void {
    const err = causeOf(error);
    if (err !== undefined) this.#lines.write({ level: 'error', client: event, kind: { event }, details: { err } });
  }

  /** An event in addition to the line of its request. @param details what a client can choose */
  noted(kind: RepeatableLine['kind'], details: object): void {
    this.#lines.write({ level: 'info', client: kind.event, kind, details });
  }

  /** Logs the numbers of repetitions, at the end of the process. */
  flush(): void {
    this.#lines.flush();
  }
}

const rangeOf = (clientIp: () => string | undefined): string => coarseRange(clientIp() ?? '') ?? 'unknown';
const causeOf = (error: unknown): unknown => (error instanceof DomainError ? error.cause : error);
