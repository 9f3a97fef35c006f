/** The OpenAPI 3.1 document, made from the same routes and schemas that the service is built from. */
import { administratorErrors } from './error-groups.ts';
import { errors, type ErrorCode } from './errors.ts';
import type { RouteAuth, RouteContract } from './route.ts';
import { Problem } from './schemas.ts';

/** The contract's own version; it changes with what is answered, not with the program. */
export const contractVersion = '1.0.0';

type Json = Record<string, unknown>;

/** Codes that any request can meet, whatever its route. */
const commonErrors: readonly ErrorCode[] = [
  'malformed_request',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'unavailable',
];
/** The same, but for `/auth/forward`: there the address and how the client came are the proxy's business. */
const addressErrors: readonly ErrorCode[] = ['https_required', 'url_too_long'];
const bodyErrors = {
  json: ['invalid_request', 'malformed_json', 'body_too_large', 'unsupported_media_type'],
  form: ['invalid_request', 'body_too_large', 'unsupported_media_type'],
} as const satisfies Record<string, readonly ErrorCode[]>;

/** Where an account calls, by its access token. */
const accountAuths: readonly RouteAuth[] = ['access_token', 'administrator'];

const security: Record<RouteAuth, Json[]> = {
  none: [],
  password: [{ password: [] }],
  access_token: [{ accessToken: [] }],
  administrator: [{ accessToken: [] }],
  one_time_code: [],
  refresh_token: [],
  service_key: [{ apiKey: [] }, { apiKeyHeader: [] }],
  any_credential: [{ accessToken: [] }, { apiKey: [] }, { apiKeyHeader: [] }],
};

/** Every code that a request to this route can be answered with. */
export const errorsOf = ({
  auth,
  needsRecentSignIn = false,
  isOpenBeforeEnrolment = false,
  params,
  body,
  errors: own,
}: RouteContract): readonly ErrorCode[] => [
  ...new Set([
    ...(auth === 'administrator' ? administratorErrors : []),
    ...(needsRecentSignIn ? (['reauth_required'] as const) : []),
    ...(accountAuths.includes(auth) && !isOpenBeforeEnrolment ? (['second_factor_enrolment_required'] as const) : []),
    ...own,
    // What is no percent-encoding names nothing.
    ...(params ? (['not_found'] as const) : []),
    ...(body ? bodyErrors[body.type] : []),
    ...(auth === 'any_credential' ? [] : addressErrors),
    ...commonErrors,
  ]),
];

export function openApiDocument(routes: readonly RouteContract[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Keyreeve',
      version: contractVersion,
      description:
        'Accounts exchange email and password for tokens, and with them create, list and delete API keys. Other services ask whether a key is good. A deleted key is refused by every verification that starts after the deletion was answered.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Problem: plain(Problem) },
      securitySchemes: {
        password: { type: 'http', scheme: 'basic', description: 'Email and password' },
        accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        apiKey: { type: 'http', scheme: 'bearer', description: 'An API key as Bearer' },
        apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  };
}

function operation(route: RouteContract): Json {
  const { success } = route;
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    security: security[route.auth],
    ...parameters(route),
    ...(route.body
      ? {
          requestBody: {
            required: true,
            content: {
              [route.body.type === 'json' ? 'application/json' : 'application/x-www-form-urlencoded']: {
                schema: plain(route.body.schema),
              },
            },
          },
        }
      : {}),
    responses: {
      [success.status]: {
        description: success.description,
        ...(success.headers
          ? {
              headers: Object.fromEntries(
                Object.entries(success.headers).map(([name, description]) => [
                  name,
                  { description, schema: { type: 'string' } },
                ]),
              ),
            }
          : {}),
        ...(success.schema
          ? { content: { 'application/json': { schema: plain(success.schema) } } }
          : success.contentType
            ? { content: { [success.contentType]: { schema: { type: 'string' } } } }
            : {}),
      },
      ...problemResponses(errorsOf(route)),
    },
  };
}

function parameters(route: RouteContract): Json {
  const of = (place: 'path' | 'query' | 'header', schema: unknown): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, Json>;
      required?: string[];
    };
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: place,
      required: required.includes(name),
      schema: plain(property),
    }));
  };
  const all = [...of('path', route.params), ...of('query', route.query), ...of('header', route.headers)];
  return all.length > 0 ? { parameters: all } : {};
}

/** One response per status, naming each code it can carry. */
function problemResponses(codes: readonly ErrorCode[]): Json {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sameStatus]) => [
      String(status),
      {
        description: sameStatus.map((code) => `\`${code}\`: ${errors[code].title}`).join('; '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

/** TypeBox schemas are JSON Schema 2020-12, which is what OpenAPI 3.1 speaks; only what JSON can't hold is dropped. */
const plain = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema));
