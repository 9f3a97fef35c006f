/**
 * The service's HTTP: the list of its routes, and the steps that every request takes. It knows no port.
 *
 *     limits → route → who calls → query, body → handler → answer
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { forward, isBounded, limits, type RefreshTokenBody, type RouteContract } from '@keyreeve/contract';
import type { Enrolment } from '../modules/second-factors/enrolment.ts';
import { enrolmentRoutes } from '../modules/second-factors/routes.ts';
import type { SelfService } from '../modules/self-service/self-service.ts';
import { accountRoutes } from '../modules/self-service/routes.ts';
import { adminRoutes, firstAdministratorRoutes, type AdminParts } from '../modules/administration/routes.ts';
import type { ApiKeys } from '../modules/api-keys/api-keys.ts';
import { apiKeyRoutes } from '../modules/api-keys/routes.ts';
import type { AccountPrincipal } from '../foundation/principal.ts';
import { monotonicMs } from '../foundation/clock.ts';
import { accountShare, runInShare, rangeShare, type WorkClass } from '../foundation/database/share.ts';
import { DomainError } from '../foundation/errors.ts';
import type { Log } from '../foundation/log.ts';
import type { SigningKeys } from '../modules/signing-keys/signing-keys.ts';
import { ipRange } from '../foundation/ip-address.ts';
import { discoveryRoutes, sessionRoutes, tokenRoutes } from '../modules/tokens/routes.ts';
import type { Tokens } from '../modules/tokens/tokens.ts';
import { answerForward, isForwardTarget } from '../modules/verification/forward.ts';
import { verificationRoutes } from '../modules/verification/routes.ts';
import type { Verifier } from '../modules/verification/verify.ts';
import { webhookRoutes } from '../modules/webhooks/routes.ts';
import type { Webhooks } from '../modules/webhooks/webhooks.ts';
import { pathOf, queryOf, write, writeProblem, type RouteResponse } from '../http/response.ts';
import { authenticateService, callerOf } from './authenticate.ts';
import { bodyReader, toRecord, type ReadBody } from '../http/body.ts';
import { usedPlainHttp, clientIpOf } from '../http/client-ip.ts';
import { Cors } from '../http/cors.ts';
import { credentialOf } from '../http/request-credential.ts';
import { contractRoutes } from '../modules/api-reference/routes.ts';
import type { SecurityHeaders } from '../http/headers.ts';
import { healthRoutes, type Health } from './health.ts';
import { preferredLanguage, prefersPage } from '../http/language.ts';
import type { LinkPageOptions } from '../modules/link-pages/link-pages.ts';
import { logFailure, logProblem } from '../http/problem-log.ts';
import type { RequestErrors } from '../http/request-errors.ts';
import { delayRejection, RequestGate, type RequestSlots, type RequestBounds } from '../http/request-gate.ts';
import type { Call, Route } from '../http/route.ts';
import { Router, type Match } from '../http/router.ts';
import { StartQueue } from '../http/start-queue.ts';
import { validator } from '../http/validation.ts';

export interface AppOptions extends AdminParts {
  readonly tokens: Tokens;
  readonly selfService: SelfService;
  readonly apiKeys: ApiKeys;
  readonly enrolment: Enrolment;
  readonly verifier: Verifier;
  readonly signingKeys: SigningKeys;
  readonly webhooks: Webhooks;
  readonly health: Health;
  readonly errors: RequestErrors;
  readonly log: Log;
  /** The public address: scheme, host and port, without a slash at the end. */
  readonly publicUrl: string;
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly security: SecurityHeaders;
  readonly linkPages: LinkPageOptions;
  /** Of requests in progress; the usual ones without it. */
  readonly requestBounds?: RequestBounds | undefined;
}

/** A proxy that sends a malformed X-Forwarded-For sends it with every request. */
const proxyWarningMs = 60_000;
const forwardedForHint =
  'the trusted proxy sent an X-Forwarded-For entry that is not an IP address, so its own address counts as the client IP; configure it to send the bare IP address, without port or brackets';

