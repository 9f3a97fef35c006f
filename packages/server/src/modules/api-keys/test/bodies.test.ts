/** The body of a key's creation: what is read, and what is refused because two parsers could read it differently. */
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
  nothing: ['', 'malformed_json'],
  'half an object': ['{"nickname":"a"', 'malformed_json'],
  'something after the object': ['{"nickname":"a"}{}', 'malformed_json'],
  'single quotes': ["{'nickname':'a'}", 'malformed_json'],
  'a trailing comma': ['{"nickname":"a",}', 'malformed_json'],
  'a comment': ['{"nickname":"a"/**/}', 'malformed_json'],
  NaN: ['{"nickname":NaN}', 'malformed_json'],
  'a raw control character in a string': ['{"nickname":"a\nb"}', 'malformed_json'],
  'a byte order mark': ['\ufeff{"nickname":"a"}', 'malformed_json'],
  'UTF-8 that is cut': [bytes('{"nickname":"a', [0xc3], '"}'), 'malformed_json'],
  'UTF-8 that is overlong': [bytes('{"nickname":"a', [0xc0, 0xaf], '"}'), 'malformed_json'],
  'a surrogate in UTF-8': [bytes('{"nickname":"a', [0xed, 0xa0, 0x80], '"}'), 'malformed_json'],
  'UTF-16': [Uint8Array.from(Buffer.from('{"nickname":"a"}', 'utf16le')), 'malformed_json'],
  'a member named twice': ['{"nickname":"a","nickname":"b"}', 'malformed_json'],
  'a member named twice alike': ['{"nickname":"a","nickname":"a"}', 'malformed_json'],
  'a member named twice, once escaped': [String.raw`{"nickname":"a","nickn\u0061me":"b"}`, 'malformed_json'],
  'a member named twice with space before the colon': ['{"nickname":"a","nickname" \t\r\n:"b"}', 'malformed_json'],
  'a member named twice further down': ['{"nickname":"a","x":{"y":1,"y":2}}', 'malformed_json'],
  'a member named twice after a text that looks like JSON': [
    String.raw`{"nickname":"\"}{","scopes":[],"scopes":[]}`,
    'malformed_json',
  ],
  '__proto__, escaped': [String.raw`{"nickname":"a","\u005f_proto__":null}`, 'malformed_json'],
  'a member __proto__': ['{"nickname":"a","__proto__":{"scopes":["x"]}}', 'malformed_json'],
  'a member constructor': ['{"nickname":"a","constructor":{}}', 'malformed_json'],
  'a member prototype': ['{"nickname":"a","prototype":{}}', 'malformed_json'],
  'nine levels': [deep(9), 'malformed_json'],
  'a thousand levels': [deep(1_000), 'malformed_json'],
  'eight levels, which are read': [deep(8), 'invalid_request'],
  null: ['null', 'invalid_request'],
  'an array': ['[{"nickname":"a"}]', 'invalid_request'],
  'a string': ['"nickname"', 'invalid_request'],
  'no nickname': ['{}', 'invalid_request'],
  'another case': ['{"Nickname":"a"}', 'invalid_request'],
  'an unknown field': ['{"nickname":"a","note":"b"}', 'invalid_request'],
  'a key of the client’s own': ['{"nickname":"a","key":"krv_mine"}', 'invalid_request'],
  'an id of the client’s own': ['{"nickname":"a","id":1}', 'invalid_request'],
  'another’s account': ['{"nickname":"a","accountId":"acc_other"}', 'invalid_request'],
  'a time of creation': ['{"nickname":"a","createdAt":"2020-01-01T00:00:00Z"}', 'invalid_request'],
};

/** A header that is not sent is undefined. */
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
  'a body that isn’t one unambiguous JSON object of known fields makes no key',
  { tags: ['asvs:1.5.2', 'asvs:2.2.1', 'asvs:2.2.2', 'asvs:15.3.3'] },
  async () => {
    await using app = await newApp();
    const headers = bearer((await app.signIn()).accessToken);
    for (const [what, [body, code]] of Object.entries(badBodies)) {
      const refused = await app.call('POST', '/auth/api-keys', { headers: { ...headers, ...json }, body });
      assertProblem(fromFetch(refused), code, what);
    }
    assert.deepEqual(await keysOf(app, headers), { apiKeys: [] });
  },
);

test('a body of another type, charset or encoding is refused', { tags: ['asvs:3.5.2'] }, async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  for (const type of badTypes) {
    const refused = await app.call('POST', '/auth/api-keys', {
      headers: { ...headers, ...type },
      body: bytes('{"nickname":"a"}'),
    });
    assertProblem(fromFetch(refused), 'unsupported_media_type', JSON.stringify(type));
  }
  assert.deepEqual(await keysOf(app, headers), { apiKeys: [] });
});

test('JSON in UTF-8 is read however its type is written', async () => {
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

test('every mistake in a body is named by its pointer', { tags: ['asvs:2.2.1', 'asvs:15.3.5'] }, async () => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const refused = await app.call('POST', '/auth/api-keys', {
    headers,
    json: { nickname: 5, scopes: ['ok', 'not ok'], expiresAt: 'soon', note: 'x' },
  });
  const { errors = [] } = assertProblem(fromFetch(refused), 'invalid_request');
  assert.deepEqual(errors.map(({ pointer }) => pointer).toSorted(), ['/expiresAt', '/nickname', '/note', '/scopes/1']);
});

test('a sign-in and a deletion ignore the body they are sent', async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const odd = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
  const body = '{"id": 1, "id": 2';
  const created = await app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: 'a' } });
  const path = `/auth/api-keys/${(created.json as { id: number }).id}`;
  const headers = { ...bearer(accessToken), ...odd };
  assert.equal((await app.call('DELETE', path, { headers, body })).status, 200);
  const signIn = { ...basic(account.email, goodPassword), ...odd };
  assert.equal((await app.call('POST', '/auth/token', { headers: signIn, body })).status, 200);
});
