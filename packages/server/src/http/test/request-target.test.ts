/** Request targets in absolute form. */
import assert from 'node:assert/strict';
import { bearer, newApp } from '../../../test-kit/new-app.ts';
import { assertProblem, fromWire } from '../../../test-kit/assert-problem.ts';
import { ask, exchange, head } from '../../../test-kit/raw-http.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

test('a target in absolute form is served like its origin form, if its authority is that of Host', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const { authorization } = bearer(accessToken);
  const { host } = new URL(app.url);
  const table: readonly (readonly [target: string, host: string, status: number])[] = [
    [`http://${host}/health/live`, host, 200],
    [`HTTPS://${host}/health/live`, host, 200],
    ['http://Keys.Example:8080/health/live', 'keys.example:8080', 200],
    ['http://[::1]:1/health/live', '[::1]:1', 200],
    [`http://${host}/auth/api-keys`, host, 200],
    [`http://${host}/auth/api-keys?view=full`, host, 200],
    [`http://${host}/auth/api-keys?view=other`, host, 400],
    [`http://${host}/auth/forward`, host, 200],
    [`http://${host}/auth/forward?scope=a`, host, 403],
    [`http://${host}/nowhere`, host, 404],
    [`http://${host}//auth/api-keys`, host, 404],
  ];
  for (const [target, name, status] of table) {
    const bytes = head(`GET ${target} HTTP/1.1`, `Host: ${name}`, `Authorization: ${authorization}`);
    assert.equal((await ask(app.url, bytes)).status, status, target);
  }
  const roots = await Promise.all(
    ['/', `http://${host}`, `http://${host}/`].map(
      async (target) => (await ask(app.url, head(`GET ${target} HTTP/1.1`, `Host: ${host}`))).status,
    ),
  );
  assert.equal(new Set(roots).size, 1, roots.join());
  const noHost = await ask(app.url, head(`GET http://${host}/health/live HTTP/1.0`, `Host: ${host}`));
  assert.equal(noHost.status, 200, 'HTTP/1.0');
});

test('a target that a proxy may interpret differently returns 400, and nothing after it is processed', async () => {
  await using app = await newApp();
  const get = (target: string, ...lines: string[]): string => head(`GET ${target} HTTP/1.1`, ...lines);
  const table: Readonly<Record<string, string>> = {
    'another host': get('http://b/health/live', 'Host: a'),
    'another port': get('http://a:1/health/live', 'Host: a:2'),
    'a port that Host lacks': get('http://a:80/health/live', 'Host: a'),
    'a user': get('http://b@a/health/live', 'Host: a'),
    'a user in both': get('http://b@c/health/live', 'Host: c'),
    'no authority': get('http:///health/live', 'Host:'),
    'a longer name': get('http://a.example/health/live', 'Host: a'),
    'another scheme': get('ftp://a/health/live', 'Host: a'),
    'no Host in HTTP/1.0': head('GET http://a/health/live HTTP/1.0'),
    'an asterisk for another method': get('*', 'Host: a'),
    'the verification of another host': get('http://b/auth/forward', 'Host: a'),
  };
  for (const [what, bytes] of Object.entries(table)) {
    const { answers, isClosed } = await exchange(app.url, bytes + get('/health/live', 'Host: a'), 'closed');
    assert.deepEqual([answers.length, isClosed], [1, true], what);
    for (const answer of answers) assertProblem(fromWire(answer), 'malformed_request', what);
  }
});
