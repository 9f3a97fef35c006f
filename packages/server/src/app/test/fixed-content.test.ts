/** Content that is the same for every client: compressed forms, entity tags and 304 responses. */
import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import * as contract from '@keyreeve/contract';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newApp, operator, type TestApp } from '../../../test-kit/new-app.ts';
import { ask, head } from '../../../test-kit/raw-http.ts';

interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
  readonly header: (name: string) => string | undefined;
}

/** `fetch` would decompress the content. */
async function get(app: TestApp, path: string, ...headers: readonly string[]): Promise<Answer> {
  const answer = await ask(app.url, head(`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers));
  return {
    status: answer.status,
    bytes: Buffer.from(answer.body, 'latin1'),
    header: (name) => answer.headers.get(name)?.join(', '),
  };
}

const paths: readonly (readonly [path: string, ...headers: readonly string[]])[] = [
  ['/'],
  ['/docs'],
  ['/docs/api/errors'],
  ['/docs/forward-auth/nginx.conf'],
  ['/openapi.json'],
  ['/problems/not_found'],
  [contract.getJwks.path],
  [contract.getMetadata.path],
  ['/console'],
  ['/account/verify-email'],
  ['/account/reset-password', 'Accept-Language: de'],
];

test('every page and document has the same bytes in each coding, a tag for each, and 304 for a client that has it', async () => {
  await using app = await newApp();
  for (const [path, ...headers] of paths) {
    const plain = await get(app, path, ...headers);
    assert.equal(plain.status, 200, path);
    assert.match(plain.header('etag') ?? '', /^"[\w-]{22}"$/, path);
    assert.match(plain.header('vary') ?? '', /Accept-Encoding/, path);
    const tags = [plain.header('etag')];
    for (const [coding, decompress] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const accepting = [...headers, `Accept-Encoding: ${coding}`];
      const answer = await get(app, path, ...accepting);
      const sent = answer.header('content-encoding');
      // Content that does not become smaller is sent as it is.
      if (sent !== undefined) tags.push(answer.header('etag'));
      assert.deepEqual(sent === undefined ? answer.bytes : decompress(answer.bytes), plain.bytes, `${path} ${coding}`);
      assert.ok(answer.bytes.length <= plain.bytes.length, path);
      const known = await get(app, path, ...accepting, `If-None-Match: ${answer.header('etag')}`);
      assert.deepEqual(
        [known.status, known.bytes.length, known.header('content-length'), known.header('content-type')],
        [304, 0, undefined, undefined],
        path,
      );
      for (const name of ['etag', 'vary', 'cache-control', 'content-security-policy', 'content-language'])
        assert.equal(known.header(name), answer.header(name), `${path} ${name}`);
    }
    assert.equal(new Set(tags).size, tags.length, path);
  }
});

test('If-None-Match is a list of tags, weak or not, or an asterisk, and is otherwise ignored', async () => {
  await using app = await newApp();
  const { bytes, header } = await get(app, '/openapi.json');
  const tag = header('etag') ?? '';
  const statusFor = async (value: string): Promise<number> =>
    (await get(app, '/openapi.json', `If-None-Match: ${value}`)).status;
  for (const value of [tag, `W/${tag}`, `"a", ${tag}`, `W/"a" ,${tag},`, '*'])
    assert.equal(await statusFor(value), 304, value);
  for (const value of ['"a"', tag.slice(1, -1), tag.replace('"', '"x'), '""', ',,,'])
    assert.equal(await statusFor(value), 200, value);
  assert.ok(bytes.length > 100_000);
});

test('the public keys have another tag after a rotation', async () => {
  await using app = await newApp();
  const tagOf = async () => (await get(app, contract.getJwks.path)).header('etag');
  const before = await tagOf();
  assert.equal(await tagOf(), before);
  await app.service.services.signingKeys.rotate(operator, { immediately: true });
  assert.notEqual(await tagOf(), before);
});
