/** Logs rejected requests. The response and the log line have the same request id. */
import { randomBytes } from 'node:crypto';
import { forward } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import { toProblem, type ProblemResponse } from './problem.ts';

/** The logged properties of a rejected request: never a query, a header or a body. */
export interface RejectedRequest {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly ms?: number | undefined;
  readonly traceId?: string | undefined;
}

const newRequestId = (): string => randomBytes(12).toString('base64url');

/** @returns the response, whose request id is in the log */
export function logProblem(log: Log, error: unknown, request: RejectedRequest): ProblemResponse {
  const requestId = newRequestId();
  const problem = toProblem(error, requestId, request.traceId);
  const { status, body } = problem;
  const { method, route, ms, traceId } = request;
  const fields = { event: 'refused', requestId, traceId, method, route, status, code: body.code, ms };
  const cause = causeOf(error);
  // Anyone can send many verifications that are rejected: a line for each would fill the disk. At the default level, their
  // number is logged once a minute (`housekeeping.ts`).
  if (route === forward.path && status < 500) log.debug(fields);
  else if (status < 500) log.info(fields);
  // An expected failure without a cause: the queue is full, or the instance stops.
  else if (cause === undefined) log.warn(fields);
  else log.error({ ...fields, err: cause });
  return problem;
}

/** Logs a failure that no response reports. An expected failure, which has no cause, is not logged. */
export function logFailure(log: Log, event: string, error: unknown): void {
  const cause = causeOf(error);
  if (cause !== undefined) log.error({ event, err: cause });
}

const causeOf = (error: unknown): unknown => (error instanceof DomainError ? error.cause : error);
