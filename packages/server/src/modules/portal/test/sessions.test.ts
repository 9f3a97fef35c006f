/** Portal sessions over HTTP: creation, redemption, state, end, and what the audit log has of them. */
import assert from 'node:assert/strict';
import { limits, type PortalSession } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { bearer, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { hostOrigin, newPortalBackend, redeem, stateOf, tokenOf } from '../../../../test-kit/portal.ts';
import { until } from '../../../../test-kit/until.ts';
import { aheadMsMax } from '../../../foundation/clock.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { deleteExpiredPortalSessions, deletePortalSessionsAhead } from '../store.ts';

const capabilities = ['read', 'create', 'rotate', 'limit', 'delete'];
const returnUrl = `${hostOrigin}/settings`;
const rows = sql<{ id: string; text: string }>(
  'test_portal_sessions',
  `select id, data || coalesce(person, '') as text from portal_sessions order by created_at, id`,
);
/** Copies of a session, whose tokens were used, and which have no person. */
const fill = sql(
  'test_fill_portal_sessions',
  `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < $1)
   insert into portal_sessions (id, account_pk, key_id, key_lookup, token_hash, data, person, created_at, redeemed_at, expires_at)
   select 'por_' || n, account_pk, key_id, key_lookup, token_hash, data, person, $3, $3, expires_at
   from portal_sessions cross join numbers where id = $2`,
);
const ids = async ({ db }: TestApp): Promise<string[]> => (await db.all(rows)).map(({ id }) => id);
const ofOwn = (app: TestApp) => ({ origin: new URL(app.service.publicUrl).origin });

testOnBoth('a token becomes the secret of a session with what the backend has stated', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const created = await backend.request({ person: { id: 'u_7', name: 'Ada' }, returnUrl });
  assert.deepEqual([created.status, created.headers.get('cache-control')], [201, 'no-store']);
  const session = created.json as { id: string; url: string; expiresAt: string; tokenExpiresAt: string };
  assert.match(session.id, /^por_[0-9A-Za-z]{22}$/);
  assert.match(session.url, new RegExp(`^${app.service.publicUrl}/portal/${session.id}#krvp_[0-9A-Za-z]{49}$`));
  const now = app.clock.now();
  assert.deepEqual(
    [session.tokenExpiresAt, session.expiresAt].map((text) => Date.parse(text) - now),
    [limits.portalTokenSeconds * 1_000, limits.portalSessionSeconds * 1_000],
  );
  app.clock.advance({ seconds: limits.portalTokenSeconds - 1 });
  const opened = await redeem(app, session);
  assert.deepEqual([opened.status, opened.headers.get('cache-control')], [201, 'no-store']);
  const { secret, ...redeemed } = opened.json as { secret: string };
  assert.match(secret, /^krvq_[0-9A-Za-z]{49}$/);
  const { publicUrl } = app.service;
  const expected: PortalSession = {
    id: session.id,
    display: 'frame',
    origin: hostOrigin,
    returnUrl,
    capabilities: ['read', 'create', 'rotate', 'limit', 'delete'],
    scopes: [],
    anyScope: true,
    person: { id: 'u_7', name: 'Ada' },
    serviceAccount: { name: 'tenant' },
    product: 'localhost',
    mark: null,
    verificationUrl: publicUrl,
    exampleRequest: null,
    usageDays: 400,
    keyDaysMax: 0,
    environments: [],
    expiresAt: session.expiresAt,
    now: new Date(app.clock.now()).toISOString(),
  };
  assert.deepEqual(redeemed, expected);
  const headers = bearer(secret);
  assert.deepEqual((await stateOf(app, { headers })).json, expected);
  assertRejected(await redeem(app, session), 'portal_token_invalid');
  app.clock.advance({ seconds: limits.portalSessionSeconds - limits.portalTokenSeconds });
  assert.equal((await stateOf(app, { headers })).status, 200, 'one second before the end');
  app.clock.advance({ seconds: 1 });
  assertRejected(await stateOf(app, { headers }), 'portal_session_ended');
  assert.equal(await deleteExpiredPortalSessions(app.db, app.clock.now(), 10), 1);
  assert.deepEqual(await ids(app), []);
  // Neither the log nor the database has them.
  for (const text of [tokenOf(session), secret]) assert.ok(!app.logLines.some((line) => line.includes(text)));
});

