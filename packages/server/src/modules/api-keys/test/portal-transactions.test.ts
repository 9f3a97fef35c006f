/** The transactions of a portal session check again what may have changed since its request began. */
import assert from 'node:assert/strict';
import { portalCapabilities, type PortalCapability } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import type { TestDb } from '../../../../test-kit/new-db.ts';
import { addAccount, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { KeyPrincipal, PortalPrincipal } from '../../../foundation/principal.ts';
import { manageScope } from '../scopes.ts';

/** A portal session whose request has begun, and a key of its service account with a previous secret. */
let fixtures = 0;
async function fixture({ db }: Pick<TestDb, 'db'>) {
  const clock = new FakeClock();
  const services = wireOn(db, { clock });
  const { apiKeys, keyChanges, portal, serviceAccounts, verifier } = services;
  const ownerId = await addAccount(db, `backend${++fixtures}`);
  const managing = await apiKeys.create(operator, ownerId, { nickname: 'backend', scopes: [manageScope] });
  const lookup = verifier.lookupOf(managing.secret.reveal());
  const backend: KeyPrincipal = { kind: 'key', keyId: managing.id, accountId: ownerId, lookup, addresses: null };
  const externalId = 'tenant';
  const { id: serviceId } = await serviceAccounts.create(operator, ownerId, { name: externalId, externalId });
  const capabilities = Object.keys(portalCapabilities) as PortalCapability[];
  const scopes = ['orders:read'];
  const created = await portal.sessions.create(backend, {
    externalId,
    capabilities,
    scopes,
    returnUrl: 'https://a.example',
  });
  const { secret } = await portal.sessions.redeem({ id: created.id, token: new URL(created.url).hash.slice(1) });
  const principal = await portal.sessions.authenticate({ kind: 'bearer', text: secret.reveal() });
  const { id } = await apiKeys.create(operator, serviceId, { nickname: 'worker', scopes });
  await keyChanges.rotate(operator, serviceId, id, { overlapSeconds: 7_200, endPrevious: false });
  return { clock, services, ownerId, backend, serviceId, sessionId: created.id, principal, id };
}
type Fixture = Awaited<ReturnType<typeof fixture>>;

type Write = (services: Services, principal: PortalPrincipal, id: number) => Promise<unknown>;

const writes: Readonly<Record<string, Write>> = {
  creation: ({ apiKeys }, principal) => apiKeys.create(principal, principal.serviceAccountId, { nickname: 'another' }),
  change: ({ keyChanges }, principal, id) =>
    keyChanges.change(principal, principal.serviceAccountId, id, { nickname: 'renamed' }),
  rotation: ({ keyChanges }, principal, id) =>
    keyChanges.rotate(principal, principal.serviceAccountId, id, { overlapSeconds: 0, endPrevious: true }),
  'end of the previous secret': ({ keyChanges }, principal, id) =>
    keyChanges.endPrevious(principal, principal.serviceAccountId, id),
  deletion: ({ apiKeys }, principal, id) => apiKeys.delete(principal, principal.serviceAccountId, id),
};

/** By what ends the session. */
const endings: Readonly<Record<string, (of: Fixture) => Promise<unknown>>> = {
  'the end of the session': ({ services, backend, sessionId }) => services.portal.sessions.end(backend, sessionId),
  'its time': ({ clock }) => Promise.resolve(clock.advance({ seconds: 3_600 })),
  'the deletion of the management key': ({ services, ownerId, backend }) =>
    services.apiKeys.delete(operator, ownerId, backend.keyId),
  'the disabling of the management key': ({ services, ownerId, backend }) =>
    services.keyChanges.change(operator, ownerId, backend.keyId, { disabled: true }),
  'the end of the scope of the management key': ({ services, ownerId, backend }) =>
    services.keyChanges.change(operator, ownerId, backend.keyId, { scopes: [] }),
  'a rotation of the management key without an overlap': ({ services, ownerId, backend }) =>
    services.keyChanges.rotate(operator, ownerId, backend.keyId, { overlapSeconds: 0, endPrevious: false }),
  'the disabling of the owner': ({ services, ownerId }) => services.accounts.disable(operator, ownerId),
  'the disabling of the service account': ({ services, serviceId }) => services.accounts.disable(operator, serviceId),
  'the removal of the manager': ({ services, ownerId, serviceId }) =>
    services.managers.remove(operator, serviceId, ownerId),
};

onEachDatabase('a portal session that ended after its request began changes nothing', async (opened) => {
  for (const [ending, end] of Object.entries(endings)) {
    const of = await fixture(opened);
    await end(of);
    const events = await listAuditEvents(opened.db);
    for (const [name, write] of Object.entries(writes)) {
      const refused = write(of.services, of.principal, of.id);
      assert.equal(await refused.then(() => 'done', codeOf), 'portal_session_ended', `${name} after ${ending}`);
    }
    assert.deepEqual(await listAuditEvents(opened.db), events, ending);
  }
});

/** Makes the change when the request has read everything, immediately before its transaction. */
async function writeAfter(
  { db }: TestDb,
  of: Fixture,
  write: Write,
  meanwhile: () => Promise<unknown>,
): Promise<unknown> {
  const held = withTransaction(db, async (work, options) => {
    await meanwhile();
    return db.transaction(work, options);
  });
  return write(wireOn(held, { clock: of.clock }), of.principal, of.id).then(() => 'done', codeOf);
}

onEachDatabase(
  'each change of a portal session decides on the session and the key in its transaction',
  async (opened) => {
    const nothing = (): Promise<void> => Promise.resolve();
    const withScopes = (of: Fixture, scopes: readonly string[]): Promise<unknown> =>
      of.services.keyChanges.change(operator, of.serviceId, of.id, { scopes });
    for (const [name, write] of Object.entries(writes)) {
      const refusedFor = (scopes: string): string => {
        if (name === 'creation') return 'done';
        if (name === 'rotation') return 'scope_not_entitled';
        return scopes === 'reserved' ? 'key_not_found' : 'done';
      };
      for (const [what, meanwhile, expected] of [
        ['without a change', nothing, 'done'],
        ['the session ends', endings['the end of the session'] ?? nothing, 'portal_session_ended'],
        ['a reserved scope', (of: Fixture) => withScopes(of, ['keyreeve:verify']), refusedFor('reserved')],
        ['another scope', (of: Fixture) => withScopes(of, ['orders:write']), refusedFor('other')],
      ] as const) {
        const of = await fixture(opened);
        assert.equal(await writeAfter(opened, of, write, () => meanwhile(of)), expected, `${name}: ${what}`);
      }
    }
  },
);

onEachDatabase('no key is created after the end of a portal session', async (opened) => {
  const of = await fixture(opened);
  const { services, backend, sessionId, serviceId, principal } = of;
  const other = wireOn(await opened.connect(), { clock: of.clock });
  const settled = await race(opened, rivalsMin, async (db, rival) => {
    if (rival === rivalsMin / 2) return services.portal.sessions.end(backend, sessionId).then(() => 'ended');
    const { apiKeys } = db === opened.db ? services : other;
    return apiKeys.create(principal, serviceId, { nickname: `key ${rival}` }).then(() => 'created');
  });
  const { ended, created = 0, portal_session_ended: refused = 0, ...others } = outcomes(settled);
  assert.deepEqual([ended, created + refused, others], [1, rivalsMin - 1, {}]);
  const actions = (await listAuditEvents(opened.db)).map(({ action, actor }) => `${action} ${actor.split(':')[0]}`);
  const end = actions.indexOf('portal_session.ended key');
  assert.equal(actions.slice(0, end).filter((action) => action === 'api_key.created portal').length, created);
});
