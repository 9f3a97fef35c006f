/** The pages about errors, and the style that they share with the pages that links in mail open. */
import { STATUS_CODES } from 'node:http';
import type { Static } from 'typebox';
import { errorHelp, errors, type ErrorCode, type ServiceInfo } from '@keyreeve/contract';
import { DomainError, type DomainErrorOptions } from '../../foundation/errors.ts';
import { escape, page, prose } from '../../http/html.ts';
import { toProblem } from '../../http/problem.ts';

export const style = `
:root { color-scheme: light dark; --line: #8885; --soft: #8882; }
body { font: 16px/1.55 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 .3rem; font-size: 1.05rem; }
code, pre { font: .88em/1.5 ui-monospace, monospace; background: var(--soft); border-radius: 4px; }
code { padding: .1em .3em; } pre { padding: .8rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); }
nav a { margin-right: 1rem; white-space: nowrap; }
`;

export function problemPage(code: ErrorCode): string {
  const { status, title, meaning } = errors[code];
  const { cause, fix } = errorHelp[code];
  return page(
    `${title} (${code})`,
    style,
    `<h1>${escape(title)} (${code})</h1><p><code>${status}</code> <code>${escape(code)}</code></p><p>${prose(meaning)}</p>
<h2>Cause</h2><p>${prose(cause)}</p><h2>Fix</h2><p>${prose(fix)}</p>
<h2>Example</h2><pre>${escape(exampleOf(code))}</pre><p><a href="/docs">All requests and errors</a></p>`,
  );
}

/** What a browser shows at `/`. */
export function rootPage(info: Static<typeof ServiceInfo>): string {
  const { name, contractVersion, docs, openapi, jwks, health } = info;
  const links = [
    [docs, 'All requests, with examples'],
    [openapi, 'OpenAPI 3.1 document'],
    [jwks, 'Public keys of access tokens'],
    [health, 'Readiness'],
  ] as const;
  const items = links.map(([path, says]) => `<li><a href="${escape(path)}">${escape(says)}</a></li>`);
  return page(
    name,
    style,
    `<h1>${escape(name)}</h1><p>Account authentication and API keys. HTTP contract version ${escape(contractVersion)}.</p><ul>${items.join('')}</ul>`,
  );
}

/** A response with this error, as it is on the wire, but for the security headers. */
function exampleOf(code: ErrorCode): string {
  const { status, headers, body } = toProblem(new DomainError(code, occurrences[code]), 'x5Sg0rTqW1mZ-b7K');
  const lines = headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1]}`] : []));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    ...lines,
    '',
    JSON.stringify(body, null, 2),
  ].join('\n');
}

const retry = { retryAfterSeconds: 30 } as const;
/** What an occurrence adds to some of the codes. */
const occurrences: Partial<Record<ErrorCode, DomainErrorOptions>> = {
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
