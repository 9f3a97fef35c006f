/** The OpenAPI document: the committed file is up to date and describes every route. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import {
  allRoutes,
  errors,
  errorsOf,
  isOAuthStatus,
  exampleOf,
  limits,
  openApiDocument,
  webhookEvents,
  webhookMessages,
} from '@keyreeve/contract';
import { namedSchemas } from '../src/json-schema.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly description?: string;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
}
interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Response>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly scheme?: string }>>;
  };
}

const document = JSON.parse(JSON.stringify(openApiDocument(allRoutes))) as Document;
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const operationOf = (id: string): Operation => {
  const operation = operations.find(({ operationId }) => operationId === id);
  assert.ok(operation, id);
  return operation;
};

test('openapi.json is up to date (npm run openapi)', { tags: ['asvs:2.1.1'] }, () => {
  const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  assert.equal(committed, `${JSON.stringify(document, null, 2)}\n`);
});

test('the operations are exactly the routes', () => {
  assert.deepEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
    allRoutes.map(({ id }) => id).toSorted(),
  );
});

/** @returns the target of a reference, or the value itself */
function resolved<T extends object>(value: T | { readonly $ref: string }): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
  const [, , section = '', name = ''] = value.$ref.split('/');
  const found = (document.components as unknown as Record<string, Record<string, T> | undefined>)[section]?.[name];
  assert.ok(found, value.$ref);
  return found;
}

test('every operation lists each code that it can return, under its status or in the default response', () => {
  for (const route of allRoutes) {
    const { responses } = operationOf(route.id);
    const namesOf = (response: Response | undefined): string =>
      response ? (response.description ?? resolved(response).description ?? '') : '';
    for (const code of errorsOf(route)) {
      const own = responses[errors[code].status];
      const names = [own, responses['default']].filter((response) => namesOf(response).includes(`\`${code}\``));
      assert.ok(names.length > 0, `${route.id} ${code}`);
      // A code of the route itself must be under its status.
      if (route.errors.includes(code)) assert.ok(names.includes(own), `${route.id} ${code}`);
      for (const response of names) {
        const isOAuth = isOAuthStatus(route.errorFormat, errors[code].status) && response === own;
        const expected = isOAuth ? 'application/json' : 'application/problem+json';
        assert.deepEqual(Object.keys(resolved(response as Response).content ?? {}), [expected]);
      }
    }
    assert.ok(responses[route.success.status], `${route.id} ${route.success.status}`);
    const failures = Object.keys(responses).filter((status) => Number(status) >= 400);
    const others = Object.keys(responses).filter((status) => !failures.includes(status));
    const unchanged = route.success.isFixed ? ['304'] : [];
    assert.deepEqual(others, [`${route.success.status}`, ...unchanged, 'default'], route.id);
  }
});

test('codes that at least five operations share under a status have a named response', () => {
  const described = operations.flatMap(({ responses }) =>
    Object.entries(responses)
      .filter(([, { $ref, description }]) => $ref !== undefined && description !== undefined)
      .map(([status, { description }]) => `${status} ${description}`),
  );
  const often = [...Map.groupBy(described, (codes) => codes)].filter(([, same]) => same.length >= 5);
  assert.deepEqual(
    often.map(([codes]) => codes),
    [],
    'add them to the groups of problem-responses.ts',
  );
});

test('a route with a body declares it, and the errors of bodies', () => {
  for (const { id, body } of allRoutes) {
    const { requestBody, responses } = operationOf(id);
    assert.equal(requestBody !== undefined, body !== undefined, id);
    for (const status of ['413', '415']) assert.equal(status in responses, body !== undefined, `${id} ${status}`);
  }
});

test('every path parameter is declared and required', () => {
  for (const route of allRoutes) {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const declared = (operationOf(route.id).parameters ?? [])
      .map((parameter) => resolved<Parameter>(parameter))
      .filter((parameter) => parameter.in === 'path');
    assert.deepEqual(
      declared.map(({ name }) => name),
      inPath,
      route.id,
    );
    assert.ok(
      declared.every(({ required }) => required),
      route.id,
    );
  }
});

test('the id of a key is a 64-bit integer in paths and in bodies', () => {
  const { ApiKeyId, ApiKey, CreatedApiKey } = document.components.schemas;
  assert.deepEqual([ApiKeyId?.type, ApiKeyId?.format], ['integer', 'int64']);
  const reference = { $ref: '#/components/schemas/ApiKeyId' };
  assert.deepEqual([ApiKey?.properties?.['id'], CreatedApiKey?.properties?.['id']], [reference, reference]);
  for (const [id, name] of [
    ['deleteKey', 'id'],
    ['adminDeleteKey', 'keyId'],
  ] as const) {
    const parameters = (operationOf(id).parameters ?? []).map((parameter) => resolved<Parameter>(parameter));
    assert.deepEqual(parameters.find((parameter) => parameter.name === name)?.schema, reference, id);
  }
});

