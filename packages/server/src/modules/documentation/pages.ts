/** The pages about errors, and the page at `/`. */
import { STATUS_CODES } from 'node:http';
import type { Static } from 'typebox';
import { errors, OAuthError, type ErrorCode, type ServiceInfo } from '@keyreeve/contract';
import { DomainError, type DomainErrorOptions } from '../../foundation/errors.ts';
import type { BasePath } from '../../http/base-path.ts';
import { inlineCode, readTemplates } from '../../http/html.ts';
import { toOAuthError } from '../../http/oauth-error.ts';
import { toProblem } from '../../http/problem.ts';
import { ownFile } from '../../foundation/own-files.ts';
import type { Look } from '../look/look.ts';
import { readLookPage } from '../look/page.ts';

const parts = readTemplates(ownFile('modules/documentation/page-parts.html'), ['documentation', 'link']);

export interface ContractPageOptions {
  readonly basePath: BasePath;
  readonly look: Look;
  /** Whether the service has its documentation. */
  readonly hasDocs: boolean;
}

export interface ContractPages {
  readonly problem: (code: ErrorCode) => string;
  /** The page that a browser shows at `/`. */
  readonly root: (info: Static<typeof ServiceInfo>) => string;
  /** Content-Security-Policy of each page. */
  readonly policies: Readonly<Record<'problem' | 'root', string>>;
}

export function contractPages({ basePath, look, hasDocs }: ContractPageOptions): ContractPages {
  const problem = readLookPage('modules/documentation/problem.html', look, basePath);
  const root = readLookPage('modules/documentation/root.html', look, basePath);
  return {
    problem: (code) => problem.template(problemOf(code, hasDocs)).text,
    root: (info) => root.template(rootOf(info)).text,
    policies: { problem: problem.policy, root: root.policy },
  };
}

function problemOf(code: ErrorCode, hasDocs: boolean) {
  const { status, title, meaning, cause, fix } = errors[code];
  const texts = { meaning: inlineCode(meaning), cause: inlineCode(cause), fix: inlineCode(fix) };
  const documentation = hasDocs ? parts.documentation({ code }) : '';
  return { code, status, title, ...texts, example: exampleOf(code), documentation };
}

function rootOf({ name, contractVersion, ...paths }: Static<typeof ServiceInfo>) {
  const labels = {
    docs: 'Documentation, with all operations',
    openapi: 'OpenAPI 3.1 document',
    jwks: 'Public keys of access tokens',
    health: 'Readiness',
  } as const;
  const links = Object.entries(paths).map(([kind, href]) =>
    parts.link({ href, label: labels[kind as keyof typeof labels] }),
  );
  return { name, contractVersion, links };
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
