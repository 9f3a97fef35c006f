/** Each way in which a portal session ends: the next request of its key page is rejected, also by another instance. */
import assert from 'node:assert/strict';
import { test as nodeTest } from 'node:test';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/key-client.ts';
import { newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { currentKind } from '../../../../test-kit/new-db.ts';
import { hostOrigin, newPortalBackend, redeem, stateOf, type OpenPortal } from '../../../../test-kit/portal.ts';
import { systemClock } from '../../../foundation/clock.ts';
import { assertMayActForTx } from '../../service-accounts/acting.ts';
import { endings, prepare } from './endings.ts';

/** The clock of PostgreSQL counts for the expiry of a key, too. */
function catchUp({ clock }: TestApp): void {
  clock.advance({ seconds: Math.max(0, Math.ceil((systemClock.now() - clock.now()) / 1_000)) });
}

/** The transaction of a change of a request that began while the session was valid. */
async function newChange({ service, db, clock }: TestApp, { secret }: OpenPortal): Promise<() => Promise<void>> {
  const principal = await service.services.portal.sessions.authenticate({ kind: 'bearer', text: secret });
  return () => db.transaction((tx) => assertMayActForTx(tx, principal, principal.serviceAccountId, clock.now()));
}

async function assertEnds(app: TestApp, others: readonly TestApp[]): Promise<void> {
  catchUp(app);
  const all = [...others, app];
  for (const ending of Object.entries(endings)) {
    const { what, open, end } = await prepare(app, ending);
    const changes = await Promise.all(all.map((at) => newChange(at, open)));
    for (const at of all) assert.equal((await stateOf(at, open)).status, 200, `before: ${what}`);
    for (const change of changes) await change();
    await end();
    for (const at of all) assertRejected(await stateOf(at, open), 'portal_session_ended', what);
    for (const change of changes) await assert.rejects(change(), { code: 'portal_session_ended' }, what);
  }
}

test('a session ends with everything on which it depends, also for a change that has begun', async () => {
  await using app = await newApp();
  await assertEnds(app, []);
});

nodeTest('a session that ends on one instance is rejected by the next request to another (postgres)', () =>
  currentKind.run('postgres', async () => {
    await using app = await newApp();
    await using other = await newApp({ place: app.place, clock: app.clock });
    await assertEnds(app, [other]);
  }),
);

test('a session acts for no other service account of the same owner', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const json = { name: 'another', externalId: 'another' };
  const created = await app.call('POST', '/auth/service-accounts', { headers: backend.headers, json });
  const { id: another } = created.json as { id: string };
  const { secret } = await backend.open();
  const principal = await app.service.services.portal.sessions.authenticate({ kind: 'bearer', text: secret });
  for (const id of [another, backend.accountId])
    await assert.rejects(
      app.db.transaction((tx) => assertMayActForTx(tx, principal, id, app.clock.now())),
      { code: 'account_not_found' },
    );
});

test('the IP ranges of the management key are those of the backend, not of browsers', async () => {
  await using app = await newApp({ environment: { KEYREEVE_TRUSTED_PROXIES: '127.0.0.0/8' } });
  const backend = await newPortalBackend(app);
  const session = await backend.create();
  await app.service.services.keyChanges.change(operator, backend.accountId, backend.keyId, {
    addresses: ['192.0.2.7'],
  });
  const browser = { 'x-forwarded-for': '198.51.100.9' };
  const opened = await redeem(app, session, { ...browser, origin: new URL(app.service.publicUrl).origin });
  assert.equal(opened.status, 201, opened.text);
  assertRejected(await backend.request({ origin: hostOrigin }), 'invalid_management_key');
});

test('another management key of the owner ends a session, and its deletion does not', async () => {
  await using app = await newApp();
  const backend = await newPortalBackend(app);
  const open = await backend.open();
  const { apiKeys } = app.service.services;
  const make = (nickname: string) =>
    apiKeys.create(operator, backend.accountId, { nickname, scopes: ['keyreeve:keys'] });
  const [deleted, used] = [await make('deleted'), await make('used')];
  await apiKeys.delete(operator, backend.accountId, deleted.id);
  assert.equal((await stateOf(app, open)).status, 200);
  const headers = { authorization: `Bearer ${used.secret.reveal()}` };
  assert.equal((await app.call('DELETE', `/auth/portal-sessions/${open.id}`, { headers })).status, 204);
  assertRejected(await stateOf(app, open), 'portal_session_ended');
});