test('the limit of a page is an integer in the document, although a query is text', () => {
  const { description, ...schema } = document.components.parameters['PageLimit']?.schema ?? {};
  assert.deepEqual(schema, { type: 'integer', minimum: 1, maximum: limits.adminPageMax });
  assert.match(description ?? '', /entries/);
});

test('every reference and every security scheme exists', () => {
  for (const [, section, name] of JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
    const components = document.components as unknown as Record<string, object>;
    assert.ok(Object.hasOwn(components[section ?? ''] ?? {}, name ?? ''), `${section} ${name}`);
  }
  for (const { operationId, security } of operations) {
    for (const scheme of security.flatMap((alternative) => Object.keys(alternative))) {
      assert.ok(Object.hasOwn(document.components.securitySchemes, scheme), `${operationId} ${scheme}`);
    }
  }
});

test('every component is referenced', () => {
  const text = JSON.stringify(document);
  const { schemas, responses, parameters } = document.components;
  for (const [section, components] of Object.entries({ schemas, responses, parameters })) {
    for (const name of Object.keys(components))
      assert.ok(text.includes(`"#/components/${section}/${name}"`), `${section} ${name}`);
  }
});

test('every body has a named schema, and every named schema has an example or consists of those that have', () => {
  for (const { operationId, requestBody, responses } of operations) {
    const bodies = [requestBody, ...Object.values(responses)].flatMap((body) => {
      const { 'application/json': json, 'application/x-www-form-urlencoded': form } = body?.content ?? {};
      return [json, form].filter((content) => content !== undefined);
    });
    // Only the response that returns the OpenAPI document has no schema.
    if (operationId === 'getOpenApi') continue;
    for (const { schema } of bodies) {
      // A response can be null instead.
      const [named = schema, ...others] = schema.anyOf ?? [];
      assert.deepEqual([Object.keys(named), others], [['$ref'], schema.anyOf ? [{ type: 'null' }] : []], operationId);
    }
  }
  for (const [name, { examples, ...schema }] of Object.entries(document.components.schemas))
    assert.ok(examples?.length === 1 || JSON.stringify(schema).includes('"$ref"'), name);
});

test('the examples are valid against the schemas of the contract', () => {
  for (const [name, { schema }] of namedSchemas) {
    const check = Compile(schema);
    const example = exampleOf(schema);
    assert.ok(check.Check(example), `${name} ${JSON.stringify(check.Errors(example))}`);
  }
});

test('schemas of requests forbid unknown members; schemas of responses allow them', () => {
  const { schemas } = document.components;
  for (const [name, { schema, side }] of namedSchemas) {
    if (schema['type'] !== 'object') continue;
    const expected = side === 'request' ? schema['additionalProperties'] : undefined;
    assert.equal(schemas[name]?.additionalProperties, expected, name);
  }
  assert.equal(schemas['NewApiKey']?.additionalProperties, false);
});

test('every enumeration has a type', () => {
  const assertTyped = (schema: Schema, at: string): void => {
    if (schema.enum) assert.equal(schema.type, typeof schema.enum[0], at);
    assert.equal('const' in schema, false, at);
    for (const [name, property] of Object.entries(schema.properties ?? {})) assertTyped(property, `${at}.${name}`);
    for (const part of [schema.items, ...(schema.anyOf ?? [])]) if (part) assertTyped(part, at);
  };
  for (const [name, schema] of Object.entries(document.components.schemas)) assertTyped(schema, name);
  for (const { operationId, parameters = [] } of operations)
    for (const parameter of parameters) assertTyped(resolved<Parameter>(parameter).schema, operationId);
});

test('every authentication method is a security scheme', () => {
  const { securitySchemes } = document.components;
  assert.deepEqual(
    Object.entries(securitySchemes).map(([name, { type, scheme }]) => [name, type, scheme]),
    [
      ['password', 'http', 'basic'],
      ['oneTimePassword', 'apiKey', undefined],
      ['accessToken', 'http', 'bearer'],
      ['apiKey', 'http', 'bearer'],
      ['apiKeyHeader', 'apiKey', undefined],
      ['portalSecret', 'http', 'bearer'],
      ['consoleSession', 'apiKey', undefined],
      ['apiKeyBasic', 'http', 'basic'],
    ],
  );
  assert.deepEqual(operationOf('issueTokens').security, [{ password: [] }, { password: [], oneTimePassword: [] }]);
  assert.deepEqual(operationOf('introspect').security, [{ apiKey: [] }, { apiKeyHeader: [] }, { apiKeyBasic: [] }]);
});

test('every type of webhook message is documented', () => {
  assert.deepEqual(Object.keys(document.webhooks), Object.keys(webhookMessages));
  assert.deepEqual(Object.keys(document.webhooks).toSorted(), [...webhookEvents, 'webhook.test'].toSorted());
});

test('the document has at most 3,650 bytes per operation, because operations share schemas', () => {
  const bytesPerOperationMax = 3_650;
  const bytes = Buffer.byteLength(JSON.stringify(document, null, 2));
  assert.ok(bytes <= bytesPerOperationMax * operations.length, `${bytes} bytes for ${operations.length} operations`);
});
