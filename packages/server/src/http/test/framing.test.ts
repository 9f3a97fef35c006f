/** Request framing: a request that a proxy may interpret differently is rejected, and the connection closes. */
import assert from 'node:assert/strict';
import { newApp } from '../../../test-kit/new-app.ts';
import { assertProblem, fromWire } from '../../../test-kit/assert-problem.ts';
import { exchange, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const get = 'GET /health/live HTTP/1.1';
const post = 'POST /auth/token HTTP/1.1';
const host = 'Host: a';
const chunked = 'Transfer-Encoding: chunked';
/** The request that an attacker tries to smuggle. */
const smuggled = head(get, host);
const noChunks = '0\r\n\r\n';

const unsound: Readonly<Record<string, string>> = {
  'Content-Length and Transfer-Encoding': head(post, host, 'Content-Length: 6', chunked) + noChunks,
  'Transfer-Encoding and Content-Length': head(post, host, chunked, 'Content-Length: 6') + noChunks,
  'two lengths': head(post, host, 'Content-Length: 3', 'Content-Length: 4') + 'abcd',
  'one length twice': head(post, host, 'Content-Length: 3', 'Content-Length: 3') + 'abc',
  'two lengths in a line': head(post, host, 'Content-Length: 3, 3') + 'abc',
  'a length with a sign': head(post, host, 'Content-Length: +3') + 'abc',
  'a negative length': head(post, host, 'Content-Length: -3') + 'abc',
  'a hexadecimal length': head(post, host, 'Content-Length: 0x3') + 'abc',
  'a length that overflows': head(post, host, 'Content-Length: 99999999999999999999999') + 'abc',
  'no length': head(post, host, 'Content-Length:') + 'abc',
  'chunked twice': head(post, host, chunked, chunked) + noChunks,
  'chunked, then more': head(post, host, 'Transfer-Encoding: chunked, identity') + noChunks,
  'nearly chunked': head(post, host, 'Transfer-Encoding: xchunked') + noChunks,
  'a coding alone': head(post, host, 'Transfer-Encoding: gzip') + noChunks,
  'a coding before chunked': head(post, host, 'Transfer-Encoding: gzip, chunked') + noChunks,
  'a coding before chunked, in lines': head(post, host, 'Transfer-Encoding: gzip', chunked) + noChunks,
  'an empty coding before chunked': head(post, host, 'Transfer-Encoding: , chunked') + noChunks,
  'identity before chunked': head(post, host, 'Transfer-Encoding: identity, chunked') + noChunks,
  'chunked in HTTP/1.0': head('POST /auth/token HTTP/1.0', chunked) + noChunks,
  'a space before a colon': head(post, host, 'Transfer-Encoding : chunked') + noChunks,
  'a tab before a colon': head(post, host, 'Content-Length\t: 3') + 'abc',
  'a space before the first name': head(get, ' Host: a'),
  'a folded line': head(get, host, 'X: a', ' b'),
  'a folded line with a tab': head(get, host, 'Transfer-Encoding:', '\tchunked') + noChunks,
  'bare line feeds': `${get}\n${host}\n\n`,
  'one bare line feed': `${get}\r\n${host}\nX: a\r\n\r\n`,
  'a bare carriage return': `${get}\r\n${host}\rX: a\r\n\r\n`,
  'NUL in a value': head(get, host, 'X: a\0b'),
  'NUL in a name': head(get, host, 'X\0: a'),
  'a line without a colon': head(get, host, 'nothing'),
  'a line without a name': head(get, host, ': a'),
  'no Host': head(get),
  'two Hosts': head(get, host, 'Host: b'),
  'one Host twice': head(get, host, 'host: a'),
  'HTTP/0.9': head('GET /health/live'),
  'HTTP/1.2': head('GET /health/live HTTP/1.2', host),
  'HTTP/2.0': head('GET /health/live HTTP/2.0', host),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'another protocol': head('GET /health/live HTTQ/1.1', host),
  'an unknown method': head('BREW /auth/token HTTP/1.1', host),
  'a method in lower case': head('get /health/live HTTP/1.1', host),
  'a space in the request target': head('GET /health/live /x HTTP/1.1', host),
  'a control character in the request target': head('GET /health\x01/live HTTP/1.1', host),
  'a TLS handshake': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
};

/** Errors that occur while a route reads the body. */
const unsoundChunks: Readonly<Record<string, string>> = {
  'a size that is no number': 'zz\r\nabc\r\n0\r\n\r\n',
  'a size with a sign': '+3\r\nabc\r\n0\r\n\r\n',
  'a size after a space': ' 3\r\nabc\r\n0\r\n\r\n',
  'a size that overflows': 'ffffffffffffffffff\r\nabc\r\n0\r\n\r\n',
  'a chunk longer than its size': '3\r\nabcd\r\n0\r\n\r\n',
  'a chunk that ends in a bare line feed': '3\nabc\n0\n\n',
};

test('a malformed request returns 400 once, and nothing after it is processed', { tags: ['asvs:4.2.1'] }, async () => {
  await using app = await newApp();
  for (const [what, bytes] of Object.entries(unsound)) {
    const { answers, isClosed } = await exchange(app.url, bytes + smuggled, 'closed');
    assert.deepEqual([answers.length, isClosed], [1, true], what);
    for (const answer of answers) {
      assertProblem(fromWire(answer), 'malformed_request', what);
      assert.deepEqual(answer.headers.get('connection'), ['close'], what);
    }
  }
});

test('a malformed chunked body returns 400 once, and nothing after it is processed', async () => {
  await using app = await newApp();
  const start = head('POST /auth/token/refresh HTTP/1.1', host, 'Content-Type: application/json', chunked);
  for (const [what, chunks] of Object.entries(unsoundChunks)) {
    const { answers } = await exchange(app.url, start + chunks + smuggled, 'closed');
    assert.equal(answers.length, 1, what);
    for (const answer of answers) assertProblem(fromWire(answer), 'malformed_request', what);
  }
});

test(
  'the content of a body is never parsed as a request, whether it is read, ignored or rejected',
  { tags: ['asvs:4.2.1'] },
  async () => {
    await using app = await newApp();
    const length = `Content-Length: ${smuggled.length}`;
    const chunk = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    const large = smuggled.repeat(1_000);
    const json = 'Content-Type: application/json';
    const table: Readonly<Record<string, readonly [bytes: string, status: number]>> = {
      'ignored, on a sign-in': [head(post, host, length) + smuggled, 401],
      'ignored, on a sign-in, in chunks': [head(post, host, chunked) + chunk, 401],
      'ignored, on a GET': [head(get, host, length) + smuggled, 200],
      'unread, on /auth/forward': [head('POST /auth/forward HTTP/1.1', host, length) + smuggled, 401],
      'unread, on /auth/forward, in chunks': [head('POST /auth/forward HTTP/1.1', host, chunked) + chunk, 401],
      'unread, at an unknown address': [head('POST /nowhere HTTP/1.1', host, length) + smuggled, 404],
      'of another type': [head('POST /auth/token/refresh HTTP/1.1', host, length) + smuggled, 415],
      'no JSON': [head('POST /auth/token/refresh HTTP/1.1', host, json, length) + smuggled, 400],
      'too large': [
        head('POST /auth/token/refresh HTTP/1.1', host, json, `Content-Length: ${large.length}`) + large,
        413,
      ],
    };
    for (const [what, [bytes, status]] of Object.entries(table)) {
      const next = head('GET /nowhere/else HTTP/1.1', host, 'Connection: close');
      const { answers } = await exchange(app.url, bytes + next, 'closed');
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status, 404],
        what,
      );
    }
  },
);

