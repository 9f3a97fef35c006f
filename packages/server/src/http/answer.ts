/** Writing answers: every one carries the security headers, and none carries what its route didn't name. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SecurityHeaders } from './headers.ts';
import type { ProblemAnswer } from './problem.ts';

/** What a handler gives back. */
export interface Answer {
  readonly status: number;
  /** JSON unless `contentType` says otherwise. Without it the answer is empty. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  /** Instead of `no-store`. */
  readonly cacheControl?: string;
  /** Content-Security-Policy of an answer that is a page. */
  readonly policy?: string;
  /** Called when the connection ended before the response was written. */
  readonly onLost?: () => void;
}

export function write(response: ServerResponse, security: SecurityHeaders, answer: Answer): void {
  const { status, body, contentType = 'application/json; charset=utf-8', headers = [] } = answer;
  if (answer.onLost) whenLost(response, answer.onLost);
  const isData = answer.cacheControl === undefined && answer.policy === undefined;
  const pairs = [...(isData ? security.data : security.with(answer)), ...headers];
  if (body === undefined) {
    // RFC 9110 section 8.6: a 204 has no Content-Length.
    if (status !== 204) pairs.push('Content-Length', '0');
    response.writeHead(status, pairs).end();
    return;
  }
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  pairs.push('Content-Type', contentType, 'Content-Length', String(Buffer.byteLength(text)));
  response.writeHead(status, pairs).end(text);
}

function whenLost(response: ServerResponse, onLost: () => void): void {
  if (response.destroyed) return onLost();
  response.once('close', () => {
    if (!response.writableFinished) onLost();
  });
}

export function writeProblem(
  response: ServerResponse,
  security: SecurityHeaders,
  problem: ProblemAnswer,
  extra: readonly string[] = [],
): void {
  write(response, security, {
    status: problem.status,
    headers: [...problem.headers, ...extra],
    body: problem.body,
    contentType: 'application/problem+json; charset=utf-8',
  });
}

/** The request target up to its query. */
export function pathOf({ url = '/' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

export function queryOf({ url = '/' }: IncomingMessage): URLSearchParams {
  const query = url.indexOf('?');
  return new URLSearchParams(query < 0 ? '' : url.slice(query + 1));
}
