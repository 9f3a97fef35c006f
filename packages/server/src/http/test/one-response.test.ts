/** Every request gets exactly one response, regardless of the bytes after it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { bearer, newApp } from '../../../test-kit/new-app.ts';
import { assertProblem, fromWire } from '../../../test-kit/assert-problem.ts';
import { exchange, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const host = 'Host: a';
const chunked = 'Transfer-Encoding: chunked';
const json = 'Content-Type: application/json';
const live = head('GET /health/live HTTP/1.1', host);
const broken = '3\r\nabc\r\nzz\r\n';
const garbage = 'nonsense\r\n\r\n';

test('a request with a response gets no second one when its body is broken', async () => {
  await using app = await newApp();
  const { email } = await app.createAccount();
  const { accessToken } = await app.signIn();
  const authorization = `Authorization: ${bearer(accessToken).authorization}`;
  const early: Readonly<Record<string, readonly [start: string, status: number]>> = {
    'an early 200': [head('GET /health/live HTTP/1.1', host, chunked), 200],
    'an early 200 with a list': [head('GET /auth/api-keys HTTP/1.1', host, authorization, chunked), 200],
    'an early 401': [head('POST /auth/api-keys HTTP/1.1', host, json, chunked), 401],
    'an early 401 of a sign-in': [
      head('POST /auth/token HTTP/1.1', host, `Authorization: Basic ${btoa(`${email}:wrong`)}`, chunked),
      401,
    ],
    'an early 401 of /auth/forward': [head('POST /auth/forward HTTP/1.1', host, chunked), 401],
    'an early 404': [head('POST /nowhere HTTP/1.1', host, chunked), 404],
    'an early 405': [head('PUT /auth/token HTTP/1.1', host, chunked), 405],
    'an early 415': [head('POST /auth/token/refresh HTTP/1.1', host, 'Content-Type: text/plain', chunked), 415],
  };
  for (const [what, [start, status]] of Object.entries(early)) {
    // In one packet, and with the broken chunk after the response.
    const together = await exchange(app.url, start + broken + live, 'closed');
    assert.deepEqual([together.answers.map((answer) => answer.status), together.isClosed], [[status], true], what);
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    socket.write(start);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.write(broken + live);
    const received = String(first) + (await text(socket));
    assert.deepEqual(
      [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, each]) => Number(each)),
      [status],
      what,
    );
  }
});

test('a creation before malformed bytes returns 201 and its key exists; the bytes get 400', async () => {
  await using app = await newApp();
  const { accessToken, account } = await app.signIn();
  const body = '{"nickname":"a"}';
  const creation =
    head(
      'POST /auth/api-keys HTTP/1.1',
      host,
      json,
      `Authorization: Bearer ${accessToken}`,
      `Content-Length: ${body.length}`,
    ) + body;
  const { answers, isClosed } = await exchange(app.url, creation + garbage + live, 'closed');
  assert.deepEqual([answers.map(({ status }) => status), isClosed], [[201, 400], true]);
  const [created, refused] = answers;
  assert.ok(created && refused);
  assertProblem(fromWire(refused), 'malformed_request');
  const keys = await app.service.services.apiKeys.list(account.id);
  assert.deepEqual(
    [(JSON.parse(created.body) as { id: number }).id],
    keys.map(({ id }) => id),
  );
});

test('malformed bytes after several requests get a response after all of them', async () => {
  await using app = await newApp();
  const requests = head('GET /health/ready HTTP/1.1', host) + head('GET /nowhere HTTP/1.1', host) + live;
  const endings: Readonly<Record<string, readonly [bytes: string, ...statuses: number[]]>> = {
    garbage: [garbage, 400],
    'headers that are too large': [`GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`, 431],
    'a CONNECT': [head('CONNECT x:1 HTTP/1.1', 'Host: x'), 404],
    'a request with a broken body': [head('POST /auth/token/refresh HTTP/1.1', host, json, chunked) + broken, 400],
    'a last request': [head('GET /nowhere HTTP/1.1', host, 'Connection: close') + garbage, 404],
  };
  for (const [what, [bytes, ...statuses]] of Object.entries(endings)) {
    const { answers, isClosed } = await exchange(app.url, requests + bytes, 'closed');
    assert.deepEqual([answers.map(({ status }) => status), isClosed], [[200, 404, 200, ...statuses], true], what);
  }
  assert.equal((await app.call('GET', '/health/live')).status, 200);
});

test('a client that closes its sending side gets the responses to what it has sent', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const body = '{"nickname":"a"}';
  const lines = ['POST /auth/api-keys HTTP/1.1', host, json, `Authorization: Bearer ${accessToken}`];
  const { hostname, port } = new URL(app.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  socket.end(head(...lines, `Content-Length: ${body.length}`) + body + live);
  const received = await text(socket);
  assert.deepEqual(
    [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status)),
    [201, 200],
  );
});