/** Every address that a stranger can reach; `/auth/forward` is the one beside them. */
function routesOf(options: AppOptions): readonly Route[] {
  const { selfService, tokens, apiKeys, enrolment, verifier, signingKeys, webhooks, health, publicUrl } = options;
  return [
    // Nobody needs to be known
    ...healthRoutes(health),
    ...discoveryRoutes(signingKeys, publicUrl),
    ...contractRoutes(publicUrl),
    // A password or a refresh token is the question
    ...tokenRoutes(tokens),
    ...firstAdministratorRoutes(options.firstAdministrator),
    // Nobody, a code from a mail, or an account, by its access token
    ...accountRoutes(selfService, options.linkPages),
    // An account, by its access token
    ...apiKeyRoutes(apiKeys),
    ...sessionRoutes(tokens),
    ...enrolmentRoutes(enrolment),
    // An administrator, by its access token
    ...adminRoutes(options),
    ...webhookRoutes(webhooks.endpoints),
    // A service, by an API key with the scope keyreeve:verify
    ...verificationRoutes(verifier, (error) => logFailure(options.log, 'verification_failed', error)),
  ];
}

interface Prepared {
  readonly readBody: ReadBody | undefined;
  readonly checkQuery: ((value: unknown) => unknown) | undefined;
}

export class App {
  readonly #security: SecurityHeaders;
  readonly #options: AppOptions;
  readonly #router: Router;
  readonly #gate: RequestGate;
  readonly #starts = new StartQueue();
  readonly #prepared: ReadonlyMap<RouteContract, Prepared>;
  readonly #cors: Cors;
  readonly #isHttps: boolean;
  #proxyWarnedMs = -proxyWarningMs;

