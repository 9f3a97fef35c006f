/** The published contract matches the service. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import * as contract from '@keyreeve/contract';
import { assertDeclared, assertSuccess } from '../../../../test-kit/declared-answers.ts';
import { basic, bearer, goodPassword, newApp, type Answered } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const server = new URL('../../../../', import.meta.url);
const sources = globSync(['src/**/test/*.test.ts', 'test-kit/*.ts'], { cwd: server })
  .filter((path) => !import.meta.url.endsWith(path))
  .map((path) => readFileSync(new URL(path, server), 'utf8'));

test(
  'the published document contains exactly the routes of the service',
  { tags: ['asvs:2.1.1', 'asvs:8.1.1'] },
  async () => {
    await using app = await newApp();
    const published = await app.call('GET', '/openapi.json');
    assert.deepEqual(
      [published.status, published.headers.get('content-type')],
      [200, 'application/json; charset=utf-8'],
    );
    assert.deepEqual(published.json, contract.openApiDocument(contract.allRoutes));
    const { openapi, info, paths } = published.json as { openapi: string; info: { version: string }; paths: object };
    assert.match(openapi, /^3\.1\.\d+$/);
    assert.match(info.version, /^\d+\.\d+\.\d+$/);
    const templates = new Set(contract.allRoutes.map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}')));
    assert.deepEqual(Object.keys(paths).toSorted(), [...templates].toSorted());
  },
);

test('a public validator accepts the published document as OpenAPI 3.1', async () => {
  await using app = await newApp();
  const document = (await app.call('GET', '/openapi.json')).json as Record<string, unknown>;
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  assert.deepEqual([valid, errors, validator.version], [true, undefined, '3.1']);
  // The validator detects errors.
  const broken = await new Validator().validate({ ...structuredClone(document), info: {} });
  assert.equal(broken.valid, false);
});

test(
  'every response has the schema, status and headers that its route declares',
  { tags: ['asvs:3.7.2', 'asvs:4.1.1', 'asvs:8.1.2', 'asvs:15.3.1'] },
  async () => {
    await using app = await newApp();
    const { account, accessToken, refreshToken } = await app.signIn();
    const headers = bearer(accessToken);
    const service = bearer(await app.serviceKey());
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const json = { nickname: 'a', scopes: ['x'], expiresAt: '2027-01-31T00:00:00Z' };
    const created = await app.call('POST', '/auth/api-keys', { headers, json });
    const { id, key } = created.json as contract.CreatedKey;
    const credentials = [key, accessToken, refreshToken, 'x'];
    const introspect = (token: string) =>
      app.call('POST', '/auth/introspect', { headers: { ...service, ...form }, body: `token=${token}` });
    const answers: readonly (readonly [contract.RouteContract, Answered])[] = [
      [contract.issueTokens, await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) })],
      [contract.refreshTokens, await app.call('POST', '/auth/token/refresh', { json: { refreshToken } })],
      [contract.createKey, created],
      [contract.forward, await app.call('GET', '/auth/forward', { headers: bearer(key) })],
      [contract.forward, await app.call('GET', '/auth/forward', { headers })],
      [contract.verify, await app.call('POST', '/auth/verify', { headers: service, json: { credential: key } })],
      [contract.verify, await app.call('POST', '/auth/verify', { headers: service, json: { credential: 'x' } })],
      [contract.verifyBatch, await app.call('POST', '/auth/verify/batch', { headers: service, json: { credentials } })],
      [contract.introspect, await introspect(key)],
      [contract.introspect, await introspect(accessToken)],
      [contract.introspect, await introspect('x')],
      [contract.listKeys, await app.call('GET', '/auth/api-keys', { headers })],
      [contract.listKeys, await app.call('GET', '/auth/api-keys?view=full', { headers })],
      [contract.deleteKey, await app.call('DELETE', `/auth/api-keys/${id}`, { headers })],
      [contract.revokeTokens, await app.call('POST', '/auth/token/revoke', { json: { refreshToken } })],
      [contract.getJwks, await app.call('GET', '/.well-known/jwks.json')],
      [contract.getMetadata, await app.call('GET', '/.well-known/oauth-authorization-server')],
      [contract.live, await app.call('GET', '/health/live')],
      [contract.ready, await app.call('GET', '/health/ready')],
      [contract.getOpenApi, await app.call('GET', '/openapi.json')],
      ...(await Promise.all(
        contract.allRoutes
          .filter(({ path }) => path.startsWith('/account/'))
          .map(async (page) => [page, await app.call('GET', page.path)] as const),
      )),
      [contract.getProblem, await app.call('GET', '/problems/not_found')],
    ];
    for (const [route, answer] of answers) assertSuccess(route, answer);
    // All answers to tests are held against the contract (`TestApp.call`), so each other route need only be called by one.
    const tried = new Set(answers.map(([route]) => route));
    for (const route of contract.allRoutes)
      if (!tried.has(route)) assert.ok(isCalled(route), `${route.id} is called by no test`);
  },
);

test('the tests reject a response with a member that its route does not declare', async () => {
  await using app = await newApp();
  const { accessToken } = await app.signIn();
  const answer = await app.call('GET', '/auth/account', { headers: bearer(accessToken) });
  const extended = { ...answer, json: { ...(answer.json as object), passwordHash: 'x' } };
  assertDeclared('GET', '/auth/account', answer);
  assert.throws(() => assertDeclared('GET', '/auth/account', extended), assert.AssertionError);
  const problem = await app.call('GET', '/auth/account');
  const extendedProblem = { ...problem, json: { ...(problem.json as object), stack: 'x' } };
  assert.throws(() => assertDeclared('GET', '/auth/account', extendedProblem), assert.AssertionError);
});

/** Whether a test contains the route's path. */
function isCalled({ path }: contract.RouteContract): boolean {
  const target = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/`]+' : RegExp.escape(segment)));
  // The complete path, or its end as a test composes it.
  const ends = target.map((_, index) => target.slice(index).join('/')).join('|');
  const literal = new RegExp(`(?:['"\`]/?(?:${ends})|[$][{]\\w+[}]/${target.at(-1)})['"\`?#]`);
  return sources.some((text) => literal.test(text));
}
