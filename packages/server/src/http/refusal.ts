/** Refusals: whatever is refused, and wherever, has an id of its own in the answer and a line under it in the log. */
import { randomBytes } from 'node:crypto';
import { forward } from '@keyreeve/contract';
import { DomainError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import { toProblem, type ProblemAnswer } from './problem.ts';

/** What the log says of a request beside its refusal. Never a query, a header or a body. */
export interface RefusedRequest {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly ms?: number | undefined;
}

const newRequestId = (): string => randomBytes(12).toString('base64url');

/** @returns the answer, whose id is in the log */
export function logRefusal(log: Log, error: unknown, request: RefusedRequest): ProblemAnswer {
  const requestId = newRequestId();
  const problem = toProblem(error, requestId);
  const { status, body } = problem;
  const { method, route, ms } = request;
  const fields = { event: 'refused', requestId, method, route, status, code: body.code, ms };
  const cause = causeOf(error);
  // Verifications come in floods, refused ones too, and a stranger can send them: a line each would fill the disk. At the
  // usual level their sum is logged once a minute (`housekeeping.ts`).
  if (route === forward.path && status < 500) log.debug(fields);
  else if (status < 500) log.info(fields);
  // Foreseen and harmless: the queue is full, the instance is stopping.
  else if (cause === undefined) log.warn(fields);
  else log.error({ ...fields, err: cause });
  return problem;
}

/** A failure that no response shows. One that is foreseen has no cause and leaves no line. */
export function logFailure(log: Log, event: string, error: unknown): void {
  const cause = causeOf(error);
  if (cause !== undefined) log.error({ event, err: cause });
}

const causeOf = (error: unknown): unknown => (error instanceof DomainError ? error.cause : error);
