/**
 * The HTTP listener of the service: the steps of every request. It is independent of the port.
 *
 *     limits → route → principal → query, body → handler → response
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { limits, type RouteContract } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';
import { runInTrace } from '../foundation/database/share.ts';
import { DomainError } from '../foundation/errors.ts';
import type { Span } from '../foundation/tracing.ts';
import { isConsolePath, type ConsoleHost } from '../modules/console/paths.ts';
import type { Console } from '../modules/console/routes.ts';
import { isPortalPath } from '../modules/portal/paths.ts';
import { isForwardTarget } from '../modules/verification/forward.ts';
import { pathOf, write, type RouteResponse } from '../http/response.ts';
import type { BasePath } from '../http/base-path.ts';
import { isFromProxy, usedPlainHttp } from '../http/client-ip.ts';
import type { Cors } from '../http/cors.ts';
import type { SecurityHeaders } from '../http/headers.ts';
import { elapsed, type RequestCounts } from '../http/request-counts.ts';
import type { RequestLog } from '../http/request-log.ts';
import type { Route } from '../http/route.ts';
import type { Log } from '../foundation/log.ts';
import { defaultBounds, type RequestBounds } from '../http/request-gate.ts';
import { endRequestSpan, RequestSpans } from '../http/request-span.ts';
import { RequestTurns } from '../http/request-turns.ts';
import { Router, type Match } from '../http/router.ts';
import { traceIdOf } from '../http/trace-context.ts';
import type { Authenticators } from './authenticate.ts';
import type { Health } from './processes/health.ts';
import { Answers } from './requests/answers.ts';
import { ClientIps } from './requests/client-ips.ts';
import { Refusals } from './refusals.ts';
import { VerificationListener } from './verification-listener.ts';

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
  /** Whether `/auth/forward` accepts Basic. */
  readonly isBasicForwarded: boolean;
  readonly cors: Cors;
  readonly security: SecurityHeaders;
  /** Bounds on requests in progress. Default: those of the contract. */
  readonly requestBounds?: RequestBounds | undefined;
  /** See `http/request-span.ts`. */
  readonly traceRatio: number;
}

export class App {
  readonly verifications: VerificationListener;
  readonly #security: SecurityHeaders;
  readonly #options: AppOptions;
  readonly #router: Router;
  readonly #turns: RequestTurns;
  readonly #clientIps: ClientIps;
  readonly #answers: Answers;
  readonly #refusals: Refusals;
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
    this.#refusals = new Refusals(options, this.#clientIps);
    const { requestBounds: bounds = defaultBounds } = options;
    const parts = { turns: this.#turns, clientIps: this.#clientIps };
    this.#answers = new Answers({ ...options, bounds }, { ...parts, routes });
    this.verifications = new VerificationListener(options, { ...parts, spans: this.#spans, refusals: this.#refusals });
  }

  readonly listener: RequestListener = (request, response) => {
    if (this.#options.health.isClosed) response.shouldKeepAlive = false;
    request.url = this.#basePath.without(request.url ?? '');
    if (this.#options.isVerifying && isForwardTarget(request.url)) this.verifications.forward(request, response);
    else void this.#serve(request, response);
  };

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = monotonicMs();
    const { method = 'GET' } = request;
    const span = this.#spans.start(request);
    const arrived = this.#turns.now;
    const { requestCounts } = this.#options;
    const path = pathOf(request);
    const isConsole = isConsolePath(path);
    const mayBeCrossOrigin = !isConsole && !isPortalPath(path);
    const cors = corsHeadersOf(this.#cors, request);
    let route: string | undefined;
    let errorFormat: RouteContract['errorFormat'];
    try {
      this.#assertLimits(request);
      const exists = this.#exists(path, request.headers.host);
      const match = exists ? this.#router.find(method, path) : undefined;
      if (!match) {
        await this.#turns.wait(request);
        throw new DomainError('not_found');
      }
      if ('allowed' in match) {
        await this.#turns.wait(request);
        const preflight = mayBeCrossOrigin ? this.#cors.preflight(request, match.allowed) : undefined;
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
        this.#refusals.write(request, response, {
          error,
          route,
          errorFormat,
          cors,
          isConsole,
          ms: elapsed(startedMs),
          span,
        }),
      );
    }
  }

  /** Hosts separate the origins of browsers: the console is only at its own, and the key page is not at that. */
  #exists(path: string, host: string | undefined): boolean {
    const { consoleHost } = this.#options;
    return consoleHost.permits(path, host) && !(isPortalPath(path) && consoleHost.isOwnHost(host));
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
}

/** Of the response to a request for any path; none for the console and the key page. */
export function corsHeadersOf(cors: Cors, request: IncomingMessage): readonly string[] {
  const path = pathOf(request);
  return path.startsWith('/') && !isConsolePath(path) && !isPortalPath(path) ? cors.headers(request) : [];
}
