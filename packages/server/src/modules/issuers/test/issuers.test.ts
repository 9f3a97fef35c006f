/** What administrators, operators and management keys do with issuers, and which settings are valid. */
import assert from 'node:assert/strict';
import { issuerPresets, limits, type Issuer } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { bearer, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { newBackend } from '../../../../test-kit/service-accounts.ts';

const github = 'https://token.actions.githubusercontent.com';
const { jwk } = newIssuerKey('ES256', 'a1');

async function fixture() {
  const app = await newApp();
  const admin = await newAdministrator(app);
  const call = (method: string, path: string, json?: unknown): Promise<Answered> =>
    administer(app, admin, method, path, json);
  const add = async (body: object): Promise<Issuer> => {
    const added = await call('POST', 'issuers', body);
    assert.equal(added.status, 201, added.text);
    return added.json as Issuer;
  };
  return { app, admin, call, add, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

const eventsOf = async (app: TestApp): Promise<unknown[]> =>
  (await listAuditEvents(app.db))
    .filter(({ action }) => action.startsWith('issuer.'))
    .map(({ action, actor, accountId, target, details }) => [
      action,
      actor,
      accountId,
      target,
      JSON.parse(details ?? '{}'),
    ]);

testOnBoth('an administrator adds, lists, reads, changes and removes issuers, with audit events', async () => {
  await using at = await fixture();
  const { app, admin, call } = at;
  const answer = await call('POST', 'issuers', { url: github });
  const added = answer.json as Issuer;
  assert.equal(answer.headers.get('location'), `/admin/issuers/${added.id}`);
  const time = new Date(app.clock.now()).toISOString();
  const { url, ...preset } = issuerPresets.github;
  const shown = { id: added.id, url, preset: 'github', ...preset, lifetimeSeconds: limits.issuerLifetimeSeconds };
  const whole = { ...shown, keys: 0, createdAt: time, updatedAt: time };
  assert.deepEqual(added, whole);
  assert.deepEqual((await call('GET', 'issuers')).json, { issuers: [whole] });
  assert.deepEqual((await call('GET', `issuers/${added.id}`)).json, whole);

  app.clock.advance({ seconds: 1 });
  const later = new Date(app.clock.now()).toISOString();
  const changed = await call('PATCH', `issuers/${added.id}`, { lifetimeSeconds: 900, listClaims: ['/groups'] });
  assert.deepEqual(changed.json, { ...whole, lifetimeSeconds: 900, listClaims: ['/groups'], updatedAt: later });
  const same = await call('PATCH', `issuers/${added.id}`, { lifetimeSeconds: 900 });
  assert.deepEqual(same.json, changed.json, 'a change that changes nothing');
  const removed = await call('DELETE', `issuers/${added.id}`);
  assert.deepEqual(removed.json, { message: `The issuer ${github} has been removed. No key trusted it.` });
  assert.deepEqual((await call('GET', 'issuers')).json, { issuers: [] });

  const by = `account:${admin.account.id}`;
  const target = String(added.id);
  const settings = { ...preset, lifetimeSeconds: 3_600, jwks: null };
  assert.deepEqual(await eventsOf(app), [
    ['issuer.created', by, null, target, { url, preset: 'github', ...settings }],
    [
      'issuer.updated',
      by,
      null,
      target,
      {
        narrowed: ['lifetimeSeconds'],
        before: { lifetimeSeconds: 3_600, listClaims: [] },
        after: { lifetimeSeconds: 900, listClaims: ['/groups'] },
      },
    ],
    ['issuer.removed', by, null, target, { url, keys: 0 }],
  ]);
});

test('the preset of a request, or of the URL, supplies what the request does not state', async () => {
  await using at = await fixture();
  const none = await at.add({ url: 'https://issuer.example.com/tenant/1' });
  assert.deepEqual(
    [none.preset, none.algorithms, none.replay, none.idClaims, none.listClaims],
    [null, ['RS256'], 'until-exp', ['/sub'], []],
  );
  const gitlab = await at.add({ url: 'https://gitlab.example.com', preset: 'gitlab', algorithms: ['ES256'] });
  assert.deepEqual(
    [gitlab.preset, gitlab.algorithms, gitlab.replay, gitlab.idClaims],
    ['gitlab', ['ES256'], 'until-exp', [...issuerPresets.gitlab.idClaims]],
  );
  // An issuer of its own, with the settings of a preset.
  assert.equal((await at.add({ url: 'https://accounts.google.com', replay: 'once' })).replay, 'once');
});

test('only one issuer has a URL: one for all accounts, and one of each service account', async () => {
  await using at = await fixture();
  const backend = await newBackend(at.app);
  const { serviceId: accountId, headers, path } = backend;
  await at.add({ url: github });
  assertProblem(fromFetch(await at.call('POST', 'issuers', { url: github })), 'issuer_taken');
  const own = await at.app.call('POST', `${path}/issuers`, { headers, json: { url: github } });
  assert.equal(own.status, 201, own.text);
  assertProblem(fromFetch(await at.call('POST', 'issuers', { url: github, accountId })), 'issuer_taken');
  assert.equal(((await at.call('GET', 'issuers')).json as { issuers: Issuer[] }).issuers.length, 1);
  const listed = await at.call('GET', `issuers?accountId=${accountId}`);
  assert.deepEqual(listed.json, { issuers: [own.json] });
  assert.equal((own.json as Issuer).accountId, accountId);
});

testOnBoth('of 16 rivals, one adds an issuer, and the number of issuers is bounded', async () => {
  await using at = await fixture();
  const { serviceId, headers, path } = await newBackend(at.app);
  const add = (url: string): Promise<Answered> =>
    at.app.call('POST', `${path}/issuers`, { headers, json: { url: `https://${url}.example.com` } });
  const rivals = await Promise.all(Array.from({ length: 16 }, () => add('same')));
  assert.deepEqual(
    [201, 409].map((wanted) => rivals.filter(({ status }) => status === wanted).length),
    [1, 15],
  );
  const further = await Promise.all(Array.from({ length: 16 }, (_, index) => add(`n${index}`)));
  const max = limits.issuersPerAccountMax;
  assert.equal(further.filter(({ status }) => status === 201).length, max - 1);
  assertProblem(fromFetch(await add('more')), 'issuer_limit_reached');
  const { issuers } = (await at.app.call('GET', `${path}/issuers`, { headers })).json as { issuers: Issuer[] };
  assert.equal(issuers.length, max);
  // Another account, and the common ones, have their own bound.
  assert.equal((await at.call('POST', 'issuers', { url: 'https://more.example.com' })).status, 201);
  assert.ok(issuers.every(({ accountId }) => accountId === serviceId));
});

test('a management key changes only issuers of service accounts that its account manages', async () => {
  await using at = await fixture();
  const { app } = at;
  const [one, other] = [await newBackend(app), await newBackend(app)];
  const common = await at.add({ url: github });
  const made = await app.call('POST', `${one.path}/issuers`, { headers: one.headers, json: { url: github } });
  const { id } = made.json as Issuer;
  assert.equal(made.headers.get('location'), `${one.path}/issuers/${id}`);
  const send = (method: string, path: string, { headers }: Pick<typeof one, 'headers'> = one): Promise<Answered> =>
    app.call(method, path, { headers, ...(method === 'PATCH' ? { json: { lifetimeSeconds: 900 } } : {}) });
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    assertProblem(fromFetch(await send(method, `${one.path}/issuers/${common.id}`)), 'issuer_not_found', method);
    assertProblem(fromFetch(await send(method, `${other.path}/issuers/${id}`, other)), 'issuer_not_found', method);
    assertProblem(fromFetch(await send(method, `${one.path}/issuers/${id}`, other)), 'account_not_found', method);
    for (const wrong of ['0', '1e3', '01', 'abc', '99999999999999999'])
      assertProblem(fromFetch(await send(method, `${one.path}/issuers/${wrong}`)), 'issuer_not_found', wrong);
  }
  // A person who manages the service account reads only.
  const person = await app.signIn('manager@example.com');
  await app.service.services.managers.add(operator, one.serviceId, person.account.id);
  const asPerson = { headers: bearer(person.accessToken) };
  assert.equal((await send('GET', `${one.path}/issuers`, asPerson)).status, 200);
  for (const method of ['PATCH', 'DELETE'])
    assertProblem(fromFetch(await send(method, `${one.path}/issuers/${id}`, asPerson)), 'management_key_required');
  assert.equal((await send('PATCH', `${one.path}/issuers/${id}`)).status, 200);
  assert.equal((await send('DELETE', `${one.path}/issuers/${id}`)).status, 200);
  assert.deepEqual(
    (await eventsOf(app)).slice(1).map((event) => (event as unknown[]).slice(0, 3)),
    ['created', 'updated', 'removed'].map((verb) => [`issuer.${verb}`, `key:${one.keyId}`, one.serviceId]),
  );
  const missing = await at.call('POST', 'issuers', { url: github, accountId: 'acc_0000000000000000000000' });
  assertProblem(fromFetch(missing), 'account_not_found');
  const ofPerson = await at.call('POST', 'issuers', { url: github, accountId: person.account.id });
  assertProblem(fromFetch(ofPerson), 'account_not_found');
});

test('changes need a recent sign-in', async () => {
  await using at = await fixture();
  const { id } = await at.add({ url: github });
  at.app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  for (const [method, path, json] of [
    ['POST', 'issuers', { url: 'https://gitlab.com' }],
    ['PATCH', `issuers/${id}`, { lifetimeSeconds: 60 }],
    ['POST', `issuers/${id}/refresh`],
    ['DELETE', `issuers/${id}`],
  ] as const)
    assertProblem(fromFetch(await at.call(method, path, json)), 'reauth_required', `${method} ${path}`);
  assert.equal((await at.call('GET', `issuers/${id}`)).status, 200);
});

test('the URL of an issuer has one form, and leads to a public host', { tags: ['asvs:1.3.6'] }, async () => {
  await using at = await fixture();
  for (const url of [
    'http://issuer.example.com',
    'ftp://issuer.example.com',
    'issuer.example.com',
    'https://issuer.example.com:443',
    'https://issuer.example.com:8443',
    'https://Issuer.example.com',
    'https://issuer.example.com/?a=b',
    'https://issuer.example.com/#a',
    'https://issuer.example.com#',
    'https://user@issuer.example.com',
    'https://user:password@issuer.example.com',
    'https://issuer.example.com./',
    'https://issuer.example.com/a/../b',
    'https://issuer.example.com\\a',
    'https://bücher.example.com',
    ' https://issuer.example.com',
    'https://issuer.example.com/a b',
    'https://issuer.example.com/\u0000',
    'https://127.0.0.1',
    'https://2130706433',
    'https://0x7f.1',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://10.0.0.1/',
  ]) {
    const answer = await at.call('POST', 'issuers', { url });
    assertProblem(fromFetch(answer), 'issuer_url_refused', url);
  }
  const long = `https://issuer.example.com/${'a'.repeat(limits.issuerUrlCharsMax)}`;
  assertProblem(fromFetch(await at.call('POST', 'issuers', { url: long })), 'invalid_request');
  for (const url of ['https://issuer.example.com', 'https://issuer.example.com/', 'https://issuer.example.com/a/b'])
    await at.add({ url });
  // It is not fetched.
  const internal = await at.add({ url: 'https://10.0.0.1:6443', preset: 'kubernetes', jwks: { keys: [jwk] } });
  const fetched = await at.call('PATCH', `issuers/${internal.id}`, { jwks: null });
  assertProblem(fromFetch(fetched), 'issuer_url_refused');
});

test('a fixed JWK set has public keys for signatures, and keeps only their known members', async () => {
  await using at = await fixture();
  const { alg, use, ...bare } = jwk as Record<string, string>;
  const body = { url: 'https://cluster.example.com', preset: 'kubernetes' };
  const made = await at.add({ ...body, jwks: { keys: [{ ...bare, alg, use, x5c: ['MIIB'], custom: 1 }], other: 1 } });
  assert.deepEqual(made.jwks, { keys: [{ kty: 'EC', kid: 'a1', use, alg, crv: 'P-256', x: bare['x'], y: bare['y'] }] });
  const pointerOf = async (jwks: object): Promise<unknown> => {
    const answer = await at.call('PATCH', `issuers/${made.id}`, { jwks });
    assertProblem(fromFetch(answer), 'invalid_request');
    return (answer.json as { errors: { pointer: string }[] }).errors[0]?.pointer;
  };
  assert.equal(await pointerOf({ keys: [jwk, { ...jwk, d: 'secret' }] }), '/jwks/keys/1/d');
  assert.equal(await pointerOf({ keys: [{ kty: 'oct', k: 'secret' }] }), '/jwks/keys/0/k');
  assert.equal(await pointerOf({ keys: [{ ...jwk, use: 'enc' }] }), '/jwks');
  assert.equal(await pointerOf({ keys: [{ ...jwk, kid: 'a'.repeat(limits.issuerFixedKeySetBytesMax) }] }), '/jwks');
  assert.equal(await pointerOf({ keys: [] }), '/jwks/keys');
  const [event] = (await eventsOf(at.app)) as [unknown[]];
  assert.match((event.at(-1) as { jwks: string }).jwks, /^[\w-]{43}$/);
});

test('settings out of bounds are rejected', async () => {
  await using at = await fixture();
  const { id } = await at.add({ url: github });
  for (const [member, values] of Object.entries({
    algorithms: [[], ['none'], ['HS256'], ['RS256', 'RS256'], 'RS256', ['ES256K'], null],
    lifetimeSeconds: [0, limits.issuerLifetimeSecondsMin - 1, limits.issuerLifetimeSecondsMax + 1, 60.5, '60'],
    replay: ['never', '', null],
    idClaims: [[], ['sub'], ['/'], ['/a~2'], [''], ['//a'], ['/a', '/a'], [`/${'a'.repeat(256)}`], ['/a\u0000']],
    listClaims: [['groups'], ['/repository_id'], Array.from({ length: 11 }, (_, index) => `/${index}`)],
    url: ['https://gitlab.com'],
    preset: ['github'],
  }))
    for (const value of values) {
      const answer = await at.call('PATCH', `issuers/${id}`, { [member]: value });
      assertProblem(fromFetch(answer), 'invalid_request', `${member} ${JSON.stringify(value)}`);
    }
  assertProblem(fromFetch(await at.call('PATCH', `issuers/${id}`, {})), 'invalid_request');
  assertProblem(fromFetch(await at.call('POST', 'issuers', {})), 'invalid_request');
  assertProblem(fromFetch(await at.call('POST', 'issuers', { url: github, preset: 'azure' })), 'invalid_request');
});
