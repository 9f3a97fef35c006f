/** The reference page `/docs`: every operation with its members, a curl command and an example of its response. */
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
import { inlineCode, readPage, type Html } from '../../http/html.ts';
import { parts } from './reference-parts.ts';
import { tableOf } from './reference-tables.ts';
import { ownFile } from '../../foundation/own-files.ts';

const page = readPage(ownFile('modules/api-reference/reference.html'));

/** Content-Security-Policy of the page. */
export const referencePolicy = page.policy;

/** @param publicUrl where clients reach this installation */
export function referencePage(routes: readonly RouteContract[], publicUrl: string): string {
  const byTag = [...Map.groupBy(routes, (route) => route.tag)];
  return page.template({
    publicUrl,
    groups: byTag.map(([tag, ofTag]) => navigationGroup(tag, ofTag)),
    sections: byTag.map(([tag, ofTag]) =>
      parts.section({ ...heading(tag), operations: ofTag.map((route) => operation(route, publicUrl)) }),
    ),
    messages: (Object.keys(webhookMessages) as WebhookMessageType[]).map(webhookMessage),
    errors: Object.entries(errors).map(([code, { status, title }]) => parts.error({ code, status, title })),
  }).text;
}

const anchor = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const heading = (title: string): { anchor: string; title: string } => ({ anchor: anchor(title), title });

const navigationGroup = (tag: string, routes: readonly RouteContract[]): Html =>
  parts.navigationGroup({
    ...heading(tag),
    links: routes.map(({ id, summary }) => parts.navigationLink({ anchor: anchor(id), title: summary })),
  });

function operation(route: RouteContract, publicUrl: string): Html {
  const { id, method, path, summary, description, success, body, params, query, headers } = route;
  const texts = [...(description === undefined ? [] : [description]), ...requirementsInWords(route)];
  return parts.operation({
    anchor: anchor(id),
    summary,
    method,
    path,
    paragraphs: texts.map((text) => parts.paragraph({ text: inlineCode(text) })),
    requestTables: [
      ...(params ? tableOf('Path parameters', params) : []),
      ...(query ? tableOf('Query parameters', query) : []),
      ...(headers ? tableOf('Headers', headers) : []),
      ...(body ? tableOf(body.type === 'form' ? 'Body (form)' : 'Body (JSON)', body.schema) : []),
    ],
    curl: curlOf(route),
    status: success.status,
    description: inlineCode(success.description),
    examples: responseExamples(route, publicUrl).map((text) => parts.block({ text })),
    responseTables: [
      ...(success.schema ? tableOf('Response body', success.schema) : []),
      ...(success.headers ? [definitions('Response headers', 'Name', 'Value', success.headers)] : []),
      ...(id === verify.id ? [definitions('Values of code', 'code', 'Reason', refusals)] : []),
    ],
    errors: errorLinks(route),
  });
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

function definitions(caption: string, name: string, meaning: string, entries: Readonly<Record<string, string>>): Html {
  const rows = Object.entries(entries).map(([term, text]) =>
    parts.definition({ name: term, meaning: inlineCode(text) }),
  );
  return parts.definitions({ caption, name, meaning, rows });
}

function errorLinks(route: RouteContract): Html[] {
  if (route.errors.length === 0) return [];
  return [
    parts.errorLinks({ links: route.errors.map((code) => parts.errorLink({ code, status: errors[code].status })) }),
  ];
}

const webhookMessage = (type: WebhookMessageType): Html =>
  parts.message({
    anchor: anchor(type),
    type,
    meaning: inlineCode(webhookMessageTable[type]),
    example: JSON.stringify({ ...(exampleOf(webhookMessages[type]) as object), type }, null, 2),
  });
