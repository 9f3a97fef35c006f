/** Concurrent changes of scopes, entitlements and keys, through two instances. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, addSession, keys, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase, outcomes, race, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { ScopeCatalogue } from '../scope-catalogue.ts';

const open = { description: '', entitled: false };
const marked = { description: '', entitled: true };

onEachDatabase(
  'no key gets a scope after its entitlement is removed, and none that got it before has it in force',
  { tags: ['asvs:2.3.4'] },
  async (opened) => {
    const config = { ...testConfig(), scopes: 'catalogue', creationsPerMinuteMax: 1_000 } as const;
    const clock = new FakeClock(now);
    const wired = new Map<Db, Services>();
    const on = (db: Db): Services => {
      const services = wired.get(db) ?? wireOn(db, { config, clock });
      wired.set(db, services);
      return services;
    };
    const { apiKeys, entitlements, scopeCatalogue, verifier } = on(opened.db);
    const accountId = await addAccount(opened.db);
    const { id: sessionId } = await addSession(opened.db, accountId, 'session');
    const owner = { kind: 'account', accountId, sessionId, role: 'user', signedInAt: now } as const;
    await scopeCatalogue.set(operator, 'open', open);
    await scopeCatalogue.set(operator, 'paid', marked);
    await entitlements.set(operator, accountId, ['paid']);
    const existing = await apiKeys.create(operator, accountId, { nickname: 'existing', scopes: ['open'] });

    const secrets = [existing.secret.reveal()];
    const settled = await race(opened, rivalsMin + 1, async (db, rival) => {
      const services = on(db);
      if (rival === rivalsMin / 2) return services.entitlements.set(operator, accountId, []).then(() => 'removed');
      if (rival % 4 === 0) {
        await services.keyChanges.change(owner, accountId, existing.id, { scopes: ['open', 'paid'] });
        return 'granted';
      }
      const request = { nickname: `rival ${rival}`, scopes: ['open', 'paid'] };
      secrets.push((await services.apiKeys.create(owner, accountId, request)).secret.reveal());
      return 'granted';
    });
    const { removed, granted = 0, scope_not_entitled: rejected = 0, ...others } = outcomes(settled);
    assert.deepEqual([removed, granted + rejected, others], [1, rivalsMin, {}]);
    for (const secret of secrets) {
      const result = await verifier.verify(secret, { clientIp: () => undefined, scopes: [] });
      assert.ok(result.valid && result.type === 'api_key');
      assert.equal(result.scopes, 'open');
    }
    const events = await listAuditEvents(opened.db);
    const removal = events.findLastIndex(({ action }) => action === 'account.entitlements_set');
    const after = events.slice(removal + 1).filter(({ details }) => details?.includes('paid'));
    assert.deepEqual(after, [], 'no key got the scope later');
    await assert.rejects(apiKeys.create(owner, accountId, { nickname: 'late', scopes: ['paid'] }), {
      code: 'scope_not_entitled',
    });
  },
);

onEachDatabase('a change of the description of a scope keeps a mark that is set meanwhile', async (opened) => {
  const on = (db: Db): ScopeCatalogue =>
    new ScopeCatalogue({ db, clock: new FakeClock(now), revocations: undefined, isEnforced: true });
  // The row of the installation is the lock.
  await claimInstallation(opened.db, keys.check, now);
  await on(opened.db).set(operator, 'paid', open);
  const settled = await race(opened, rivalsMin + 1, (db, rival) => {
    const change = rival === rivalsMin / 2 ? { entitled: true } : { description: `description ${rival}` };
    return on(db)
      .set(operator, 'paid', change)
      .then(() => 'set');
  });
  assert.deepEqual(outcomes(settled), { set: rivalsMin + 1 });
  const { needsEntitlement, description } = await on(opened.db).find('paid');
  assert.equal(needsEntitlement, 1);
  assert.match(description, /^description \d+$/, 'the mark kept the description');
});
