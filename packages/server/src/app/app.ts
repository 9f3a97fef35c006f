/**
 * The HTTP listener of the service: the steps of every request. It is independent of the port.
 *
 *     limits → route → principal → query, body → handler → response
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { forward, limits, type RouteContract } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';
import { runInTrace } from '../foundation/database/share.ts';
import { DomainError } from '../foundation/errors.ts';
import type { Span } from '../foundation/tracing.ts';
import { isConsolePath, type ConsoleHost } from '../modules/console/paths.ts';
import type { Console } from '../modules/console/routes.ts';
import { answerForward, isForwardTarget, type ForwardRequest } from '../modules/verification/forward.ts';
import { pathOf, send, write, writeProblem, type RouteResponse } from '../http/response.ts';
import type { BasePath } from '../http/base-path.ts';
import { isFromProxy, usedPlainHttp, type ProxiedRequest } from '../http/client-ip.ts';
import type { Cors } from '../http/cors.ts';
import type { SecurityHeaders } from '../http/headers.ts';
import { toOAuthError } from '../http/oauth-error.ts';
import { withoutChallenge } from '../http/problem.ts';
import type { RequestCounts } from '../http/request-counts.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Route } from '../http/route.ts';
import type { Log } from '../foundation/log.ts';
import { defaultBounds, type RequestBounds } from '../http/request-gate.ts';
import { endRequestSpan, RequestSpans } from '../http/request-span.ts';
import { RequestTurns } from '../http/request-turns.ts';
import { Router, type Match } from '../http/router.ts';
import type { BareResponse } from '../http/short-path.ts';
import { traceIdOf } from '../http/trace-context.ts';
import type { Authenticators } from './authenticate.ts';
import type { Health } from './processes/health.ts';
import { Answers } from './requests/answers.ts';
import { ClientIps } from './requests/client-ips.ts';

export interface AppOptions extends Authenticators {
  readonly routes: readonly Route[];
  /** Whether it answers `/auth/forward`, which is no route. */
  readonly isVerifying: boolean;
  /** Undefined if it is off. */
  readonly console: Console | undefined;
  readonly consoleHost: ConsoleHost;
  readonly basePath: BasePath;
  /** Without a slash at the end. */
  readonly publicUrl: string;
  readonly health: Pick<Health, 'isClosed'>;
  readonly log: Log;
  readonly requestLog: RequestLog;
  readonly requestCounts: RequestCounts;
  readonly trustedProxies: readonly string[];
  readonly cors: Cors;
  readonly security: SecurityHeaders;
  /** Bounds on requests in progress. Default: those of the contract. */
  readonly requestBounds?: RequestBounds | undefined;
  /** See `http/request-span.ts`. */
  readonly traceRatio: number;
}

/** A request that gets an error response. */
interface Refusal {
  readonly route?: string | undefined;
  readonly errorFormat?: RouteContract['errorFormat'];
  readonly cors?: readonly string[];
  readonly isConsole?: boolean;
  readonly ms?: number;
  readonly span?: Span | undefined;
}

export class App {
  readonly #security: SecurityHeaders;
  readonly #options: AppOptions;
  readonly #router: Router;
  readonly #turns: RequestTurns;
  readonly #clientIps: ClientIps;
  readonly #answers: Answers;
  readonly #spans: RequestSpans;
  readonly #cors: Cors;
  readonly #isHttps: boolean;
  readonly #basePath: BasePath;

  constructor(options: AppOptions) {
    const { routes } = options;
    this.#options = options;
    this.#spans = new RequestSpans(options);
    this.#router = new Router(routes);
    this.#cors = options.cors;
    this.#basePath = options.basePath;
    this.#isHttps = options.publicUrl.startsWith('https:');
    this.#security = options.security;
    this.#clientIps = new ClientIps(options);
    this.#turns = new RequestTurns(this.#clientIps.of);
    const { requestBounds: bounds = defaultBounds } = options;
    this.#answers = new Answers({ ...options, bounds }, { routes, turns: this.#turns, clientIps: this.#clientIps });
  }

