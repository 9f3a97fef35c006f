/**
 * The requests that verify credentials, without the other routes: `/auth/forward`, and on the short path
 * (`http/short-path.ts`) simple requests for `POST /auth/verify` and introspection. `app.ts` answers the other ones.
 */
import { forward } from '@keyreeve/contract';
import { monotonicMs } from '../foundation/clock.ts';
import type { Span } from '../foundation/tracing.ts';
import { isSimple } from '../http/body.ts';
import type { Cors } from '../http/cors.ts';
import { linesOf, type SecurityHeaders } from '../http/headers.ts';
import { credentialOf } from '../http/request-credential.ts';
import { elapsed, type RequestCounts } from '../http/request-counts.ts';
import { endRequestSpan, type RequestSpans } from '../http/request-span.ts';
import type { RequestTurns } from '../http/request-turns.ts';
import { jsonType } from '../http/response.ts';
import type { BareResponse, ShortAnswer, ShortPathOptions } from '../http/short-path.ts';
import type { ShortRequest } from '../http/short-request.ts';
import type { VerificationResult } from '../modules/verification/conditions.ts';
import { answerForward, isForwardTarget, type ForwardRequest } from '../modules/verification/forward.ts';
import { verifyForService, type ServiceQuestion } from '../modules/verification/for-services.ts';
import { shortRoutesOf, type ShortRoute } from '../modules/verification/short-routes.ts';
import type { Health } from './processes/health.ts';
import type { Refusals } from './refusals.ts';
import type { ClientIps } from './requests/client-ips.ts';
import { authenticateService, type ServiceAuthenticators } from './service-caller.ts';

export interface VerificationListenerOptions extends ServiceAuthenticators {
  /** Otherwise it answers nothing. */
  readonly isVerifying: boolean;
  readonly trustedProxies: readonly string[];
  readonly isBasicForwarded: boolean;
  readonly requestCounts: RequestCounts;
  readonly health: Pick<Health, 'isClosed'>;
  readonly cors: Cors;
  readonly security: SecurityHeaders;
}

/** What it shares with the listener of all other requests. */
interface RequestParts {
  readonly turns: RequestTurns;
  readonly clientIps: ClientIps;
  readonly spans: RequestSpans;
  readonly refusals: Refusals;
}

interface CountedRoute extends ShortRoute {
  /** Counts a response with a result. */
  readonly count: (ms: number) => void;
}

export class VerificationListener {
  readonly #options: VerificationListenerOptions;
  readonly #parts: RequestParts;
  /** By request target. */
  readonly #routes: ReadonlyMap<string, CountedRoute>;
  /** Of a request without Origin. */
  readonly #cors: readonly string[];
  /** The header lines of a response with a result, except Content-Length. */
  readonly #lines: string;

  constructor(options: VerificationListenerOptions, parts: RequestParts) {
    const { verifier, requestCounts, cors, security } = options;
    this.#options = options;
    this.#parts = parts;
    this.#cors = cors.headersFor(undefined);
    this.#lines = linesOf([...security.data, ...this.#cors, 'Content-Type', jsonType]);
    this.#routes = new Map(
      shortRoutesOf(verifier.environments).map((route) => {
        const { path, method } = route.contract;
        return [path, { ...route, count: requestCounts.counterOf(path, method, 200) }];
      }),
    );
  }

  readonly shortPath: Pick<ShortPathOptions, 'mayAnswer' | 'handle'> = {
    mayAnswer: ({ method, url }) =>
      this.#options.isVerifying &&
      !this.#options.health.isClosed &&
      (method === 'GET' ? isForwardTarget(url) : this.#routes.has(url)),
    handle: (request, response) => {
      if (request.method !== 'GET') return this.#verify(request, response);
      this.forward(request, response);
      return true;
    },
  };

  /** The hot path. */
  forward(request: ForwardRequest, response: BareResponse): void {
    const { turns, spans, refusals } = this.#parts;
    const span = spans.start(request);
    const arrived = turns.now;
    const refuse = (error: unknown): void =>
      turns.reject(request, arrived, () => refusals.write(request, response, { error, route: forward.path, span }));
    answerForward(this.#options, { request, response, span }, refuse);
  }

  /**
   * As `requests/answers.ts` does for a body of this size: one read returns the caller's key and the credential.
   * @returns false, without any effect, if the request is not a simple one
   */
  #verify(request: ShortRequest, response: ShortAnswer): boolean {
    const { url, rawHeaders, body } = request;
    const route = this.#routes.get(url);
    if (!route || !isSimple(rawHeaders, route.type)) return false;
    const presented = credentialOf(rawHeaders);
    const acceptsBasic = route.type === 'form';
    const question = 'text' in presented || (acceptsBasic && presented.kind === 'basic') ? route.read(body) : undefined;
    if (!question) return false;
    const { turns, clientIps, spans, refusals } = this.#parts;
    const startedMs = monotonicMs();
    const span = spans.start(request);
    const arrived = turns.now;
    const answer = (result: VerificationResult): void => {
      response.write(this.#lines, JSON.stringify(route.write(result)));
      route.count(elapsed(startedMs));
      if (span) endRequestSpan(span, { method: request.method, route: url, status: 200 });
    };
    const fail = (error: unknown): void => {
      const refusal = { error, route: url, cors: this.#cors, span };
      turns.reject(request, arrived, () => refusals.write(request, response, { ...refusal, ms: elapsed(startedMs) }));
    };
    const clientIp = clientIps.certainOf(request);
    const { verifier } = this.#options;
    try {
      verifier.together(() => {
        const caller = authenticateService(this.#options, { presented, clientIp, acceptsBasic, span });
        verifyForService(verifier, caller, span ? withSpan(question, span) : question, { answer, fail });
      });
    } catch (error) {
      fail(error);
    }
    return true;
  }
}

const withSpan = ({ conditions, ...question }: ServiceQuestion, span: Span): ServiceQuestion => ({
  ...question,
  conditions: { ...conditions, span },
});
