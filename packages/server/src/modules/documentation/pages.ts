/** The pages about errors, and the page at `/`. */
import { STATUS_CODES } from 'node:http';
import type { Static } from 'typebox';
import { errors, OAuthError, type ErrorCode, type ServiceInfo } from '@keyreeve/contract';
import { DomainError, type DomainErrorOptions } from '../../foundation/errors.ts';
import { inlineCode, readPage, readTemplates } from '../../http/html.ts';
import { toOAuthError } from '../../http/oauth-error.ts';
import { toProblem } from '../../http/problem.ts';
import { ownFile } from '../../foundation/own-files.ts';

const problem = readPage(ownFile('modules/documentation/problem.html'));
const root = readPage(ownFile('modules/documentation/root.html'));
const parts = readTemplates(ownFile('modules/documentation/page-parts.html'), ['documentation', 'link']);

/** Content-Security-Policy of each page. */
export const problemPolicy = problem.policy;
export const rootPolicy = root.policy;

/** @param hasDocs whether the service has its documentation */
export function problemPage(code: ErrorCode, hasDocs: boolean): string {
  const { status, title, meaning, cause, fix } = errors[code];
  const texts = { meaning: inlineCode(meaning), cause: inlineCode(cause), fix: inlineCode(fix) };
  const documentation = hasDocs ? parts.documentation({ code }) : '';
  return problem.template({ code, status, title, ...texts, example: exampleOf(code), documentation }).text;
}

/** The page that a browser shows at `/`. */
export function rootPage({ name, contractVersion, ...paths }: Static<typeof ServiceInfo>): string {
  const labels = {
    docs: 'Documentation, with all operations',
    openapi: 'OpenAPI 3.1 document',
    jwks: 'Public keys of access tokens',
    health: 'Readiness',
  } as const;
  const links = Object.entries(paths).map(([kind, href]) =>
    parts.link({ href, label: labels[kind as keyof typeof labels] }),
  );
  return root.template({ name, contractVersion, links }).text;
}

/** A response with this error, without the security headers. */
function exampleOf(code: ErrorCode): string {
  const document = toProblem(new DomainError(code, additions[code]), 'x5Sg0rTqW1mZ-b7K');
  const isOAuth = oauthOnly.includes(code);
  const { status, headers = [], body } = isOAuth ? toOAuthError(document) : document;
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: application/${isOAuth ? '' : 'problem+'}json; charset=utf-8`,
    ...lines,
    '',
    JSON.stringify(body, null, 2),
  ].join('\n');
}

/** Only the token endpoint responds with them (RFC 6749 section 5.2). */
const oauthOnly: readonly string[] = OAuthError.properties.error.enum.filter((code) => code !== 'invalid_request');

const retry = { retryAfterSeconds: 30 } as const;
/** Members and headers that responses with some codes have in addition. */
const additions: Partial<Record<ErrorCode, DomainErrorOptions>> = {
  invalid_request: { errors: [{ pointer: '/nickname', detail: 'This field is missing.' }] },
  insufficient_scope: { scopes: ['orders:read'], missing: ['orders:read'] },
  method_not_allowed: { allowed: ['GET', 'HEAD', 'POST'] },
  too_many_attempts: { ...retry, rate: { policy: 'sign-ins', quota: 5, windowSeconds: 900 } },
  too_many_requests: { ...retry, rate: { policy: 'mail', quota: 3, windowSeconds: 3_600 } },
  too_many_creations: { ...retry, rate: { policy: 'creations', quota: 60, windowSeconds: 60 } },
  too_many_in_progress: { retryAfterSeconds: 1 },
  overloaded: { retryAfterSeconds: 1 },
  unavailable: { retryAfterSeconds: 1 },
};
