/** The pages about errors, and the page at `/`. */
import { STATUS_CODES } from 'node:http';
import type { Static } from 'typebox';
import { errors, OAuthError, type ErrorCode, type ServiceInfo } from '@keyreeve/contract';
import { DomainError, type DomainErrorOptions } from '../../foundation/errors.ts';
import type { BasePath } from '../../http/base-path.ts';
import { inlineCode } from '../../http/html.ts';
import { toOAuthError } from '../../http/oauth-error.ts';
import { toProblem } from '../../http/problem.ts';
import type { Look } from '../look/look.ts';
import { readLookPage } from '../look/page.ts';

export interface ContractPages {
  readonly problem: (code: ErrorCode) => string;
  /** The page that a browser shows at `/`. */
  readonly root: (info: Static<typeof ServiceInfo>) => string;
  /** Content-Security-Policy of each page. */
  readonly policies: Readonly<Record<'problem' | 'root', string>>;
}

export function contractPages(look: Look, basePath: BasePath): ContractPages {
  const problem = readLookPage('modules/api-reference/problem.html', look, basePath);
  const root = readLookPage('modules/api-reference/root.html', look, basePath);
  return {
    problem: (code) => problem.template(problemOf(code)).text,
    root: (info) => root.template(info).text,
    policies: { problem: problem.policy, root: root.policy },
  };
}

function problemOf(code: ErrorCode) {
  const { status, title, meaning, cause, fix } = errors[code];
  const texts = { meaning: inlineCode(meaning), cause: inlineCode(cause), fix: inlineCode(fix) };
  return { code, status, title, ...texts, example: exampleOf(code) };
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
  invalid_request: { errors: [{ pointer: '/nickname', detail: 'This field is required.', code: 'required' }] },
  insufficient_scope: { scopes: ['orders:read'], missing: ['orders:read'] },
  method_not_allowed: { allowed: ['GET', 'HEAD', 'POST'] },
  too_many_attempts: { ...retry, rate: { policy: 'sign-ins', quota: 5, windowSeconds: 900 } },
  too_many_requests: { ...retry, rate: { policy: 'mail', quota: 3, windowSeconds: 3_600 } },
  too_many_creations: { ...retry, rate: { policy: 'creations', quota: 60, windowSeconds: 60 } },
  too_many_in_progress: { retryAfterSeconds: 1 },
  overloaded: { retryAfterSeconds: 1 },
  unavailable: { retryAfterSeconds: 1 },
};
