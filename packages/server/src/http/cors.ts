/** Cross-origin requests: allowed only for origins on the configured list, and without cookies. */
import type { IncomingMessage } from 'node:http';
import { oneTimePasswordHeader } from '@keyreeve/contract';
import type { RouteResponse } from './response.ts';

const preflightMaxAgeSeconds = 600;

/**
 * Request headers that pages may send. Libraries for tracing and monitoring add theirs to every request of a page, and the
 * browser blocks the request if one of them is missing here. The list is fixed: a list that repeats what the preflight names
 * would permit every header, also `X-Forwarded-For`, from which a trusted proxy may take the client IP.
 */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'X-API-Key',
  oneTimePasswordHeader,
  // W3C Trace Context and Baggage; OpenTelemetry, Sentry
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  // Zipkin
  'b3',
  'X-B3-TraceId',
  'X-B3-SpanId',
  'X-B3-ParentSpanId',
  'X-B3-Sampled',
  'X-B3-Flags',
  // Jaeger
  'uber-trace-id',
  // Datadog
  'X-Datadog-Trace-Id',
  'X-Datadog-Parent-Id',
  'X-Datadog-Sampling-Priority',
  'X-Datadog-Sampled',
  'X-Datadog-Origin',
  'X-Datadog-Tags',
  // Elastic, New Relic, Application Insights, AWS X-Ray, Google Cloud, Dynatrace, Instana, AppDynamics
  'elastic-apm-traceparent',
  'newrelic',
  'Request-Id',
  'Request-Context',
  'X-Amzn-Trace-Id',
  'X-Cloud-Trace-Context',
  'X-dtc',
  'X-dtpc',
  'X-INSTANA-T',
  'X-INSTANA-S',
  'X-INSTANA-L',
  'ADRUM',
  'X-Request-Id',
  'X-Correlation-Id',
].join(', ');

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers of the response to a request; none if the list is empty. */
  headers({ headers }: IncomingMessage): readonly string[] {
    return this.headersFor(headers.origin);
  }

  /** @param origin of the request */
  headersFor(origin: string | undefined): readonly string[] {
    if (this.#origins.size === 0) return [];
    if (origin === undefined || !this.#origins.has(origin)) return ['Vary', 'Origin'];
    return [
      'Vary',
      'Origin',
      'Access-Control-Allow-Origin',
      origin,
      'Access-Control-Expose-Headers',
      'Location, Retry-After, RateLimit, RateLimit-Policy',
    ];
  }

  /** @returns the response to a preflight from a listed origin; undefined for another request */
  preflight({ method, headers }: IncomingMessage, allowed: readonly string[]): RouteResponse | undefined {
    const { origin, 'access-control-request-method': requested } = headers;
    if (method !== 'OPTIONS' || requested === undefined || origin === undefined || !this.#origins.has(origin))
      return undefined;
    return {
      status: 204,
      headers: [
        'Access-Control-Allow-Methods',
        allowed.join(', '),
        'Access-Control-Allow-Headers',
        requestHeaders,
        'Access-Control-Max-Age',
        String(preflightMaxAgeSeconds),
      ],
    };
  }
}
