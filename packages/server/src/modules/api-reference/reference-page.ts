/** The reference page `/docs`: every operation with its members, a curl command and an example of its response. */
import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import {
  errors,
  exampleOf,
  refusals,
  requirementsInWords,
  verify,
  webhookMessages,
  webhookMessageTable,
  type RouteContract,
  type WebhookMessageType,
} from '@keyreeve/contract';
import { curlOf } from './curl.ts';
import { anchor, escape, page, prose } from '../../http/html.ts';
import { tableOf } from './reference-tables.ts';

export const referenceStyle = readFileSync(new URL('reference.css', import.meta.url), 'utf8');

/** @param publicUrl where clients reach this installation */
export function referencePage(routes: readonly RouteContract[], publicUrl: string): string {
  const byTag = [...Map.groupBy(routes, (route) => route.tag)];
  const sections = byTag.map(
    ([tag, ofTag]) =>
      `<section><h2 id="${anchor(tag)}">${escape(tag)}</h2>${ofTag.map((route) => operation(route, publicUrl)).join('')}</section>`,
  );
  const content = [introduction(publicUrl), ...sections, webhookSection(), errorTable()].join('\n');
  return page('Keyreeve API', referenceStyle, `${navigation(byTag)}<main><h1>Keyreeve API</h1>${content}</main>`);
}

function navigation(byTag: readonly (readonly [string, readonly RouteContract[]])[]): string {
  const groups = byTag.map(([tag, routes]) => {
    const links = routes.map(({ id, summary }) => `<li><a href="#${anchor(id)}">${escape(summary)}</a></li>`);
    return `<li><a href="#${anchor(tag)}">${escape(tag)}</a><ul>${links.join('')}</ul></li>`;
  });
  const others = ['Webhook messages', 'Errors'].map((title) => `<li><a href="#${anchor(title)}">${title}</a></li>`);
  return `<nav aria-label="Operations"><ul><li><a href="#start">Start</a></li>${[...groups, ...others].join('')}</ul></nav>`;
}

function introduction(publicUrl: string): string {
  const variables = [
    `BASE_URL=${publicUrl}`,
    "PASSWORD='the password of your account'",
    "ACCESS_TOKEN='the accessToken of POST /auth/token'",
    "API_KEY='the key of POST /auth/api-keys'",
    "SERVICE_KEY='an API key with the scope keyreeve:verify'",
  ];
  return `<section id="start"><p>This page describes the same requests as the <a href="/openapi.json">OpenAPI 3.1 document</a>, from which you can generate a client. Bodies are JSON in UTF-8. An error is a problem document (<code>application/problem+json</code>, RFC 9457) with a stable <code>code</code>.</p>
<p>The examples use these shell variables:</p>${block(variables.join('\n'))}</section>`;
}

function operation(route: RouteContract, publicUrl: string): string {
  const { id, method, path, summary, description, success, body, params, query, headers } = route;
  const text = [...(description === undefined ? [] : [description]), ...requirementsInWords(route)];
  return [
    `<article aria-labelledby="${anchor(id)}"><h3 id="${anchor(id)}">${escape(summary)}</h3>`,
    `<p class="address"><a href="#${anchor(id)}"><code>${method} ${escape(path)}</code></a></p>`,
    ...text.map((paragraph) => `<p>${prose(paragraph)}</p>`),
    ...(params ? [tableOf('Path parameters', params)] : []),
    ...(query ? [tableOf('Query parameters', query)] : []),
    ...(headers ? [tableOf('Headers', headers)] : []),
    ...(body ? [tableOf(body.type === 'json' ? 'Body (JSON)' : 'Body (form)', body.schema)] : []),
    '<h4>Request</h4>',
    block(curlOf(route)),
    '<h4>Response</h4>',
    `<p><code>${success.status}</code> ${prose(success.description)}.</p>`,
    ...responseExamples(route, publicUrl).map(block),
    ...(success.schema ? [tableOf('Response body', success.schema)] : []),
    ...(success.headers ? [headerTable(success.headers)] : []),
    ...(route.id === verify.id ? [refusalTable()] : []),
    errorLinks(route),
    '</article>',
  ].join('\n');
}

/** One for each alternative of the body. */
function responseExamples({ success }: RouteContract, publicUrl: string): string[] {
  const { status, schema, contentType } = success;
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  if (!schema) return [contentType === undefined ? line : `${line}\nContent-Type: ${contentType}`];
  const { anyOf = [schema] } = schema as { anyOf?: readonly TSchema[] };
  return anyOf.map((alternative) => {
    const body = JSON.stringify(exampleOf(alternative), null, 2).replaceAll('https://auth.example.com', publicUrl);
    return `${line}\nContent-Type: application/json; charset=utf-8\n\n${body}`;
  });
}

function headerTable(headers: Readonly<Record<string, string>>): string {
  const rows = Object.entries(headers).map(
    ([name, description]) => `<tr><td><code>${escape(name)}</code></td><td>${prose(description)}</td></tr>`,
  );
  return `<table><caption>Response headers</caption><thead><tr><th>Name</th><th>Value</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** Why a credential is rejected: of every response of verification. */
function refusalTable(): string {
  const rows = Object.entries(refusals).map(
    ([code, why]) => `<tr><td><code>${code}</code></td><td>${prose(why)}</td></tr>`,
  );
  return `<table><caption>Values of code</caption><thead><tr><th>code</th><th>Reason</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

function errorLinks(route: RouteContract): string {
  if (route.errors.length === 0) return '';
  const links = route.errors.map(
    (code) => `<li><a href="/problems/${code}"><code>${errors[code].status} ${code}</code></a></li>`,
  );
  return `<h4>Errors</h4><ul class="codes">${links.join('')}</ul>`;
}

function webhookSection(): string {
  const messages = (Object.keys(webhookMessages) as WebhookMessageType[]).map((type) => {
    const example = { ...(exampleOf(webhookMessages[type]) as object), type };
    return `<article><h3 id="${anchor(type)}"><code>${type}</code></h3><p>${prose(webhookMessageTable[type])}</p>${block(JSON.stringify(example, null, 2))}</article>`;
  });
  return `<section><h2 id="webhook-messages">Webhook messages</h2><p>Keyreeve sends these bodies with <code>POST</code> to your webhook endpoints, signed as Standard Webhooks 1.0.0 defines.</p>${messages.join('')}</section>`;
}

function errorTable(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${escape(title)}</td></tr>`,
  );
  return `<section><h2 id="errors">Errors</h2><table><thead><tr><th>Status</th><th>code</th><th>Title</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}

const block = (text: string): string => `<pre><code>${escape(text)}</code></pre>`;
