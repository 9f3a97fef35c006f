/** The body of a creation: malformed and ambiguous bodies are rejected. */
import assert from 'node:assert/strict';
import type { ErrorCode } from '@keyreeve/contract';
import { basic, bearer, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const json = { 'content-type': 'application/json' };
const deep = (levels: number): string => `{"nickname":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const bytes = (...parts: readonly (string | number[])[]): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part)] : part)));

const badBodies: Readonly<Record<string, readonly [body: string | Uint8Array<ArrayBuffer>, code: ErrorCode]>> = {
  empty: ['', 'malformed_json'],
  'half an object': ['{"nickname":"a"', 'malformed_json'],
  'text after the object': ['{"nickname":"a"}{}', 'malformed_json'],
  'single quotes': ["{'nickname':'a'}", 'malformed_json'],
  'a trailing comma': ['{"nickname":"a",}', 'malformed_json'],
  'a comment': ['{"nickname":"a"/**/}', 'malformed_json'],
  NaN: ['{"nickname":NaN}', 'malformed_json'],
  'a raw control character in a string': ['{"nickname":"a\nb"}', 'malformed_json'],
  'a byte order mark': ['\ufeff{"nickname":"a"}', 'malformed_json'],
  'truncated UTF-8': [bytes('{"nickname":"a', [0xc3], '"}'), 'malformed_json'],
  'overlong UTF-8': [bytes('{"nickname":"a', [0xc0, 0xaf], '"}'), 'malformed_json'],
  'a surrogate in UTF-8': [bytes('{"nickname":"a', [0xed, 0xa0, 0x80], '"}'), 'malformed_json'],
  'UTF-16': [Uint8Array.from(Buffer.from('{"nickname":"a"}', 'utf16le')), 'malformed_json'],
  'a duplicate member': ['{"nickname":"a","nickname":"b"}', 'malformed_json'],
  'a duplicate member with the same value': ['{"nickname":"a","nickname":"a"}', 'malformed_json'],
  'a duplicate member, escaped': [String.raw`{"nickname":"a","nickn\u0061me":"b"}`, 'malformed_json'],
  'a duplicate member with space before the colon': ['{"nickname":"a","nickname" \t\r\n:"b"}', 'malformed_json'],
  'a duplicate member in a nested object': ['{"nickname":"a","x":{"y":1,"y":2}}', 'malformed_json'],
  'a duplicate member after a string that resembles JSON': [
    String.raw`{"nickname":"\"}{","scopes":[],"scopes":[]}`,
    'malformed_json',
  ],
  '__proto__, escaped': [String.raw`{"nickname":"a","\u005f_proto__":null}`, 'malformed_json'],
  'a member __proto__': ['{"nickname":"a","__proto__":{"scopes":["x"]}}', 'malformed_json'],
  'a member constructor': ['{"nickname":"a","constructor":{}}', 'malformed_json'],
  'a member prototype': ['{"nickname":"a","prototype":{}}', 'malformed_json'],
  'nine levels': [deep(9), 'malformed_json'],
  'a thousand levels': [deep(1_000), 'malformed_json'],
  'eight levels, which are allowed': [deep(8), 'invalid_request'],
  null: ['null', 'invalid_request'],
  'an array': ['[{"nickname":"a"}]', 'invalid_request'],
  'a string': ['"nickname"', 'invalid_request'],
  'no nickname': ['{}', 'invalid_request'],
  'another case': ['{"Nickname":"a"}', 'invalid_request'],
  'an unknown field': ['{"nickname":"a","note":"b"}', 'invalid_request'],
  'a member key': ['{"nickname":"a","key":"krv_mine"}', 'invalid_request'],
  'a member id': ['{"nickname":"a","id":1}', 'invalid_request'],
  'a member accountId': ['{"nickname":"a","accountId":"acc_other"}', 'invalid_request'],
  'a member createdAt': ['{"nickname":"a","createdAt":"2020-01-01T00:00:00Z"}', 'invalid_request'],
};

/** Headers of the request. */
const badTypes: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'content-type': '' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'text/json' },
  { 'content-type': 'application/jsonp' },
  { 'content-type': 'application/merge-patch+json' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'multipart/form-data; boundary=a' },
  { 'content-type': 'application/json, application/json' },
  { 'content-type': 'application/json; charset=iso-8859-1' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'application/json; charset=utf-8; charset=utf-16' },
  { ...json, 'content-encoding': 'gzip' },
  { ...json, 'content-encoding': 'br' },
  { ...json, 'content-encoding': 'identity, gzip' },
];

const goodTypes = [
  'application/json',
  'APPLICATION/JSON',
  'application/json;charset=UTF-8',
  'application/json ; charset="utf-8"',
];

async function keysOf(app: TestApp, headers: Record<string, string>): Promise<unknown> {
  return (await app.call('GET', '/auth/api-keys', { headers })).json;
}

test(
  'a body that is not an unambiguous JSON object of known members creates no key',
  { tags: ['asvs:1.5.2', 'asvs:2.2.1', 'asvs:2.2.2', 'asvs:15.3.3'] },
  async () => {
    await using app = await newApp();
    const headers = bearer((await app.signIn()).accessToken);
    for (const [what, [body, code]] of Object.entries(badBodies)) {
      const rejected = await app.call('POST', '/auth/api-keys', { headers: { ...headers, ...json }, body });
      assertProblem(fromFetch(rejected), code, what);
    }
    assert.deepEqual(await keysOf(app, headers), { apiKeys: [] });
  },
);

test('a body with another media type, charset or encoding is rejected', { tags: ['asvs:3.5.2'] }, async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  for (const type of badTypes) {
    const rejected = await app.call('POST', '/auth/api-keys', {
      headers: { ...headers, ...type },
      body: bytes('{"nickname":"a"}'),
    });
    assertProblem(fromFetch(rejected), 'unsupported_media_type', JSON.stringify(type));
  }
  assert.deepEqual(await keysOf(app, headers), { apiKeys: [] });
});

test('JSON in UTF-8 is accepted with any form of its media type', async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  for (const [index, type] of goodTypes.entries()) {
    const created = await app.call('POST', '/auth/api-keys', {
      headers: { ...headers, 'content-type': type, 'content-encoding': 'identity' },
      body: `\r\n\t {"nickname":"\\u0061${index}"} `,
    });
    assert.deepEqual([created.status, (created.json as { nickname: string }).nickname], [201, `a${index}`], type);
  }
});

test('the response contains a pointer to each mistake in a body', { tags: ['asvs:2.2.1', 'asvs:15.3.5'] }, async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const rejected = await app.call('POST', '/auth/api-keys', {
    headers,
    json: { nickname: 5, scopes: ['ok', 'not ok'], expiresAt: 'soon', note: 'x' },
  });
  const { errors = [] } = assertProblem(fromFetch(rejected), 'invalid_request');
  assert.deepEqual(errors.map(({ pointer }) => pointer).toSorted(), ['/expiresAt', '/nickname', '/note', '/scopes/1']);
});

test('a sign-in and a deletion ignore the body', async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const wrongType = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
  const body = '{"id": 1, "id": 2';
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'a' } });
  const path = `/auth/api-keys/${(created.json as { id: number }).id}`;
  const headers = { ...bearer(accessToken), ...wrongType };
  assert.equal((await app.call('DELETE', path, { headers, body })).status, 200);
  const signIn = { ...basic(account.email, goodPassword), ...wrongType };
  assert.equal((await app.call('POST', '/auth/token', { headers: signIn, body })).status, 200);
});
