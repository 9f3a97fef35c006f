/** The routes as data: unambiguous, complete, and the fixed ones exactly as they were specified. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as contract from '@keyreeve/contract';

const { allRoutes, errors } = contract;

/** Property names of a schema of objects, which allows no others. */
function fieldsOf(schema: unknown): string[] {
  const { properties, additionalProperties } = schema as { properties: object; additionalProperties: unknown };
  assert.equal(additionalProperties, false);
  return Object.keys(properties);
}

/** Those of the things in an array. */
const itemsOf = (schema: unknown): unknown => (schema as { items: unknown }).items;

test('no two routes share an id or an address', () => {
  assert.equal(new Set(allRoutes.map(({ id }) => id)).size, allRoutes.length);
  assert.equal(new Set(allRoutes.map(({ method, path }) => `${method} ${path}`)).size, allRoutes.length);
});

test('every route that is exported is one of the service’s', () => {
  const exported = Object.values<unknown>(contract).filter(
    (value): value is contract.RouteContract =>
      typeof value === 'object' && value !== null && 'method' in value && 'path' in value,
  );
  assert.deepEqual(new Set(exported), new Set(allRoutes));
});

test('every code of a route is in the registry, once, and is a failure', () => {
  for (const { id, errors: codes } of allRoutes) {
    assert.equal(new Set(codes).size, codes.length, id);
    for (const code of codes) assert.ok(errors[code].status >= 400, `${id} ${code}`);
  }
});

test('a route that asks for a credential can say that it isn’t good', { tags: ['asvs:8.1.1'] }, () => {
  // Signing out answers the same for any token, and a one-time code isn’t who somebody is.
  for (const { id, auth, errors: codes } of allRoutes.filter(
    (route) => route.auth !== 'none' && route.id !== 'revokeTokens',
  )) {
    assert.ok(
      codes.some((code) => errors[code].status === 401 || (auth === 'one_time_code' && code === 'code_invalid')),
      `${id} ${auth}`,
    );
  }
});

test(
  'an unknown field in a JSON body is never overlooked',
  { tags: ['asvs:2.2.1', 'asvs:8.1.2', 'asvs:15.3.3'] },
  () => {
    for (const { id, body } of allRoutes) if (body?.type === 'json') assert.ok(fieldsOf(body.schema).length > 0, id);
  },
);

test('only requests that may change something have a body', { tags: ['asvs:3.5.3'] }, () => {
  for (const { id, method, body } of allRoutes) if (body) assert.notEqual(method, 'GET', id);
});

test('success is 200, but for a creation and an answer without a body', { tags: ['asvs:3.7.2'] }, () => {
  const others = allRoutes
    .filter(({ success }) => success.status !== 200)
    .map(({ id, success }) => [id, success.status]);
  assert.deepEqual(others, [
    ['revokeTokens', 204],
    ['createKey', 201],
    ['endSession', 204],
    ['beginSecondFactor', 201],
    ['removeSecondFactor', 204],
    ['signUp', 202],
    ['resendVerification', 202],
    ['requestPasswordReset', 202],
    ['changeLanguage', 204],
    ['changeEmail', 202],
    ['deleteAccount', 204],
    ['adminInviteAccount', 201],
    ['adminSetEmail', 202],
    ['createFirstAdministrator', 201],
    ['createWebhook', 201],
    ['deleteWebhook', 204],
    ['disableWebhook', 204],
    ['enableWebhook', 204],
  ]);
});

test(
  'the four fixed requests are where the customer put them, with exactly the fields that were specified',
  { tags: ['asvs:8.2.3', 'asvs:15.3.1'] },
  () => {
    const { issueTokens, createKey, listKeys, deleteKey } = contract;
    assert.deepEqual(
      [issueTokens, createKey, listKeys, deleteKey].map(({ method, path, auth }) => `${method} ${path} ${auth}`),
      [
        'POST /auth/token password',
        'POST /auth/api-keys access_token',
        'GET /auth/api-keys access_token',
        'DELETE /auth/api-keys/:id access_token',
      ],
    );
    assert.deepEqual(fieldsOf(issueTokens.success.schema), ['accessToken', 'refreshToken']);
    assert.deepEqual(fieldsOf(createKey.success.schema), ['id', 'nickname', 'key', 'createdAt', 'updatedAt']);
    assert.deepEqual(fieldsOf(deleteKey.success.schema), ['message']);
    // Only a request with `limit` or `cursor` adds the second.
    assert.deepEqual(fieldsOf(listKeys.success.schema), ['apiKeys', 'nextCursor']);
    assert.deepEqual((listKeys.success.schema as { required?: string[] }).required, ['apiKeys']);
    const [full, listed] = listKeys.success.schema.properties.apiKeys.anyOf.map((list) => fieldsOf(itemsOf(list)));
    assert.deepEqual(listed, ['id', 'nickname', 'createdAt', 'updatedAt']);
    assert.ok(full && !full.includes('key'));
  },
);

test('a nickname is all that a new key needs', () => {
  assert.deepEqual((contract.NewKeyBody as { required?: string[] }).required, ['nickname']);
});
