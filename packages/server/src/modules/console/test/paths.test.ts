/** The paths of the console: which exist, at which host, and no path to another file. */
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test as nodeTest } from 'node:test';
import { assertProblem, assertSecurityHeaders, fromFetch, fromWire } from '../../../../test-kit/assert-problem.ts';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { ask, head } from '../../../../test-kit/raw-http.ts';
import { ConsoleHost, isPagePath } from '../paths.ts';
import { newConsoleFolder } from './sample-console.ts';

const browser = 'Accept: text/html,application/xhtml+xml,*/*;q=0.8';
const get = (app: TestApp, path: string, host = 'localhost', ...headers: readonly string[]) =>
  ask(app.url, head(`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers));

const paths = [
  '/console',
  '/console/keys',
  '/console/assets/0/app.js',
  '/console/api/auth/account',
  '/console/session',
];

test(
  'GET / redirects a browser to the console, and returns JSON to other clients',
  { tags: ['asvs:3.7.2'] },
  async () => {
    await using app = await newApp();
    const answer = await get(app, '/', 'localhost', browser);
    assert.deepEqual(
      [
        answer.status,
        answer.body,
        ...['location', 'vary', 'cache-control'].map((name) => answer.headers.get(name)?.join()),
      ],
      [303, '', '/console', 'Accept', 'no-store'],
    );
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
      const { status, headers } = await get(app, '/', 'localhost', `Accept: ${accept}`);
      assert.deepEqual([status, headers.get('content-type')?.join()], [200, 'application/json; charset=utf-8'], accept);
    }
  },
);

test('with KEYREEVE_CONSOLE=off, no path of the console exists, and / is a page of links', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CONSOLE: 'off' } });
  for (const path of paths) assertProblem(fromWire(await get(app, path, 'localhost', browser)), 'not_found', path);
  assertProblem(fromWire(await ask(app.url, head('POST /console HTTP/1.1', 'Host: localhost'))), 'not_found');
  const { status, body } = await get(app, '/', 'localhost', browser);
  assert.equal(status, 200);
  assert.match(body, /<h1>Keyreeve<\/h1>/);
});

test('a console with its own host exists at that host only', async () => {
  await using app = await newApp({
    environment: {
      KEYREEVE_PUBLIC_URL: 'https://auth.example.com',
      KEYREEVE_CONSOLE_URL: 'https://console.example.com',
      KEYREEVE_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  for (const host of ['console.example.com', 'CONSOLE.Example.com', 'console.example.com:443']) {
    assert.equal((await get(app, '/console/keys', host)).status, 200, host);
    const { status, headers } = await get(app, '/', host, browser);
    assert.deepEqual([status, headers.get('location')?.join()], [303, '/console'], host);
  }
  const others = [
    'auth.example.com',
    'console.example.com:8443',
    'console.example.com.',
    'x.console.example.com',
    'localhost',
  ];
  for (const host of others) {
    for (const path of paths) assertProblem(fromWire(await get(app, path, host)), 'not_found', `${host} ${path}`);
    assert.equal((await get(app, '/', host, browser)).status, 200, host);
    // Headers of a proxy do not replace the host.
    const forwarded = ['X-Forwarded-Host: console.example.com', 'Forwarded: host=console.example.com'];
    assertProblem(fromWire(await get(app, '/console', host, ...forwarded)), 'not_found', host);
  }
  assert.equal((await get(app, '/health/live', 'console.example.com')).status, 200);
});

test('only names of served files are found: no other file, no folder', { tags: ['asvs:5.3.2'] }, async () => {
  using folder = newConsoleFolder();
  mkdirSync(join(folder.path, 'sub.js'));
  writeFileSync(join(folder.path, 'sub.js', 'inner.js'), '');
  symlinkSync('/etc/passwd', join(folder.path, 'passwords.txt'));
  await using app = await newApp({ consoleFolder: folder.path });
  const names = [
    'index.html',
    'app.js.map',
    'notes.md',
    '.env',
    'sub.js',
    'sub.js/inner.js',
    'sub.js%2finner.js',
    'passwords.txt',
    'none.js',
    'APP.JS',
    'app.js/',
    'app.js%00',
    'app.js%00.css',
    '%00',
    '%',
    '.',
    '..',
    '../app.js',
    '../../../package.json',
    '%2e%2e',
    '%2e%2e/%2e%2e/package.json',
    '%2e%2e%2f%2e%2e%2fpackage.json',
    '..%2f..%2fpackage.json',
    '..%5c..%5cpackage.json',
    '..\\..\\package.json',
    '%252e%252e%252fpackage.json',
    '/app.js',
    '//app.js',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    'constructor',
    '__proto__',
  ];
  for (const name of names) assertProblem(fromWire(await get(app, `/console/assets/x/${name}`)), 'not_found', name);
  for (const path of [
    '/console/assets',
    '/console/assets/',
    '/console/assets/app.js',
    '//console',
    '/console%2f',
    '/consolex',
  ])
    assertProblem(fromWire(await get(app, path)), 'not_found', path);
  // Any other path below /console is that of the page, so it reads no other file.
  for (const path of [
    '/console/../auth',
    '/console/%2e%2e/%2e%2e/etc/passwd',
    '/console//etc/passwd',
    '/console/%00',
  ]) {
    const { status, headers, body } = await get(app, path);
    assert.deepEqual([status, headers.get('content-type')?.join()], [200, 'text/html; charset=utf-8'], path);
    assert.match(body, /^<!doctype html>/);
  }
});

test('unknown paths of the API of the console are JSON errors, for every method', async () => {
  await using app = await newApp();
  for (const path of [
    '/console/api',
    '/console/api/',
    '/console/api/none',
    '/console/session/none',
    '/console/config/x',
  ]) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const answer = await app.call(method, path, { headers: { accept: 'text/html' } });
      assertProblem(fromFetch(answer), 'not_found', `${method} ${path}`);
      assertSecurityHeaders(fromFetch(answer));
    }
  }
});

test('pages and files have the methods GET and HEAD only', async () => {
  await using app = await newApp();
  for (const path of ['/console', '/console/keys', '/console/assets/x/app.js']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await app.call(method, path);
      assertProblem(fromFetch(answer), 'method_not_allowed', `${method} ${path}`);
      assert.equal(answer.headers.get('allow'), 'GET, HEAD');
    }
  }
});

const hosts: readonly (readonly [consoleUrl: string | undefined, host: string | undefined, expected: boolean])[] = [
  [undefined, undefined, true],
  [undefined, 'anything', true],
  ['http://localhost:8787', 'anything', true],
  ['https://localhost:8787', 'anything', true],
  ['http://console.localhost:8787', 'console.localhost:8787', true],
  ['http://console.localhost:8787', 'console.localhost', false],
  ['http://console.localhost:8787', 'localhost:8787', false],
  ['http://localhost:9000', 'localhost:8787', false],
  ['http://console.localhost', 'console.localhost:80', true],
  ['http://console.localhost', 'console.localhost:443', false],
  ['http://console.localhost', undefined, false],
  ['http://console.localhost', '', false],
  ['http://[::1]:8787', '[::1]:8787', true],
];

for (const [consoleUrl, host, expected] of hosts) {
  nodeTest(`a console at ${consoleUrl} is ${expected ? '' : 'not '}at the host ${host}`, () => {
    const options = { consoleUrl, publicUrl: 'http://localhost:8787' };
    assert.equal(new ConsoleHost({ ...options, isOn: true }).isConsole(host), expected);
    assert.equal(new ConsoleHost({ ...options, isOn: true }).permits('/console', host), expected);
    assert.equal(new ConsoleHost({ ...options, isOn: true }).permits('/consoles', host), true);
    assert.equal(new ConsoleHost({ ...options, isOn: false }).isConsole(host), false);
  });
}

nodeTest('paths below /console are pages, except four folders', () => {
  for (const path of ['/console/', '/console/keys', '/console/keys/api', '/console/apis', '/console/%61pi'])
    assert.ok(isPagePath(path), path);
  for (const path of [
    '/console/api',
    '/console/api/',
    '/console/api/x',
    '/console/assets',
    '/console/config',
    '/console/session/x',
  ])
    assert.ok(!isPagePath(path), path);
});
