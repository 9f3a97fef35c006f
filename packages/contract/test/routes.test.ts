/** The routes of the contract are unambiguous and complete, and the four fixed ones are as specified. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as contract from '@keyreeve/contract';

const { allRoutes, errors } = contract;

/** @returns the property names of an object schema, which must allow no others */
function fieldsOf(schema: unknown): string[] {
  const { properties, additionalProperties } = schema as { properties: object; additionalProperties: unknown };
  assert.equal(additionalProperties, false);
  return Object.keys(properties);
}

const itemsOf = (schema: unknown): unknown => (schema as { items: unknown }).items;

test('ids and paths of routes are unique', () => {
  assert.equal(new Set(allRoutes.map(({ id }) => id)).size, allRoutes.length);
  assert.equal(new Set(allRoutes.map(({ method, path }) => `${method} ${path}`)).size, allRoutes.length);
});

test('every exported route is in the list of all routes', () => {
  const exported = Object.values<unknown>(contract).filter(
    (value): value is contract.RouteContract =>
      typeof value === 'object' && value !== null && 'method' in value && 'path' in value,
  );
  assert.deepEqual(new Set(exported), new Set(allRoutes));
});

test('every code of a route is in the registry, is listed once and is an error', () => {
  for (const { id, errors: codes } of allRoutes) {
    assert.equal(new Set(codes).size, codes.length, id);
    for (const code of codes) assert.ok(errors[code].status >= 400, `${id} ${code}`);
  }
});

test('a route that requires a credential has an error for an invalid one', { tags: ['asvs:8.1.1'] }, () => {
  // A sign-out returns the same response for any token. An invalid one-time code gets 400, not 401.
  for (const { id, auth, errors: codes } of allRoutes.filter(
    (route) => route.auth !== 'none' && route.id !== 'revokeTokens',
  )) {
    assert.ok(
      codes.some((code) => errors[code].status === 401 || (auth === 'one_time_code' && code === 'code_invalid')),
      `${id} ${auth}`,
    );
  }
});

test('every JSON body rejects unknown members', { tags: ['asvs:2.2.1', 'asvs:8.1.2', 'asvs:15.3.3'] }, () => {
  for (const { id, body } of allRoutes) if (body?.type === 'json') assert.ok(fieldsOf(body.schema).length > 0, id);
});

test('no GET request has a body', { tags: ['asvs:3.5.3'] }, () => {
  for (const { id, method, body } of allRoutes) if (body) assert.notEqual(method, 'GET', id);
});

test(
  'the success status is 200, except for creations, accepted requests, responses without a body and a redirect',
  { tags: ['asvs:3.7.2'] },
  () => {
    const others = allRoutes
      .filter(({ success }) => success.status !== 200)
      .map(({ id, success }) => [id, success.status]);
    assert.deepEqual(others, [
      ['revokeTokens', 204],
      ['createKey', 201],
      ['registerPublicKey', 201],
      ['reportLeaks', 202],
      ['createServiceAccount', 201],
      ['createServiceAccountKey', 201],
      ['registerServiceAccountPublicKey', 201],
      ['createPortalSession', 201],
      ['endPortalSession', 204],
      ['redeemPortalToken', 201],
      ['endOwnPortalSession', 204],
      ['createPortalKey', 201],
      ['addServiceAccountIssuer', 201],
      ['endSession', 204],
      ['beginSecondFactor', 201],
      ['removeSecondFactor', 204],
      ['addPasskey', 201],
      ['renamePasskey', 204],
      ['removePasskey', 204],
      ['signUp', 202],
      ['resendVerification', 202],
      ['requestPasswordReset', 202],
      ['changeLanguage', 204],
      ['changeEmail', 202],
      ['deleteAccount', 204],
      ['adminInviteAccount', 201],
      ['adminSetEmail', 202],
      ['adminCreateManagementKey', 201],
      ['adminCreateKey', 201],
      ['adminRotateSigningKeys', 201],
      ['createFirstAdministrator', 201],
      ['adminAddIssuer', 201],
      ['adminAddProgram', 201],
      ['createWebhook', 201],
      ['deleteWebhook', 204],
      ['disableWebhook', 204],
      ['enableWebhook', 204],
      ['replayWebhookDelivery', 204],
      ['endConsoleSession', 204],
      ['createCanaryKey', 201],
      ['changePasswordPage', 303],
    ]);
  },
);

test(
  'the four fixed requests have exactly the specified methods, paths and members',
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
    // The other members appear only for a request with query parameters.
    assert.deepEqual(fieldsOf(listKeys.success.schema), ['apiKeys', 'nextCursor', 'total']);
    assert.deepEqual((listKeys.success.schema as { required?: string[] }).required, ['apiKeys']);
    const [full, listed] = listKeys.success.schema.properties.apiKeys.anyOf.map((list) => fieldsOf(itemsOf(list)));
    assert.deepEqual(listed, ['id', 'nickname', 'createdAt', 'updatedAt']);
    assert.ok(full && !full.includes('key'));
  },
);

test('a new key requires only a nickname', () => {
  assert.deepEqual((contract.NewKeyBody as { required?: string[] }).required, ['nickname']);
});