test('requests on one connection are answered in order', async () => {
  await using app = await newApp();
  const requests = [
    head(post, host, 'Content-Length: 0'),
    head('GET /auth/forward HTTP/1.1', host),
    head('GET /nowhere HTTP/1.1', host),
    head(get, host, 'Connection: close'),
  ];
  const { answers } = await exchange(app.url, requests.join(''), 'closed');
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 404, 200],
  );
});

test('bytes after the last request are ignored, and that request gets its response', async () => {
  await using app = await newApp();
  for (const more of [smuggled, 'nonsense\r\n\r\n', '\0']) {
    for (const request of [head(get, host, 'Connection: close'), head('GET /health/live HTTP/1.0')]) {
      const { answers } = await exchange(app.url, request + more, 'closed');
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200],
      );
    }
  }
});

test('HTTP/1.0 needs no Host, and a request target with another authority is not found', async () => {
  await using app = await newApp();
  const old = await exchange(app.url, head('GET /health/live HTTP/1.0'), 'closed');
  assert.deepEqual(
    old.answers.map(({ status, body }) => [status, body]),
    [[200, '{"status":"ok"}']],
  );
  for (const target of ['http://evil.example/health/live', '//evil.example/health/live', '*', 'health/live']) {
    const { answers } = await exchange(app.url, head(`GET ${target} HTTP/1.1`, host, 'Connection: close'), 'closed');
    for (const answer of answers) assert.ok([400, 404].includes(answer.status), `${target} ${answer.status}`);
    assert.equal(answers.length, 1, target);
  }
});

test('Upgrade and an unknown Expect are ignored', async () => {
  await using app = await newApp();
  for (const lines of [
    ['Connection: Upgrade', 'Upgrade: websocket'],
    ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
    ['Expect: x'],
  ]) {
    const { answers } = await exchange(app.url, head(get, host, ...lines), 1);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200],
      lines.join(),
    );
  }
});