testOnBoth('every token that does not work gets the same response', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const used = await backend.create();
  assert.equal((await redeem(app, used)).status, 201);
  const late = await backend.create();
  app.clock.advance({ seconds: limits.portalTokenSeconds });
  const session = await backend.create();
  const other = await backend.create();
  const ended = await backend.create();
  await app.call('DELETE', `/auth/portal-sessions/${ended.id}`, { headers: backend.headers });
  const token = tokenOf(session);
  const { secret } = await backend.open();
  const cases: Readonly<Record<string, readonly [id: string, token: string]>> = {
    'a used token': [used.id, tokenOf(used)],
    'an expired token': [late.id, tokenOf(late)],
    'a token of another session': [session.id, tokenOf(other)],
    'the token of an ended session': [ended.id, tokenOf(ended)],
    'a token with a changed character': [session.id, token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')],
    'a token with another prefix': [session.id, token.replace('krvp', 'krvq')],
    'the secret of a session': [session.id, secret],
    'an unknown id': [`por_${'0'.repeat(22)}`, token],
    'an id that PostgreSQL rejects': ['por_\u0000', token],
    'an empty id': ['', token],
  };
  const problems = new Set<string>();
  for (const [what, [id, text]] of Object.entries(cases)) {
    const answer = await app.call('POST', '/auth/portal/session', {
      headers: ofOwn(app),
      json: { id, token: text },
    });
    assertRejected(answer, 'portal_token_invalid', what);
    const { requestId: _, ...problem } = answer.json as Record<string, string>;
    problems.add(JSON.stringify(problem));
  }
  assert.equal(problems.size, 1);
  assert.equal((await redeem(app, session)).status, 201, 'the token itself still works');
});

test('only the key page redeems a token: a browser states the origin of a request', async () => {
  await using app = await newApp();
  const session = await (await newPortalBackend(app)).create();
  const { origin } = ofOwn(app);
  const others: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: hostOrigin },
    { origin: 'null' },
    { origin: `${origin}.example.com` },
    { origin: origin.replace('http:', 'https:') },
  ];
  for (const headers of others)
    assertRejected(await redeem(app, session, headers), 'cross_origin_request', JSON.stringify(headers));
  assert.equal((await redeem(app, session)).status, 201);
});

test('a secret is accepted as Bearer only, and opens nothing else', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const { secret, headers } = await backend.open();
  const refused: readonly Readonly<Record<string, string>>[] = [
    {},
    { 'x-api-key': secret },
    { authorization: `Basic ${Buffer.from(`a:${secret}`).toString('base64')}` },
    bearer(`${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`),
    bearer(secret.replace('krvq', 'krvp')),
    backend.headers,
    bearer((await app.signIn()).accessToken),
  ];
  for (const given of refused)
    assertRejected(
      await stateOf(app, { headers: given as typeof headers }),
      'portal_session_ended',
      JSON.stringify(given),
    );
  const both = { ...headers, 'x-api-key': secret };
  assertRejected(await stateOf(app, { headers: both }), 'ambiguous_credentials');
  const ended = await app.call('DELETE', '/auth/portal/session', {});
  assertRejected(ended, 'portal_session_ended');
  assertRejected(await app.call('GET', '/auth/account', { headers }), 'invalid_access_token');
  assertRejected(await app.call('GET', `${backend.path}/api-keys`, { headers }), 'invalid_management_key');
});

testOnBoth('a session ends by its backend, by its key page, and by no other owner of a management key', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const stranger = await newPortalBackend(app);
  const end = (id: string, headers = backend.headers) => app.call('DELETE', `/auth/portal-sessions/${id}`, { headers });
  const open = await backend.open({ person: { id: 'u_7', name: 'Ada' } });
  const unused = await backend.create();
  for (const id of [open.id, unused.id, 'por_\u0000', 'unknown'])
    assertRejected(await end(encodeURIComponent(id), stranger.headers), 'portal_session_not_found', id);
  assert.equal((await stateOf(app, open)).status, 200);
  assert.equal((await end(open.id)).status, 204);
  assertRejected(await stateOf(app, open), 'portal_session_ended');
  assertRejected(await end(open.id), 'portal_session_not_found');
  assert.equal((await end(unused.id)).status, 204);
  assertRejected(await redeem(app, unused), 'portal_token_invalid');
  const own = await backend.open();
  const endOwn = () => app.call('DELETE', '/auth/portal/session', { headers: own.headers });
  assert.equal((await endOwn()).status, 204);
  assertRejected(await endOwn(), 'portal_session_ended');
  assert.deepEqual(await ids(app), []);
});

