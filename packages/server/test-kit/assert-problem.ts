/** Asserts that an error response is a complete problem document (RFC 9457) with the security headers and only declared members. */
import assert from 'node:assert/strict';
import { Compile } from 'typebox/schema';
import { errors, Problem, type ErrorCode } from '@keyreeve/contract';

/** A response of `fetch` or of `raw-http.ts`. */
export interface CheckedResponse {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly text: string;
}

export const securityHeaders = {
  'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

const problem = Compile(Problem);

export const fromFetch = ({
  status,
  headers,
  text,
}: {
  status: number;
  headers: Headers;
  text: string;
}): CheckedResponse => ({
  status,
  header: (name) => headers.get(name),
  text,
});

export const fromWire = (answer: {
  status: number;
  headers: ReadonlyMap<string, readonly string[]>;
  body: string;
}): CheckedResponse => ({
  status: answer.status,
  header: (name) => answer.headers.get(name)?.join(', ') ?? null,
  text: Buffer.from(answer.body, 'latin1').toString('utf8'),
});

export function assertSecurityHeaders({ header }: CheckedResponse, what = '', cacheControl = 'no-store'): void {
  assert.equal(header('cache-control'), cacheControl, what);
  for (const [name, value] of Object.entries(securityHeaders)) assert.equal(header(name), value, `${what} ${name}`);
  for (const name of ['server', 'x-powered-by', 'set-cookie']) assert.equal(header(name), null, `${what} ${name}`);
}

/** @returns the problem, for further assertions */
export function assertProblem(answer: CheckedResponse, code: ErrorCode, what = ''): Problem {
  const { status, title } = errors[code];
  const body = JSON.parse(answer.text || 'null') as Problem | null;
  assert.deepEqual({ status: answer.status, code: body?.code }, { status, code }, `${what} ${answer.text}`);
  assert.equal(answer.header('content-type'), 'application/problem+json; charset=utf-8', what);
  assert.equal(answer.header('content-length'), String(Buffer.byteLength(answer.text, 'utf8')), what);
  assertSecurityHeaders(answer, what);
  assert.ok(body && problem.Check(body), `${what}: ${JSON.stringify(problem.Errors(body))}`);
  assert.deepEqual(
    { type: body.type, title: body.title, status: body.status },
    { type: `/problems/${code}`, title, status },
  );
  assert.match(body.requestId, /^[\w-]{16}$/);
  // RFC 9110 requires WWW-Authenticate of a 401 response and Allow of a 405 response.
  assert.equal(answer.header('www-authenticate') !== null, status === 401 || code === 'insufficient_scope', what);
  assert.equal(answer.header('allow') !== null, status === 405, what);
  return body;
}
