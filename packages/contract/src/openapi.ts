/** The OpenAPI 3.1 document, generated from the routes and schemas that the service uses. */
import type { TSchema } from 'typebox';
import { auditFilterFields } from './admin-audit.ts';
import { account } from './admin-parts.ts';
import { keyListFields } from './api-key-list.ts';
import { pageFields } from './paging.ts';
import { requirementsInWords, securityOf, securitySchemes } from './authentication.ts';
import { componentSchemas, schemaOf, type Json } from './json-schema.ts';
import { UsageQuery } from './key-usage.ts';
import { headerObjects, problemComponents, problemResponses, sharedHeaders } from './problem-responses.ts';
import type { RouteContract } from './route.ts';
import { AccountId, KeyId } from './schemas.ts';
import { WebhookId } from './webhooks.ts';
import { webhookMessages, webhookMessageTable, type WebhookMessageType } from './webhook-events.ts';

/** The version of the HTTP contract, which is not the version of the program. */
export const contractVersion = '1.0.0';

/** @param serverUrl what precedes the paths, relative to the origin */
export function openApiDocument(routes: readonly RouteContract[], serverUrl = '/'): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  const responses = {
    ...problemComponents(routes),
    ...sharedSuccesses,
    WebhookReceived: { description: 'Received. The body is ignored' },
  };
  const messages = webhooks();
  // After everything that contains schemas.
  const schemas = componentSchemas();
  return {
    openapi: '3.1.1',
    info: {
      title: 'Keyreeve',
      version: contractVersion,
      description:
        'An account exchanges its email address and password for tokens, and uses them to create, list and delete API keys. Other services verify credentials. Every verification that starts after the response to a deletion rejects the deleted key.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    webhooks: messages,
    components: {
      schemas,
      responses,
      headers: sharedHeaders,
      parameters: sharedParameters,
      securitySchemes,
    },
  };
}

function operation(route: RouteContract): Json {
  const description = [...(route.description ? [route.description] : []), ...requirementsInWords(route)].join(' ');
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(description === '' ? {} : { description }),
    security: securityOf(route),
    ...parameters(route),
    ...requestBody(route),
    responses: {
      [route.success.status]: sharedOr(sharedSuccesses, 'responses', success(route)),
      ...(route.success.isFixed
        ? { 304: { description: 'The client has the content: `If-None-Match` has its `ETag`' } }
        : {}),
      ...problemResponses(route),
    },
  };
}

function requestBody({ body }: RouteContract): Json {
  if (!body) return {};
  const mediaType = body.type === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  return {
    requestBody: {
      required: body.isOptional !== true,
      content: { [mediaType]: { schema: schemaOf(body.schema, 'request') } },
    },
  };
}

function success({ success: of }: Pick<RouteContract, 'success'>): Json {
  const { description, schema, contentType, otherContentTypes = [], headers } = of;
  const text = { schema: { type: 'string' } };
  return {
    description,
    ...(headers ? { headers: headerObjects(headers) } : {}),
    ...(schema
      ? { content: { 'application/json': { schema: schemaOf(schema, 'response') } } }
      : contentType
        ? { content: Object.fromEntries([contentType, ...otherContentTypes].map((type) => [type, text])) }
        : {}),
  };
}

/** `components.responses` beside the errors: successes of several operations. */
const sharedSuccesses: Readonly<Record<string, Json>> = { Account: success({ success: account }) };

/** `components.parameters`: parameters of several operations. */
const sharedParameters: Readonly<Record<string, Json>> = {
  AccountId: parameter('path', 'id', AccountId, true),
  ServiceAccountId: parameter('path', 'accountId', AccountId, true),
  KeyId: parameter('path', 'id', KeyId, true),
  WebhookEndpointId: parameter('path', 'id', WebhookId, true),
  PageLimit: parameter('query', 'limit', pageFields.limit, false),
  PageCursor: parameter('query', 'cursor', pageFields.cursor, false),
  KeySearch: parameter('query', 'search', keyListFields.search, false),
  KeyState: parameter('query', 'state', keyListFields.state, false),
  KeySort: parameter('query', 'sort', keyListFields.sort, false),
  KeyListUsage: parameter('query', 'usage', keyListFields.usage, false),
  ...Object.fromEntries(
    Object.entries(auditFilterFields).map(([name, schema]) => [
      `Audit${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      parameter('query', name, schema, false),
    ]),
  ),
  UsageStep: parameter('query', 'step', UsageQuery.properties.step, false),
  UsageFrom: parameter('query', 'from', UsageQuery.properties.from, false),
  UsageTo: parameter('query', 'to', UsageQuery.properties.to, false),
  WebhookId: webhookHeader('webhook-id', 'The same in every attempt', 'msg_3K9vQm1ZyT4cW8nB6pXr2L'),
  WebhookTimestamp: webhookHeader('webhook-timestamp', 'Seconds since 1970 of this attempt', '1795253400'),
  WebhookSignature: webhookHeader(
    'webhook-signature',
    'Standard Webhooks 1.0.0: signatures of id, timestamp and body, separated by spaces',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
};

function parameters(route: RouteContract): Json {
  const of = (place: 'path' | 'query' | 'header', schema: TSchema | undefined): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Readonly<Record<string, TSchema>>;
      required?: readonly string[];
    };
    return Object.entries(properties).map(([name, property]) =>
      sharedOr(sharedParameters, 'parameters', parameter(place, name, property, required.includes(name))),
    );
  };
  const all = [...of('path', route.params), ...of('query', route.query), ...of('header', route.headers)];
  return all.length > 0 ? { parameters: all } : {};
}

/** @returns a reference to the equal component, if there is one; otherwise the object itself */
function sharedOr(components: Readonly<Record<string, Json>>, kind: 'parameters' | 'responses', one: Json): Json {
  const found = Object.entries(components).find(([, other]) => JSON.stringify(other) === JSON.stringify(one));
  return found ? { $ref: `#/components/${kind}/${found[0]}` } : one;
}

function parameter(place: string, name: string, schema: TSchema, required: boolean): Json {
  return { name, in: place, required, schema: schemaOf(schema, 'request') };
}

function webhookHeader(name: string, description: string, example: string): Json {
  return { name, in: 'header', required: true, description, schema: { type: 'string' }, example };
}

/** Webhook messages. A receiver responds with any 2xx status within five seconds. */
function webhooks(): Json {
  const names = ['WebhookId', 'WebhookTimestamp', 'WebhookSignature'];
  const headers = names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
  return Object.fromEntries(
    (Object.keys(webhookMessages) as WebhookMessageType[]).map((type) => {
      const operationId = `on${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
      const post = {
        operationId,
        summary: webhookMessageTable[type],
        parameters: headers,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: schemaOf(webhookMessages[type], 'response') } },
        },
        responses: { '2XX': { $ref: '#/components/responses/WebhookReceived' } },
      };
      return [type, { post }];
    }),
  );
}
