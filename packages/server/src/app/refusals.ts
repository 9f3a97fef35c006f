/** Writes error responses: with their log line, their counts and their span. */
import type { IncomingMessage } from 'node:http';
import { isOAuthStatus, type RouteContract } from '@keyreeve/contract';
import type { Span } from '../foundation/tracing.ts';
import type { ProxiedRequest } from '../http/client-ip.ts';
import type { SecurityHeaders } from '../http/headers.ts';
import { toOAuthError, withOAuthError } from '../http/oauth-error.ts';
import { withoutChallenge } from '../http/problem.ts';
import type { RequestCounts } from '../http/request-counts.ts';
import type { RequestLog } from '../http/request-log.ts';
import { endRequestSpan } from '../http/request-span.ts';
import { send, writeProblem } from '../http/response.ts';
import type { BareResponse } from '../http/short-path.ts';
import { traceIdOf } from '../http/trace-context.ts';
import type { ClientIps } from './requests/client-ips.ts';

export interface RefusalsOptions {
  readonly requestLog: RequestLog;
  readonly requestCounts: RequestCounts;
  readonly security: SecurityHeaders;
}

/** A request that gets an error response. */
interface Refusal {
  readonly error: unknown;
  readonly route?: string | undefined;
  readonly errorFormat?: RouteContract['errorFormat'];
  readonly cors?: readonly string[];
  readonly isConsole?: boolean;
  readonly ms?: number;
  readonly span?: Span | undefined;
}

export class Refusals {
  readonly #options: RefusalsOptions;
  readonly #clientIps: ClientIps;

  constructor(options: RefusalsOptions, clientIps: ClientIps) {
    this.#options = options;
    this.#clientIps = clientIps;
  }

  write(
    request: Pick<IncomingMessage, 'method'> & ProxiedRequest,
    response: BareResponse,
    { error, route, errorFormat, cors = [], isConsole = false, ms, span }: Refusal,
  ): void {
    const { requestLog, requestCounts, security } = this.#options;
    const { method } = request;
    const traceId = traceIdOf(request.rawHeaders) ?? span?.traceId;
    const clientIp = (): string => this.#clientIps.of(request);
    const problem = requestLog.refused(error, { method, route, ms, traceId, clientIp });
    requestCounts.count(route, method, problem.status, ms);
    requestCounts.countLimited(problem.body.code);
    endRequestSpan(span, { method, route, status: problem.status, code: problem.body.code });
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (isOAuthStatus(errorFormat, problem.status)) {
      const answer = toOAuthError(problem);
      send(response, security, { ...answer, headers: [...(answer.headers ?? []), ...cors] });
    } else if (errorFormat === 'oauth') writeProblem(response, security, withOAuthError(problem), cors);
    else writeProblem(response, security, isConsole ? withoutChallenge(problem) : problem, cors);
  }
}
