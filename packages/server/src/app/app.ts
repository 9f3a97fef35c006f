/**
 * The HTTP listener of the service: the steps of every request. It is independent of the port.
 *
 *     limits → route → principal → query, body → handler → response
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { forward, isBounded, limits, verifyBatch, type RefreshTokenBody, type RouteContract } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';
import {
  accountShare,
  currentShare,
  rangeShare,
  runInShare,
  runInTrace,
  type WorkClass,
} from '../foundation/database/share.ts';
import { DomainError } from '../foundation/errors.ts';
import { ipRange } from '../foundation/ip-address.ts';
import type { Span } from '../foundation/tracing.ts';
import { isConsolePath } from '../modules/console/paths.ts';
import { readConsoleRequest } from '../modules/console/request-checks.ts';
import { answerForward, isForwardTarget, type ForwardRequest } from '../modules/verification/forward.ts';
import { pathOf, queryOf, send, write, writeProblem, type RouteResponse } from '../http/response.ts';
import type { BasePath } from '../http/base-path.ts';
import { authenticateService, callerOf, consoleCallerOf } from './authenticate.ts';
import { AccountTurns } from '../http/account-turns.ts';
import { bodyReader, hasShortBody, toRecord, type BeginBody, type ReadBody } from '../http/body.ts';
import { certainIpOf, clientIpOf, isFromProxy, usedPlainHttp, type ProxiedRequest } from '../http/client-ip.ts';
import type { Cors } from '../http/cors.ts';
import { credentialOf } from '../http/request-credential.ts';
import type { SecurityHeaders } from '../http/headers.ts';
import { toOAuthError } from '../http/oauth-error.ts';
import { withoutChallenge } from '../http/problem.ts';
import type { RequestCounts } from '../http/request-counts.ts';
import {
  defaultBounds,
  delayRejection,
  RequestGate,
  type RequestBounds,
  type RequestSlots,
} from '../http/request-gate.ts';
import { endRequestSpan, RequestSpans } from '../http/request-span.ts';
import { RequestTurns } from '../http/request-turns.ts';
import type { AnyCaller, Call, Route, ServiceCaller } from '../http/route.ts';
import { Router, type Match } from '../http/router.ts';
import type { BareResponse } from '../http/short-path.ts';
import { traceIdOf } from '../http/trace-context.ts';
import { Turns } from '../http/turns.ts';
import { UnfinishedBodies } from '../http/unfinished-bodies.ts';
import { validator } from '../http/validation.ts';
import { headerOf, RequestCall } from './request-call.ts';
import { routesOf, type RouteOptions } from './routes.ts';

export interface AppOptions extends RouteOptions {
  readonly requestCounts: RequestCounts;
  readonly trustedProxies: readonly string[];
  readonly cors: Cors;
  readonly security: SecurityHeaders;
  /** Bounds on requests in progress. Default: those of the contract. */
  readonly requestBounds?: RequestBounds | undefined;
  /** See `http/request-span.ts`. */
  readonly traceRatio: number;
}

/** A proxy that sends a malformed X-Forwarded-For sends it with every request, so the warning is logged once a minute. */
const proxyWarningMs = 60_000;
const forwardedForHint =
  'the trusted proxy sent an X-Forwarded-For entry that is not an IP address, so its own address counts as the client IP; configure it to send the bare IP address, without port or brackets';

/** A request that gets an error response. */
interface Refusal {
  readonly route?: string | undefined;
  readonly errorFormat?: RouteContract['errorFormat'];
  readonly cors?: readonly string[];
  readonly isConsole?: boolean;
  readonly ms?: number;
  readonly span?: Span | undefined;
}

/** The credential of a request. */
interface Presented {
  /** Undefined without one. */
  readonly text: string | undefined;
  readonly authenticate: () => Promise<AnyCaller | undefined>;
}

/** Made once for each operation. */
interface RequestParsers {
  readonly readBody: ReadBody | undefined;
  readonly checkQuery: ((value: unknown) => unknown) | undefined;
}

export class App {
  readonly #security: SecurityHeaders;
  readonly #options: AppOptions;
  readonly #router: Router;
  readonly #gate: RequestGate;
  readonly #turns: RequestTurns;
  readonly #bodies = new UnfinishedBodies();
  readonly #removals: AccountTurns;
  readonly #expensiveReads: Turns;
  readonly #spans: RequestSpans;
  readonly #parsers: ReadonlyMap<RouteContract['id'], RequestParsers>;
  readonly #cors: Cors;
  readonly #isHttps: boolean;
  readonly #basePath: BasePath;
  #proxyWarnedMs = -proxyWarningMs;

