/** `GET /` without the console: a page for browsers, JSON for other clients, and no version of the program. */
import assert from 'node:assert/strict';
import { contractVersion } from '@keyreeve/contract';
import { newApp } from '../../../../test-kit/new-app.ts';
import { assertSecurityHeaders, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

test('/ returns JSON, or a page for a browser, with working links', async () => {
  await using app = await newApp({ environment: { KEYREEVE_CONSOLE: 'off' } });
  const expected = {
    name: 'Keyreeve',
    contractVersion,
    docs: '/docs',
    openapi: '/openapi.json',
    jwks: '/.well-known/jwks.json',
    health: '/health/ready',
  };
  for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5', 'image/png', '']) {
    const answer = await app.call('GET', '/', { headers: { accept } });
    assert.deepEqual([answer.status, answer.json], [200, expected], accept);
    assert.equal(answer.headers.get('vary'), 'Accept-Encoding, Accept');
    assertSecurityHeaders(fromFetch(answer), accept, 'no-cache');
  }
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';
  const page = await fetch(new URL('/', app.url), { headers: { accept } });
  const text = await page.text();
  assert.deepEqual(
    [page.status, page.headers.get('content-type'), page.headers.get('vary')],
    [200, 'text/html; charset=utf-8', 'Accept-Encoding, Accept'],
  );
  assert.match(text, /<h1>Keyreeve<\/h1>/);
  const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
  assert.deepEqual(links, ['/docs', '/openapi.json', '/.well-known/jwks.json', '/health/ready']);
  for (const path of links) assert.equal((await app.call('GET', path)).status, 200, path);
});
