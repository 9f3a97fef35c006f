/** The OpenAPI document: committed as the contract says it, and about every route. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allRoutes, errors, errorsOf, openApiDocument } from '@keyreeve/contract';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly security: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: object; readonly securitySchemes: object };
}

const document = JSON.parse(JSON.stringify(openApiDocument(allRoutes))) as Document;
const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
const operationOf = (id: string): Operation => {
  const operation = operations.find(({ operationId }) => operationId === id);
  assert.ok(operation, id);
  return operation;
};

test('openapi.json is what the contract says (npm run openapi)', () => {
  const committed = readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8');
  assert.equal(committed, `${JSON.stringify(document, null, 2)}\n`);
});

test('every route is one operation, and nothing else is', () => {
  assert.deepEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
    allRoutes.map(({ id }) => id).toSorted(),
  );
});

test('every operation names each code that it can answer, under that code’s status', () => {
  for (const route of allRoutes) {
    const { responses } = operationOf(route.id);
    for (const code of errorsOf(route)) {
      const response = responses[errors[code].status];
      assert.ok(response, `${route.id} ${code}`);
      assert.ok(response.description.includes(`\`${code}\``), `${route.id} ${code}`);
      assert.deepEqual(Object.keys(response.content ?? {}), ['application/problem+json']);
    }
    assert.ok(responses[route.success.status], `${route.id} ${route.success.status}`);
    const failures = Object.keys(responses).filter((status) => Number(status) >= 400);
    assert.equal(Object.keys(responses).length, failures.length + 1, 'one success');
  }
});

test('a route that takes a body says so, with the failures of bodies', () => {
  for (const { id, body } of allRoutes) {
    const { requestBody, responses } = operationOf(id);
    assert.equal(requestBody !== undefined, body !== undefined, id);
    for (const status of ['413', '415']) assert.equal(status in responses, body !== undefined, `${id} ${status}`);
  }
});

test('every parameter of a path is declared, and required', () => {
  for (const route of allRoutes) {
    const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name);
    const declared = (operationOf(route.id).parameters ?? []).filter((parameter) => parameter.in === 'path');
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

test('every reference and every security scheme exists', () => {
  for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    assert.ok(Object.hasOwn(document.components.schemas, name ?? ''), String(name));
  }
  for (const { operationId, security } of operations) {
    for (const scheme of security.flatMap((alternative) => Object.keys(alternative))) {
      assert.ok(Object.hasOwn(document.components.securitySchemes, scheme), `${operationId} ${scheme}`);
    }
  }
});
