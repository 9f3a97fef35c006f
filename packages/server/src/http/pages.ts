/** The two pages that the service shows to people. Everything that goes into them is escaped here. */
import { errors, refusals, verify, type ErrorCode, type RouteContract } from '@keyreeve/contract';

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
  return page(
    `${title} (${code})`,
    `<p><code>${status}</code> <code>${escape(code)}</code></p><p>${prose(meaning)}</p><p><a href="/docs">All requests and errors</a></p>`,
  );
}

export function docsPage(routes: readonly RouteContract[]): string {
  const byTag = Map.groupBy(routes, (route) => route.tag);
  const links = [...byTag.keys(), 'Errors'].map((tag) => `<a href="#${anchor(tag)}">${escape(tag)}</a>`);
  const sections = [...byTag].map(
    ([tag, ofTag]) => `<h2 id="${anchor(tag)}">${escape(tag)}</h2>${ofTag.map(routeSection).join('')}`,
  );
  return page(
    'Keyreeve: the HTTP contract',
    `<p>The same as an <a href="/openapi.json">OpenAPI 3.1 document</a>. Bodies are JSON in UTF-8. Errors are <code>application/problem+json</code> (RFC 9457) with a stable <code>code</code>.</p>
<nav>${links.join('')}</nav>${sections.join('')}${errorTable()}`,
  );
}

function routeSection(route: RouteContract): string {
  const { method, path, summary, description = '', success, body, query } = route;
  const parts = [`<h3 id="${anchor(route.id)}"><code>${method} ${escape(path)}</code> ${escape(summary)}</h3>`];
  if (description !== '') parts.push(`<p>${prose(description)}</p>`);
  const recent = route.needsRecentSignIn ? ', and a recent sign-in' : '';
  parts.push(`<p>Needs: ${needs[route.auth]}${recent}.</p>`);
  if (query) parts.push(schemaBlock('Query', query));
  if (body) parts.push(schemaBlock(body.type === 'json' ? 'Body' : 'Body (form)', body.schema));
  parts.push(`<p><code>${success.status}</code> ${prose(success.description)}</p>`);
  if (success.headers) {
    const rows = Object.entries(success.headers).map(
      ([name, says]) => `<tr><td><code>${escape(name)}</code></td><td>${prose(says)}</td></tr>`,
    );
    parts.push(`<table>${rows.join('')}</table>`);
  }
  if (success.schema) parts.push(schemaBlock('Answer', success.schema));
  if (route.id === verify.id) parts.push(refusalTable());
  if (route.errors.length > 0) {
    const codes = route.errors.map(
      (code) => `<a href="/problems/${code}"><code>${errors[code].status} ${code}</code></a>`,
    );
    parts.push(`<p>${codes.join(' ')}</p>`);
  }
  return parts.join('\n');
}

const needs: Record<RouteContract['auth'], string> = {
  none: 'nothing',
  password: '<code>Authorization: Basic base64("email:password")</code>',
  access_token: '<code>Authorization: Bearer accessToken</code>',
  administrator: '<code>Authorization: Bearer accessToken</code> of an administrator',
  one_time_code: 'a one-time code in the body',
  refresh_token: 'a refresh token in the body',
  service_key: 'an API key with the scope <code>keyreeve:verify</code>, as Bearer or <code>X-API-Key</code>',
  any_credential: 'the credential in question, as Bearer or <code>X-API-Key</code>',
};

/** Why a credential isn't good: of every answer of verification. */
function refusalTable(): string {
  const rows = Object.entries(refusals).map(
    ([code, why]) => `<tr><td><code>${code}</code></td><td>${prose(why)}</td></tr>`,
  );
  return `<table>${rows.join('')}</table>`;
}

function errorTable(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escape(title)}</td></tr>`,
  );
  return `<h2 id="errors">Errors</h2><table>${rows.join('')}</table>`;
}

const schemaBlock = (name: string, schema: unknown): string =>
  `<details><summary>${name}</summary><pre>${escape(JSON.stringify(schema, null, 2))}</pre></details>`;

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(title)}</title><style>${style}</style></head><body><h1>${escape(title)}</h1>${content}</body></html>`;
}

const anchor = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** Text in which `code` is marked by backticks. */
const prose = (text: string): string => escape(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