test('a session that ends while its service account is disabled does not continue afterwards', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const [ended, suspended] = [await backend.open(), await backend.open()];
  await app.service.services.accounts.disable(operator, backend.serviceId);
  const end = () => app.call('DELETE', `/auth/portal-sessions/${ended.id}`, { headers: backend.headers });
  assert.equal((await end()).status, 204);
  assert.equal((await stateOf(app, suspended)).status, 401);
  await app.service.services.accounts.enable(operator, backend.serviceId);
  assert.equal((await stateOf(app, ended)).status, 401);
  assert.equal((await stateOf(app, suspended)).status, 200);
});

test('the audit log names the person, the management key and the session', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const person = { id: 'u_7', name: 'Ada' };
  const open = await backend.open({ person, scopes: ['orders:read'] });
  await app.call('DELETE', '/auth/portal/session', { headers: open.headers });
  const { id } = await backend.create({ capabilities: ['read'] });
  await app.call('DELETE', `/auth/portal-sessions/${id}`, { headers: backend.headers });
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action.startsWith('portal_session.'));
  const key = `key:${backend.keyId}`;
  assert.deepEqual(
    events.map(({ action, actor, accountId, target, details }) => [
      action,
      actor,
      accountId,
      target,
      details && JSON.parse(details),
    ]),
    [
      [
        'portal_session.created',
        key,
        backend.serviceId,
        open.id,
        { capabilities, scopes: ['orders:read'], person, origin: hostOrigin },
      ],
      ['portal_session.ended', `portal:${open.id}`, backend.serviceId, open.id, { person }],
      [
        'portal_session.created',
        key,
        backend.serviceId,
        id,
        { capabilities: ['read'], scopes: null, person: null, origin: hostOrigin },
      ],
      ['portal_session.ended', key, backend.serviceId, id, null],
    ],
  );
});

test('a page without a frame needs only the URL to return to', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const state = (await stateOf(app, await backend.open({ origin: undefined, returnUrl }))).json as PortalSession;
  assert.deepEqual([state.display, state.origin, state.returnUrl], ['page', null, returnUrl]);
});

test('scopes are at most what the service account can give its keys, in each request', async () => {
  await using app = await newApp({ environment: { KEYREEVE_SCOPES: 'catalogue' } });
  const { entitlements, scopeCatalogue } = app.service.services;
  const backend = await newPortalBackend(app);
  await scopeCatalogue.set(operator, 'orders:read', { description: 'Read orders', entitled: true });
  await scopeCatalogue.set(operator, 'orders:write', { description: 'Write orders', entitled: true });
  await scopeCatalogue.set(operator, 'status', { description: 'Read the status', entitled: false });
  await entitlements.set(operator, backend.serviceId, ['orders:read']);
  for (const scope of ['orders:write', 'unknown', 'keyreeve:keys', 'keyreeve:verify']) {
    const answer = await backend.request({ scopes: ['orders:read', scope] });
    assertRejected(answer, 'scope_not_entitled', scope);
    assert.deepEqual((answer.json as { errors: { pointer: string }[] }).errors[0]?.pointer, '/scopes/1', scope);
  }
  const all = await backend.open();
  const one = await backend.open({ scopes: ['orders:read'] });
  const none = await backend.open({ scopes: [] });
  const scopesOf = async (open: typeof all): Promise<readonly (string | boolean)[]> => {
    const { scopes, anyScope } = (await stateOf(app, open)).json as PortalSession;
    return [...scopes.map(({ name, description }) => `${name}: ${description}`), anyScope];
  };
  assert.deepEqual(await scopesOf(all), ['orders:read: Read orders', 'status: Read the status', false]);
  assert.deepEqual(await scopesOf(one), ['orders:read: Read orders', false]);
  assert.deepEqual(await scopesOf(none), [false]);
  await entitlements.set(operator, backend.serviceId, []);
  assert.deepEqual(await scopesOf(all), ['status: Read the status', false]);
  assert.deepEqual(await scopesOf(one), [false]);
});

test('without a catalogue, a session without scopes can give any, and the given ones need no declaration', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  await app.service.services.scopeCatalogue.set(operator, 'orders:read', { description: 'Read orders' });
  const open = await backend.open({ scopes: ['status', 'orders:read'] });
  const { scopes, anyScope } = (await stateOf(app, open)).json as PortalSession;
  assert.deepEqual(
    [scopes, anyScope],
    [
      [
        { name: 'orders:read', description: 'Read orders' },
        { name: 'status', description: '' },
      ],
      false,
    ],
  );
  assertRejected(await backend.request({ scopes: ['keyreeve:verify'] }), 'scope_not_entitled');
});

