/** The documentation over HTTP: headers, caching, the installation's own URL, and how it is turned off. */
import assert from 'node:assert/strict';
import type { ConsoleConfig } from '@keyreeve/contract';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { newApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

test('pages have the policy of the console, and the files that they load are cached for a year', async () => {
  await using app = await newApp({ environment: { KEYREEVE_ACCENT: '#0a7d5a' } });
  for (const path of ['/docs', '/docs/upgrade', '/docs/tutorials/gin', '/docs/api/errors', '/docs/decisions']) {
    const { status, headers, text } = await app.call('GET', path);
    const shown = ['content-type', 'content-security-policy', 'cache-control'].map((name) => headers.get(name));
    assert.deepEqual([status, ...shown], [200, 'text/html; charset=utf-8', policy, 'no-cache'], path);
    const urls = [...text.matchAll(/(?:src|href)="([^"]*\bassets\/[^"]+)"/g)].map(([, url = '']) => url);
    assert.equal(urls.length, 3, path);
    for (const url of urls) {
      const { pathname } = new URL(url, `http://localhost${path}`);
      assert.match(pathname, /^\/docs\/assets\/[\w-]{22}\/[\w.]+$/);
      const file = await app.call('GET', pathname);
      assert.deepEqual([file.status, file.headers.get('cache-control')], [200, 'public, max-age=31536000, immutable']);
      if (pathname.endsWith('.css')) assert.match(file.text, /:root\{--accent:light-dark\(/, 'the operator’s colour');
    }
  }
  const stale = await app.call('GET', '/docs/assets/0/search.json');
  assert.deepEqual([stale.status, stale.headers.get('cache-control')], [200, 'no-cache']);
});

test('files that pages link are text, in which a browser runs nothing', async () => {
  await using app = await newApp();
  for (const path of ['/docs/forward-auth/nginx.conf', '/docs/forward-auth/Caddyfile', '/docs/LICENSE']) {
    const { status, headers } = await app.call('GET', path);
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'], path);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none';.* sandbox$/);
  }
});

test('there is nothing besides the pages and their files', async () => {
  await using app = await newApp();
  const paths = [
    'x',
    'x/',
    '/',
    'index',
    'index/',
    'index.html',
    'upgrade.html',
    'upgrade//',
    'upgrade.html/',
    'stamp',
    'assets/0',
    'assets/0/guides.js/x',
  ];
  for (const path of [...paths, '../package.json', '%2e%2e/package.json', 'assets/0/upgrade.html', 'constructor'])
    assertProblem(fromFetch(await app.call('GET', `/docs/${path}`)), 'not_found');
});

test('a slash at the end of the path of a page leads to the page', { tags: ['asvs:3.7.2'] }, async () => {
  await using app = await newApp();
  for (const path of ['/docs', '/docs/upgrade', '/docs/tutorials/gin', '/docs/api']) {
    const { status, text, headers } = await app.call('GET', `${path}/`);
    assert.deepEqual([status, text], [303, '']);
    assert.equal(new URL(headers.get('location') ?? '', `${app.url}${path}/`).href, `${app.url}${path}`);
  }
});

test('the API reference has the public URL of the installation', async () => {
  await using app = await newApp({ environment: { KEYREEVE_PUBLIC_URL: 'https://id.example.org/keys' } });
  const overview = await app.call('GET', '/docs/api');
  assert.match(overview.text, /BASE_URL=https:\/\/id\.example\.org\/keys\n/);
  const tokens = await app.call('GET', '/docs/api/tokens');
  assert.match(tokens.text, /&quot;issuer&quot;: &quot;https:\/\/id\.example\.org\/keys&quot;/);
  assert.doesNotMatch(overview.text + tokens.text, /auth\.example\.com/);
});

test('the console knows whether it can link the documentation', async () => {
  for (const value of ['on', 'off']) {
    await using app = await newApp({ environment: { KEYREEVE_DOCS: value } });
    const headers = { 'x-keyreeve-console': 'background' };
    const { features } = (await app.call('GET', '/console/config', { headers })).json as ConsoleConfig;
    assert.equal(features.docs, value === 'on');
  }
});

test('when it is off, no path exists and nothing leads there', async () => {
  await using app = await newApp({ environment: { KEYREEVE_DOCS: 'off', KEYREEVE_CONSOLE: 'off' } });
  for (const path of ['/docs', '/docs/upgrade', '/docs/api', '/docs/assets/0/guides.js'])
    assertProblem(fromFetch(await app.call('GET', path)), 'not_found');
  const pages = ['/', '/problems/not_found', '/.well-known/oauth-authorization-server'];
  for (const path of pages)
    assert.doesNotMatch((await app.call('GET', path)).text, /href="[^"]*docs|"docs"|service_documentation/, path);
});
