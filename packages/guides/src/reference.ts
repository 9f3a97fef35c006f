/**
 * The API reference, from the HTTP contract: a page for each group of operations, with their members, a curl command and an example of
 * their responses, and the pages of webhook messages and errors.
 */
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import {
  allRoutes,
  errors,
  exampleOf,
  refusals,
  requirementsInWords,
  verify,
  webhookMessages,
  webhookMessageTable,
  type ErrorCode,
  type RouteContract,
  type WebhookMessageType,
} from '@keyreeve/contract';
import { inlineCode, type Html } from '../../server/src/http/html.ts';
import { curlOf } from './curl.ts';
import type { Group } from './navigation.ts';
import { parts } from './reference-parts.ts';
import { tableOf } from './reference-tables.ts';
import type { LinkTo, SitePage } from './site-page.ts';

/** The page with the list of all operations. */
export const referenceName = 'api';
/** The public URL in the examples of the contract. A service replaces it in these pages. */
export const examplePublicUrl = 'https://auth.example.com';
const messagesName = `${referenceName}/webhook-messages`;
const errorsName = `${referenceName}/errors`;

const byTag = [...Map.groupBy(allRoutes, (route) => route.tag)];
const anchor = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const nameOf = (tag: string): string => `${referenceName}/${anchor(tag)}`;

/** @param openApiHref where the OpenAPI document is for the page `api` */
export const referencePages = (openApiHref: string): SitePage[] => [
  overviewPage(openApiHref),
  ...byTag.map(([tag, routes]) => tagPage(tag, routes)),
  messagesPage(),
  errorsPage(),
];

export function referenceGroup(): Group {
  const entries = referencePages('').map(({ name, title }) => ({
    name,
    label: title.replace(/^API: /, ''),
    task: '',
    anchor: '',
  }));
  return { title: 'API reference', entries };
}

function overviewPage(openApi: string): SitePage {
  return {
    name: referenceName,
    title: 'API reference',
    sections: [],
    content: (linkTo) =>
      parts.overview({
        openApi,
        errors: linkTo(errorsName),
        publicUrl: examplePublicUrl,
        operations: allRoutes.map(({ tag, id, summary, method, path }) =>
          parts.listed({ href: linkTo(nameOf(tag), anchor(id)), summary, method, path }),
        ),
      }),
    texts: [{ anchor: '', heading: '', text: 'All operations, OpenAPI document' }],
  };
}

const tagPage = (tag: string, routes: readonly RouteContract[]): SitePage => ({
  name: nameOf(tag),
  title: `API: ${tag}`,
  sections: routes.map(({ id, summary }) => ({ anchor: anchor(id), title: summary })),
  content: (linkTo) => parts.tag({ title: `API: ${tag}`, operations: routes.map((route) => operation(route, linkTo)) }),
  texts: routes.map(({ id, summary, method, path, description = '' }) => ({
    anchor: anchor(id),
    heading: summary,
    text: `${method} ${path} ${description}`,
  })),
});

function operation(route: RouteContract, linkTo: LinkTo): Html {
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
    examples: responseExamples(route).map((text) => parts.block({ text })),
    responseTables: [
      ...(success.schema ? tableOf('Response body', success.schema) : []),
      ...(success.headers ? [definitions('Response headers', 'Name', 'Value', success.headers)] : []),
      ...(id === verify.id ? [definitions('Values of code', 'code', 'Reason', refusals)] : []),
    ],
    errors: errorLinks(route, linkTo),
  });
}

/** One for each alternative of the body. */
function responseExamples({ success }: RouteContract): string[] {
  const { status, schema, contentType } = success;
  const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`;
  if (!schema) return [contentType === undefined ? line : `${line}\nContent-Type: ${contentType}`];
  const { anyOf = [schema] } = schema as { anyOf?: readonly TSchema[] };
  return anyOf.map((alternative) => {
    const body = JSON.stringify(exampleOf(alternative), null, 2);
    return `${line}\nContent-Type: application/json; charset=utf-8\n\n${body}`;
  });
}

function definitions(caption: string, name: string, meaning: string, entries: Readonly<Record<string, string>>): Html {
  const rows = Object.entries(entries).map(([term, text]) =>
    parts.definition({ name: term, meaning: inlineCode(text) }),
  );
  return parts.definitions({ caption, name, meaning, rows });
}

function errorLinks(route: RouteContract, linkTo: LinkTo): Html[] {
  if (route.errors.length === 0) return [];
  const links = route.errors.map((code) =>
    parts.errorLink({ href: linkTo(errorsName, code), code, status: errors[code].status }),
  );
  return [parts.errorLinks({ links })];
}

function messagesPage(): SitePage {
  const types = Object.keys(webhookMessages) as WebhookMessageType[];
  const message = (type: WebhookMessageType): Html =>
    parts.message({
      anchor: anchor(type),
      type,
      meaning: inlineCode(webhookMessageTable[type]),
      example: JSON.stringify({ ...(exampleOf(webhookMessages[type]) as object), type }, null, 2),
    });
  return {
    name: messagesName,
    title: 'API: Webhook messages',
    sections: types.map((type) => ({ anchor: anchor(type), title: type })),
    content: () => parts.messages({ messages: types.map(message) }),
    texts: types.map((type) => ({ anchor: anchor(type), heading: type, text: webhookMessageTable[type] })),
  };
}

function errorsPage(): SitePage {
  const codes = Object.keys(errors) as ErrorCode[];
  const error = (code: ErrorCode): Html => {
    const { status, title, meaning, cause, fix } = errors[code];
    const texts = { meaning: inlineCode(meaning), cause: inlineCode(cause), fix: inlineCode(fix) };
    return parts.error({ code, status, title, ...texts });
  };
  return {
    name: errorsName,
    title: 'API: Errors',
    sections: codes.map((code) => ({ anchor: code, title: code })),
    content: () => parts.errors({ errors: codes.map(error) }),
    texts: codes.map((code) => {
      const { title, meaning, cause } = errors[code];
      return { anchor: code, heading: `${code}: ${title}`, text: `${meaning} ${cause}` };
    }),
  };
}