  constructor(options: AppOptions) {
    const routes = routesOf(options);
    this.#options = options;
    this.#spans = new RequestSpans(options);
    this.#router = new Router(routes);
    this.#parsers = new Map(
      routes.map(({ contract: { id, body, query } }) => [
        id,
        { readBody: body && bodyReader(body), checkQuery: query && validator(query) },
      ]),
    );
    this.#cors = options.cors;
    this.#basePath = options.basePath;
    this.#isHttps = options.publicUrl.startsWith('https:');
    this.#security = options.security;
    this.#turns = new RequestTurns(this.#clientIpOf);
    const bounds = options.requestBounds ?? defaultBounds;
    this.#gate = new RequestGate(bounds);
    this.#removals = new AccountTurns(bounds);
    this.#expensiveReads = new Turns({
      runningMax: limits.expensiveReadsMax,
      runningPerOwnerMax: limits.expensiveReadsPerAccountMax,
      waitingMax: limits.writesWaitingMax,
      waitingPerOwnerMax: bounds.account,
      waitMsMax: limits.writeWaitMsMax,
    });
  }

  readonly listener: RequestListener = (request, response) => {
    if (this.#options.health.isClosed) response.shouldKeepAlive = false;
    request.url = this.#basePath.without(request.url ?? '');
    if (isForwardTarget(request.url)) this.#forward(request, response);
    else void this.#serve(request, response);
  };

  /** For the short path (`http/short-path.ts`). */
  readonly shortPath = {
    mayAnswer: (url: string): boolean => !this.#options.health.isClosed && isForwardTarget(url),
    handle: (request: ForwardRequest, response: BareResponse): void => this.#forward(request, response),
  };

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
        const clientIp = (): string => this.#clientIpOf(request);
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
    if (span === undefined && traceId === undefined) return this.#answer(match, request);
    return runInTrace({ span, traceId }, () => this.#answer(match, request));
  }

  async #answer(match: Match, request: IncomingMessage): Promise<RouteResponse> {
    const { contract } = match.route;
    if (contract.auth === 'service_key') return this.#answerService(match, request);
    if (!isBounded(contract)) {
      await this.#turns.wait(request);
      return match.route.handle(toCall(await this.#call(match, request, undefined)));
    }
    await this.#turns.wait(request, classOf(contract));
    const slots = this.#gate.newRequest(classOf(contract));
    try {
      return await this.#answerInTurn(match, request, slots);
    } catch (error) {
      slots.release();
      await delayRejection(error);
      throw error;
    } finally {
      slots.release();
    }
  }

  /**
   * With a short body of one credential, one read returns the caller's key and that credential: the handler starts before
   * the caller is authenticated. This is safe because a verification only reads until its caller is known: the body states
   * the client IP and the cost, so a client without a valid key could otherwise spend the limits of a key that it may not use
   * from its own IP address. A batch waits for the authentication.
   */
  async #answerService(match: Match, request: IncomingMessage): Promise<RouteResponse> {
    const { contract, handle } = match.route;
    const { verifier } = this.#options;
    const presented = credentialOf(request.rawHeaders);
    const mayUseBasic = contract.body?.type === 'form';
    const clientIp = this.#certainIpOf(request);
    const authenticate = (): ServiceCaller => authenticateService(this.#options, presented, clientIp, mayUseBasic);
    const isPlausible = 'text' in presented || (mayUseBasic && presented.kind === 'basic');
    const isShort = isPlausible && contract !== verifyBatch && hasShortBody(request, limits.sharedReadBodyBytesMax);
    if (!isShort) {
      const caller = Promise.resolve(await authenticate());
      return handle(toCall(await this.#call(match, request, caller)));
    }
    let call: RequestCall;
    try {
      call = await this.#call(match, request, undefined);
    } catch (error) {
      // A client without a valid key gets the same response for every body.
      await authenticate();
      throw error;
    }
    return verifier.together(() => {
      const caller = authenticate();
      return afterwards(caller, handle(toCall(call.as(caller))));
    });
  }

  /** The handler's reads and writes use the share of the calling account, or of the client IP range. */
  async #answerInTurn(match: Match, request: IncomingMessage, slots: RequestSlots): Promise<RouteResponse> {
    const { contract, handle } = match.route;
    const workClass = classOf(contract);
    const { text, authenticate } = this.#presentedBy(match.route, request);
    if (text !== undefined) slots.acquire('credential', text);
    // The caller is authenticated before the query and the body are parsed.
    const principal = await authenticate();
    // A body that arrives slowly occupies no slot: `#bodies` bounds it.
    slots.release();
    const caller = principal && callerName(principal);
    const begin: BeginBody = (reject) =>
      this.#bodies.begin({ clientIp: this.#clientIpOf(request), credential: caller }, reject);
    const call = toCall(await this.#call(match, request, principal, begin));
    if (principal && caller !== undefined && workClass === 'narrowing')
      await slots.take(() => this.#removals.begin(principal.accountId, caller));
    else if (principal) slots.acquire('account', principal.accountId);
    if (text !== undefined) slots.acquire('credential', text);
    if (contract.auth === 'refresh_token')
      slots.acquire('credential', (call.body as unknown as RefreshTokenBody).refreshToken);
    const range = ipRange(call.clientIp);
    slots.acquire('range', range);
    if (principal && contract.isExpensive) await slots.take(() => this.#expensiveReads.begin(principal.accountId));
    const owner = principal ? accountShare(principal.accountId, workClass) : rangeShare(range, workClass);
    const { span, traceId } = currentShare();
    return runInShare({ ...owner, span, traceId }, () => handle(call));
  }

  /** The credential of a request. Only routes of the console read the cookie, and only other routes read Authorization. */
  #presentedBy(route: Route, request: IncomingMessage): Presented {
    const { console, tokens } = this.#options;
    const { rawHeaders } = request;
    if (console && isOfConsole(route)) {
      const presented = readConsoleRequest(rawHeaders, console.origin, console.cookie);
      return { text: presented.cookie, authenticate: () => consoleCallerOf(route, tokens, console, presented) };
    }
    const presented = credentialOf(rawHeaders);
    return {
      text: 'text' in presented ? presented.text : undefined,
      authenticate: () => callerOf(route.contract, this.#options, presented, this.#certainIpOf(request)),
    };
  }

  /** The client IP of a caller whose key may be limited to IP ranges. */
  #certainIpOf(request: IncomingMessage): () => string | undefined {
    return () => certainIpOf(request, this.#options.trustedProxies, this.#warnOfProxy);
  }

  /** The values of the request that a handler receives. */
  async #call(
    { route, params }: Match,
    request: IncomingMessage,
    principal: AnyCaller | ServiceCaller | undefined,
    begin?: BeginBody,
  ): Promise<RequestCall> {
    const parsers = this.#parsers.get(route.contract.id);
    const query = parsers?.checkQuery?.(toRecord(queryOf(request)));
    route.checkHeaders?.((name) => headerOf(request, name));
    const body = await parsers?.readBody?.(request, begin);
    return new RequestCall(request, { principal, params, query, body }, this.#clientIpOf);
  }

  readonly #clientIpOf = (request: ProxiedRequest): string =>
    clientIpOf(request, this.#options.trustedProxies, this.#warnOfProxy);

  /** The value is not logged: a header may contain anything. */
  readonly #warnOfProxy = (proxy: string): void => {
    if (monotonicMs() - this.#proxyWarnedMs < proxyWarningMs) return;
    this.#proxyWarnedMs = monotonicMs();
    this.#options.log.warn({ event: 'forwarded_for_malformed', proxy, detail: forwardedForHint });
  };

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
    const clientIp = (): string => this.#clientIpOf(request);
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

/** The second result. If both promises are rejected, the first one decides. */
async function afterwards<T>(first: Promise<unknown>, second: Promise<T>): Promise<T> {
  // Without this handler, a rejection that precedes the first result would be unhandled.
  second.catch(() => undefined);
  await first;
  return second;
}

/** Of the response to a request for any path; none for the console. */
export function corsHeadersOf(cors: Cors, request: IncomingMessage): readonly string[] {
  const path = pathOf(request);
  return path.startsWith('/') && !isConsolePath(path) ? cors.headers(request) : [];
}

/** The route's contract has validated it. */
const toCall = (call: RequestCall): Call => call as unknown as Call;

const classOf = ({ isNarrowing }: RouteContract): WorkClass => (isNarrowing ? 'narrowing' : 'ordinary');

/** The verified credential, whichever of its tokens was presented: a session has as many access tokens as its client likes. */
const callerName = (principal: AnyCaller): string =>
  principal.kind === 'account' ? `session ${principal.sessionId}` : `key ${principal.keyId}`;

/** Whether the credential of the route is the session cookie of the console. */
const isOfConsole = ({ contract: { auth }, isMirrored = false }: Route): boolean =>
  isMirrored || auth === 'console_session' || auth === 'console_sign_in';

const elapsed = (startedMs: number): number => Math.round((monotonicMs() - startedMs) * 10) / 10;