  constructor(options: AppOptions) {
    const routes = routesOf(options);
    this.#options = options;
    this.#router = new Router(routes);
    this.#prepared = new Map(
      routes.map(({ contract: { body, query }, contract }) => [
        contract,
        { readBody: body && bodyReader(body), checkQuery: query && validator(query) },
      ]),
    );
    this.#cors = new Cors(options.corsOrigins);
    this.#isHttps = options.publicUrl.startsWith('https:');
    this.#security = options.security;
    this.#gate = new RequestGate(options.requestBounds);
  }

  readonly listener: RequestListener = (request, response) => {
    if (this.#options.health.isClosed) response.shouldKeepAlive = false;
    if (isForwardTarget(request.url ?? '')) this.#forward(request, response);
    else void this.#serve(request, response);
  };

  /** The hot path. */
  #forward(request: IncomingMessage, response: ServerResponse): void {
    answerForward(this.#options.verifier, this.#security.data, request, response, (error) =>
      this.#refuse(request, response, error, { route: forward.path }),
    );
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedMs = monotonicMs();
    const { method = 'GET' } = request;
    const cors = this.#cors.headers(request);
    let route: string | undefined;
    try {
      this.#assertLimits(request);
      const match = this.#router.find(method, pathOf(request));
      if (!match) throw new DomainError('not_found');
      if ('allowed' in match) {
        const preflight = this.#cors.preflight(request, match.allowed);
        if (!preflight) throw new DomainError('method_not_allowed', { allowed: match.allowed });
        write(response, this.#security, { ...preflight, headers: [...cors, ...(preflight.headers ?? [])] });
        return;
      }
      route = match.route.contract.path;
      const answer = await this.#answer(match, request);
      write(response, this.#security, { ...answer, headers: [...cors, ...(answer.headers ?? [])] });
      // Verifications come in floods: a good one leaves no line.
      if (match.route.contract.auth !== 'service_key') {
        this.#options.log.info({ event: 'request', method, route, status: answer.status, ms: elapsed(startedMs) });
      }
    } catch (error) {
      this.#refuse(request, response, error, { route, cors, ms: elapsed(startedMs) });
    }
  }

  async #answer(match: Match, request: IncomingMessage): Promise<RouteResponse> {
    const { contract } = match.route;
    if (contract.auth === 'service_key') {
      const presented = credentialOf(request.rawHeaders);
      await authenticateService(this.#options.verifier, presented, contract.body?.type === 'form');
    }
    if (!isBounded(contract)) return match.route.handle(await this.#call(match, request, undefined));
    await this.#starts.wait({ workClass: classOf(contract), owner: callerKey(request) });
    const slots = this.#gate.newRequest();
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

  /** Its reads and writes use the share of the calling account, or of the client IP range. */
  async #answerInTurn(match: Match, request: IncomingMessage, slots: RequestSlots): Promise<RouteResponse> {
    const { contract, handle } = match.route;
    const workClass = classOf(contract);
    const presented = credentialOf(request.rawHeaders);
    if (presented.kind === 'bearer') slots.acquire('credential', presented.text);
    // Who calls is settled before anything of the request is looked at.
    const principal = await callerOf(contract, this.#options.tokens, presented);
    if (principal) slots.acquire('account', principal.accountId);
    const call = await this.#call(match, request, principal);
    if (contract.auth === 'refresh_token')
      slots.acquire('credential', (call.body as unknown as RefreshTokenBody).refreshToken);
    const range = ipRange(call.clientIp);
    // Last, so that callers who share the range can't keep it busy by sending their bodies slowly.
    slots.acquire('range', range);
    const share = principal ? accountShare(principal.accountId, workClass) : rangeShare(range, workClass);
    return runInShare(share, () => handle(call));
  }

  /** Everything of the request that a handler is given. */
  async #call(
    { route, params }: Match,
    request: IncomingMessage,
    principal: AccountPrincipal | undefined,
  ): Promise<Call> {
    const prepared = this.#prepared.get(route.contract);
    const query = prepared?.checkQuery?.(toRecord(queryOf(request)));
    const body = await prepared?.readBody?.(request);
    const { 'user-agent': userAgent = '', 'x-keyreeve-otp': otp } = request.headers;
    const call = {
      principal,
      params,
      query,
      body,
      credential: credentialOf(request.rawHeaders),
      clientIp: clientIpOf(request, this.#options.trustedProxies, this.#warnOfProxy),
      userAgent: userAgent.slice(0, limits.programCharsMax),
      get prefersPage() {
        return prefersPage(request.headers.accept);
      },
      get language() {
        return preferredLanguage(request.headers['accept-language']);
      },
      oneTimePassword: typeof otp === 'string' ? otp : undefined,
    };
    return call as unknown as Call;
  }

  /** The value is not logged: a header may contain anything. */
  readonly #warnOfProxy = (proxy: string): void => {
    if (monotonicMs() - this.#proxyWarnedMs < proxyWarningMs) return;
    this.#proxyWarnedMs = monotonicMs();
    this.#options.log.warn({ event: 'forwarded_for_malformed', proxy, detail: forwardedForHint });
  };

  #assertLimits(request: IncomingMessage): void {
    if (request.rawHeaders.length > limits.headerFieldsMax * 2) throw new DomainError('headers_too_large');
    if ((request.url ?? '').length > limits.urlCharsMax) throw new DomainError('url_too_long');
    // Only on an https installation: there a request over plain HTTP has shown its credentials to the network.
    if (this.#isHttps && usedPlainHttp(request, this.#options.trustedProxies)) throw new DomainError('https_required');
  }

  #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    error: unknown,
    { route, cors = [], ms }: { route?: string | undefined; cors?: readonly string[]; ms?: number },
  ): void {
    const problem = logProblem(this.#options.log, error, { method: request.method, route, ms });
    this.#options.errors.count(route, problem.status);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    writeProblem(response, this.#security, problem, cors);
  }
}

const classOf = ({ isNarrowing }: RouteContract): WorkClass => (isNarrowing ? 'narrowing' : 'ordinary');

/** Tells callers apart before any of them is authenticated. */
const callerKey = ({ headers, socket }: IncomingMessage): string => headers.authorization ?? socket.remoteAddress ?? '';

const elapsed = (startedMs: number): number => Math.round((monotonicMs() - startedMs) * 10) / 10;
