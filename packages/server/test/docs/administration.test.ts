/** `docs/administration.md` names every path of the administration, and its rule about recent sign-ins holds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';

const page = readFileSync(new URL('../../../../docs/administration.md', import.meta.url), 'utf8');
const routes = allRoutes.filter(({ auth }) => auth === 'administrator');

test('the page of administration names the last fixed part of every path', () => {
  assert.ok(routes.length > 40);
  const rows = page.match(/^.* \| .*$/gm)?.join('\n') ?? '';
  const unnamed = routes
    .map(({ path }) => path.split('/').findLast((part) => !part.startsWith(':')) ?? '')
    .filter((part) => !rows.includes(part));
  assert.deepEqual(unnamed, []);
});

test('every request of an administrator except GET requires a recent sign-in, or proves the administrator itself', () => {
  for (const { method, path, needsRecentSignIn = false } of routes) {
    const isProof = path === '/admin/management-keys';
    assert.equal(needsRecentSignIn, method !== 'GET' && !isProof, `${method} ${path}`);
  }
});
