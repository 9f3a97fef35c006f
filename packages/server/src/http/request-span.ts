/** Decides which requests are recorded, and makes their spans. Attributes: docs/tracing.md. */
import { isTraced, Sampling, Span } from '../foundation/tracing.ts';
import { isFromProxy, type ProxiedRequest } from './client-ip.ts';
import { traceContextOf } from './trace-context.ts';

export interface RequestSpansOptions {
  readonly trustedProxies: readonly string[];
  /** The share of requests that are recorded although no trusted proxy has decided: 0 to 1. */
  readonly traceRatio: number;
}

export interface RequestEnd {
  readonly method: string | undefined;
  /** Path of the contract. */
  readonly route: string | undefined;
  readonly status: number;
  /** Of a problem document. */
  readonly code?: string;
}

/** RFC 9110 and PATCH. Clients choose methods, so others are not recorded. */
const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

/** Until the route is known. */
const name = 'request';

export class RequestSpans {
  readonly #trustedProxies: readonly string[];
  readonly #sampling: Sampling;

  constructor({ trustedProxies, traceRatio }: RequestSpansOptions) {
    this.#trustedProxies = trustedProxies;
    this.#sampling = new Sampling(traceRatio);
  }

  /**
   * @returns undefined if the request is not recorded. A trusted proxy decides with the flag `sampled`; a client cannot, because
   *   it could make every request expensive. Its trace is then only a link of a request that is recorded by the ratio.
   */
  start(request: ProxiedRequest): Span | undefined {
    if (!isTraced()) return undefined;
    if (isFromProxy(request, this.#trustedProxies)) {
      const remote = traceContextOf(request.rawHeaders);
      if (remote) return remote.isSampled ? new Span({ name, kind: 'server', remote }) : undefined;
    }
    if (!this.#sampling.isNextChosen()) return undefined;
    const span = new Span({ name, kind: 'server' });
    const context = traceContextOf(request.rawHeaders);
    if (context) span.link(context);
    return span;
  }
}

export function endRequestSpan(span: Span | undefined, { method = '', route, status, code }: RequestEnd): void {
  if (!span) return;
  const known = knownMethods.has(method) ? method : undefined;
  span.rename(`${known ?? 'HTTP'}${route === undefined ? '' : ` ${route}`}`);
  span.set('http.request.method', known ?? '_OTHER').set('http.response.status_code', status);
  if (route !== undefined) span.set('http.route', route);
  if (code !== undefined) span.set('keyreeve.problem.code', code);
  if (status >= 500) span.set('error.type', String(status)).fail();
  span.end();
}
