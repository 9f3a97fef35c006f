/** Finding routes: by their whole path, with at most the last segment as a parameter. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteContract } from '@keyreeve/contract';
import type { Route } from '../../src/http/route.ts';
import { Router } from '../../src/http/router.ts';

const toRoute = (method: RouteContract['method'], path: string): Route => ({
  contract: {
    id: path,
    method,
    path,
    tag: '',
    summary: '',
    auth: 'none',
    success: { status: 200, description: '' },
    errors: [],
  },
  handle: async () => ({ status: 200 }),
});

test('a parameter is the last segment, whole and decoded once', () => {
  const one = toRoute('DELETE', '/keys/:id');
  const router = new Router([toRoute('GET', '/keys'), one]);
  assert.deepEqual(router.find('DELETE', '/keys/a%2525'), { route: one, params: { id: 'a%25' } });
  assert.deepEqual(router.find('GET', '/keys/a'), { allowed: ['DELETE'] });
  for (const path of ['/keys/', '/keys/a/b', '/keys/%', '/key'])
    assert.equal(router.find('DELETE', path), undefined, path);
});

test('a path with a parameter before its last segment is refused at once: no request could ever find it', () => {
  for (const path of ['/keys/:id/uses', '/:tenant/keys', '/:tenant/keys/:id', '/keys/:id/']) {
    assert.throws(() => new Router([toRoute('GET', path)]), {
      message: `${path}: only the last segment may be a parameter`,
    });
  }
});