  readonly listener: RequestListener = (request, response) => {
    if (this.#options.health.isClosed) response.shouldKeepAlive = false;
    request.url = this.#basePath.without(request.url ?? '');
    if (this.#isForward(request.url)) this.#forward(request, response);
    else void this.#serve(request, response);
  };

  /** For the short path (`http/short-path.ts`). */
  readonly shortPath = {
    mayAnswer: (url: string): boolean => !this.#options.health.isClosed && this.#isForward(url),
    handle: (request: ForwardRequest, response: BareResponse): void => this.#forward(request, response),
  };

  #isForward(target: string): boolean {
    return this.#options.isVerifying && isForwardTarget(target);
  }

  /** The hot path. */
  #forward(request: ForwardRequest, response: BareResponse): void {
    const span = this.#spans.start(request);
    const arrived = this.#turns.now;
    const refuse = (error: unknown): void =>
      this.#turns.reject(request, arrived, () => this.#refuse(request, response, error, { route: forward.path, span }));
    answerForward(this.#options, { request, response, span }, refuse);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = monotonicMs();
    const { method = 'GET' } = request;
    const span = this.#spans.start(request);
    const arrived = this.#turns.now;
    const { requestCounts } = this.#options;
    const path = pathOf(request);
    const isConsole = isConsolePath(path);
    const cors = corsHeadersOf(this.#cors, request);
    let route: string | undefined;
    let errorFormat: RouteContract['errorFormat'];
    try {
      this.#assertLimits(request);
      const exists = this.#options.consoleHost.permits(path, request.headers.host);
      const match = exists ? this.#router.find(method, path) : undefined;
      if (!match) {
        await this.#turns.wait(request);
        throw new DomainError('not_found');
      }
      if ('allowed' in match) {
        await this.#turns.wait(request);
        const preflight = isConsole ? undefined : this.#cors.preflight(request, match.allowed);
        if (!preflight) throw new DomainError('method_not_allowed', { allowed: match.allowed });
        requestCounts.count(undefined, method, preflight.status, elapsed(startedMs));
        endRequestSpan(span, { method, route, status: preflight.status });
        write(response, this.#security, { ...preflight, headers: [...cors, ...(preflight.headers ?? [])] });
        return;
      }
      ({ path: route, errorFormat } = match.route.contract);
      const answer = await this.#answerInTrace(match, request, span);
      const isConsoleHost = this.#options.consoleHost.isOwnHost(request.headers.host);
      const headers = [...cors, ...(isConsoleHost ? (answer.headers ?? []) : this.#basePath.locate(answer.headers))];
      write(response, this.#security, { ...answer, headers });
      const ms = elapsed(startedMs);
      requestCounts.count(route, method, answer.status, ms);
      endRequestSpan(span, { method, route, status: answer.status });
      // Verifications are too many to be logged one by one; housekeeping.ts logs their counts.
      if (match.route.contract.auth !== 'service_key') {
        const traceId = traceIdOf(request.rawHeaders) ?? span?.traceId;
        const clientIp = (): string => this.#clientIps.of(request);
        this.#options.requestLog.answered(answer.status, { traceId, method, route, ms, clientIp });
      }
    } catch (error) {
      this.#turns.reject(request, arrived, () =>
        this.#refuse(request, response, error, { route, errorFormat, cors, isConsole, ms: elapsed(startedMs), span }),
      );
    }
  }

  /** Audit events of the request get the trace id that a trusted proxy has sent. */
  #answerInTrace(match: Match, request: IncomingMessage, span: Span | undefined): Promise<RouteResponse> {
    const { rawHeaders } = request;
    const traceId = isFromProxy(request, this.#options.trustedProxies) ? traceIdOf(rawHeaders) : undefined;
    if (span === undefined && traceId === undefined) return this.#answers.answer(match, request);
    return runInTrace({ span, traceId }, () => this.#answers.answer(match, request));
  }

  #assertLimits(request: IncomingMessage): void {
    if (request.rawHeaders.length > limits.headerFieldsMax * 2) throw new DomainError('headers_too_large');
    if ((request.url ?? '').length > limits.urlCharsMax) throw new DomainError('url_too_long');
    // Over plain HTTP, the network has seen the credentials. Without https in the public URL, plain HTTP is intended.
    if (this.#isHttps && usedPlainHttp(request, this.#options.trustedProxies)) throw new DomainError('https_required');
  }

  #refuse(
    request: Pick<IncomingMessage, 'method'> & ProxiedRequest,
    response: BareResponse,
    error: unknown,
    { route, errorFormat, cors = [], isConsole = false, ms, span }: Refusal,
  ): void {
    const traceId = traceIdOf(request.rawHeaders) ?? span?.traceId;
    const clientIp = (): string => this.#clientIps.of(request);
    const problem = this.#options.requestLog.refused(error, { method: request.method, route, ms, traceId, clientIp });
    this.#options.requestCounts.count(route, request.method, problem.status, ms);
    this.#options.requestCounts.countLimited(problem.body.code);
    endRequestSpan(span, { method: request.method, route, status: problem.status, code: problem.body.code });
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (errorFormat === 'oauth' && problem.status === 400) {
      const answer = toOAuthError(problem);
      send(response, this.#security, { ...answer, headers: [...(answer.headers ?? []), ...cors] });
    } else writeProblem(response, this.#security, isConsole ? withoutChallenge(problem) : problem, cors);
  }
}

/** Of the response to a request for any path; none for the console. */
export function corsHeadersOf(cors: Cors, request: IncomingMessage): readonly string[] {
  const path = pathOf(request);
  return path.startsWith('/') && !isConsolePath(path) ? cors.headers(request) : [];
}

const elapsed = (startedMs: number): number => Math.round((monotonicMs() - startedMs) * 10) / 10;