testOnBoth('of more sessions than the bound, the person with the most loses one', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  const backend = await newPortalBackend(app);
  const step = async <T>(made: Promise<T>): Promise<T> => {
    const result = await made;
    app.clock.advance({ seconds: 1 });
    return result;
  };
  const eve = await step(backend.open({ person: { id: 'eve' } }));
  const unused = await step(backend.create({ person: { id: 'eve' } }));
  const first = await step(backend.open({ person: { id: 'ada' } }));
  const fillTx = app.db.transaction((tx) => tx.run(fill, [limits.portalSessionsMax - 4, first.id, app.clock.now()]));
  await step(fillTx);
  const pending = await step(backend.create({ person: { id: 'ada' } }));
  const isOpen = async (): Promise<boolean[]> => {
    const open = new Set(await ids(app));
    return [eve.id, unused.id, first.id, pending.id].map((id) => open.has(id));
  };
  assert.deepEqual(await isOpen(), [true, true, true, true]);
  await step(backend.open({ person: { id: 'ada' } }));
  assert.deepEqual(await isOpen(), [true, true, true, false], 'her unused one first');
  await step(backend.open({ person: { id: 'new' } }));
  assert.deepEqual(await isOpen(), [true, true, false, false], 'then her oldest one');
  assertRejected(await stateOf(app, first), 'portal_session_ended');
  assert.equal((await stateOf(app, eve)).status, 200);
  assert.equal((await ids(app)).length, limits.portalSessionsMax);
  const evicted = (await listAuditEvents(app.db)).filter(({ details }) => details === '{"evicted":true}');
  assert.deepEqual(
    evicted.map(({ target }) => target),
    [pending.id, first.id],
  );
});

test('sessions that began while a clock was ahead have ended, and are not counted', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const ahead = await backend.open();
  const shift = sql('test_shift_portal_sessions', 'update portal_sessions set created_at = $1, expires_at = $2');
  const later = app.clock.now() + aheadMsMax + 1;
  await app.db.transaction((tx) => tx.run(shift, [later, later + 3_600_000]));
  assertRejected(await stateOf(app, ahead), 'portal_session_ended');
  const { id } = await backend.create();
  assert.deepEqual(await ids(app), [id]);
});

testOnBoth('a session that began while a clock was ahead is not valid again when that time comes', async () => {
  await using app = await newApp();
  const [backend, other] = [await newPortalBackend(app), await newPortalBackend(app)];
  app.clock.advance({ days: 30 });
  const ahead = await backend.open();
  app.clock.advance({ days: -30, seconds: aheadMsMax / 1_000 });
  const { id } = await other.open();
  app.clock.advance({ seconds: -aheadMsMax / 1_000 });
  assert.equal(await deletePortalSessionsAhead(app.db, app.clock, 10), 1);
  assert.deepEqual(await ids(app), [id]);
  app.clock.advance({ days: 30 });
  assertRejected(await stateOf(app, ahead), 'portal_session_ended');
});

test('creations are bounded for each service account, and for each owner', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'on' } });
  const backend = await newPortalBackend(app);
  const count = sql('test_count_portal_sessions', 'update rate_limit_buckets set count = $1 where count = $2');
  await backend.create();
  // Both counters are 1.
  await app.db.transaction((tx) => tx.run(count, [limits.portalSessionsPerHourMax, 1]));
  const refused = await backend.request();
  assertRejected(refused, 'too_many_portal_sessions');
  assert.equal(refused.headers.get('retry-after'), '3600');
  app.clock.advance({ seconds: 3_600 });
  assert.equal((await backend.request()).status, 201);
  await app.db.transaction((tx) => tx.run(count, [limits.portalSessionsPerOwnerMax, 1]));
  assertRejected(await backend.request(), 'too_many_portal_sessions');
});

test('housekeeping deletes sessions that have ended', async () => {
  await using at = await newApp();
  await (await newPortalBackend(at)).create();
  at.clock.advance({ seconds: limits.portalTokenSeconds });
  await using other = await newApp({ place: at.place, clock: at.clock });
  await until('the row is deleted', async () => (await ids(other)).length === 0);
});
