/** The router: complete paths and parameters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RouteContract } from '@keyreeve/contract';
import type { Route } from '../route.ts';
import { Router } from '../router.ts';

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

test('a parameter is a complete segment and decoded once', { tags: ['asvs:1.1.1'] }, () => {
  const one = toRoute('DELETE', '/keys/:id');
  const router = new Router([toRoute('GET', '/keys'), one]);
  assert.deepEqual(router.find('DELETE', '/keys/a%2525'), { route: one, params: { id: 'a%25' } });
  assert.deepEqual(router.find('GET', '/keys/a'), { allowed: ['DELETE'] });
  for (const path of ['/keys/', '/keys/a/b', '/keys/%', '/key'])
    assert.equal(router.find('DELETE', path), undefined, path);
});

test('fixed paths take precedence, and paths of the same shape name their parameters alike', () => {
  const [act, own, fixed] = [
    toRoute('POST', '/accounts/:id/disable'),
    toRoute('DELETE', '/accounts/:id/keys/:keyId'),
    toRoute('GET', '/accounts/:id'),
  ];
  const me = toRoute('GET', '/accounts/me');
  const router = new Router([act, own, fixed, me]);
  assert.deepEqual(router.find('POST', '/accounts/a%2Fb/disable'), { route: act, params: { id: 'a/b' } });
  assert.deepEqual(router.find('DELETE', '/accounts/a/keys/7'), { route: own, params: { id: 'a', keyId: '7' } });
  assert.deepEqual(router.find('GET', '/accounts/me'), { route: me, params: {} });
  assert.deepEqual(router.find('GET', '/accounts/a/disable'), { allowed: ['POST'] });
  for (const path of ['/accounts//disable', '/accounts/a/enable', '/accounts/a/disable/', '/accounts/a/keys/'])
    assert.equal(router.find('POST', path), undefined, path);
  assert.throws(
    () => new Router([fixed, toRoute('PUT', '/accounts/:accountId')]),
    /names the same parameters differently/,
  );
});

test('a fixed path and a pattern that match the same path have the methods of both', () => {
  const [remove, register] = [toRoute('DELETE', '/keys/:id'), toRoute('POST', '/keys/public')];
  const router = new Router([register, remove]);
  assert.deepEqual(router.find('POST', '/keys/public'), { route: register, params: {} });
  assert.deepEqual(router.find('DELETE', '/keys/public'), { route: remove, params: { id: 'public' } });
  assert.deepEqual(router.find('GET', '/keys/public'), { allowed: ['POST', 'DELETE'] });
  const [nested, other] = [toRoute('POST', '/owners/:owner/keys/public'), toRoute('GET', '/owners/:owner/keys/:id')];
  const patterns = new Router([nested, other]);
  assert.deepEqual(patterns.find('GET', '/owners/a/keys/public'), {
    route: other,
    params: { owner: 'a', id: 'public' },
  });
});

test('a path that ends with /* is that of all paths below it which no other route has', () => {
  const [page, change] = [toRoute('GET', '/console/*'), toRoute('PUT', '/console/*')];
  const covering: Route = { ...page, covers: (path) => !path.startsWith('/console/api') };
  const [config, one] = [toRoute('GET', '/console/config'), toRoute('POST', '/console/:id')];
  const router = new Router([covering, config]);
  for (const path of ['/console/', '/console/keys', '/console/a/b', '/console/config/'])
    assert.deepEqual(router.find('GET', path), { route: covering, params: { rest: path.slice(9) } }, path);
  assert.deepEqual(router.find('HEAD', '/console/keys'), { route: covering, params: { rest: 'keys' } });
  assert.deepEqual(router.find('GET', '/console/config'), { route: config, params: {} });
  assert.deepEqual(router.find('POST', '/console/keys'), { allowed: ['GET', 'HEAD'] });
  for (const path of ['/console', '/consoles', '/console/api', '/console/api/x'])
    for (const method of ['GET', 'POST']) assert.equal(router.find(method, path), undefined, path);
  const both = new Router([page, change, one]);
  assert.deepEqual(both.find('PUT', '/console/a/b'), { route: change, params: { rest: 'a/b' } });
  assert.deepEqual(both.find('DELETE', '/console/a/b'), { allowed: ['GET', 'HEAD', 'PUT'] });
  assert.deepEqual(both.find('GET', '/console/a'), { allowed: ['POST'] });
});
