/** Issuers of a file: what ends with their changes, which ones are adopted, and what a restore repeats. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { newIdentityIssuer, newIssuerKey } from '../../../../test-kit/identity-issuer.ts';
import { addAccount, addServiceAccount, now, operator } from '../../../../test-kit/rows.ts';
import { codeOf } from '../../../../test-kit/store-on-each-database.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { nothingReplayed } from '../../backup/replay.ts';
import { backUp, journalIn, newBackupFolder, replay, restore } from '../../backup/test/backup-kit.ts';
import { toIssuer } from '../../issuers/routes.ts';
import { applied, newApplyFolder, onEachInstallation, openNew, servicesOn } from './apply-kit.ts';

const rsa = newIssuerKey('RS256');
const publicUrl = 'https://keys.example.com';

const issuersOf = async ({ issuers }: Services) => (await issuers.list(operator, null)).map(toIssuer);

/** An issuer that a file declares, a key that trusts it, and two instances. */
async function fixture(db: Db) {
  const clock = new FakeClock(Math.floor(Date.now() / 1_000) * 1_000);
  const issuer = await newIdentityIssuer({ keys: [rsa], clock, audience: publicUrl });
  const options = { config: testConfig(issuer.environment), clock, issuer: publicUrl };
  const [one, other] = [wireOn(db, options), wireOn(db, options)];
  const folder = newApplyFolder();
  const declared = { url: issuer.url, preset: 'gitlab', algorithms: ['RS256', 'ES256'] } as const;
  const name = issuer.url.slice(0, 24);
  assert.deepEqual(await applied(one, folder.load({ generation: 1, issuers: [declared] })), [`create issuer ${name}`]);
  const trust = { issuer: issuer.url, claims: { project_id: '20' } };
  const accountId = await addAccount(db);
  const { id: keyId } = await one.apiKeys.createWithIdentity(operator, accountId, { nickname: 'a' }, { trust });
  const exchange = async (): Promise<string> => {
    const request = { token: issuer.token('gitlab'), clientId: String(keyId), clientIp: '127.0.0.1' };
    return (await one.tokenExchange.exchange(request)).secret.reveal();
  };
  /** `valid`, or the code of the refusal, by both instances. */
  const outcomes = (secret: string): Promise<string[]> =>
    Promise.all(
      [one, other].map(async ({ verifier }) => {
        const result = await verifier.verify(secret);
        return result.valid ? 'valid' : result.code;
      }),
    );
  const dispose = async (): Promise<void> => {
    folder[Symbol.dispose]();
    await issuer[Symbol.asyncDispose]();
  };
  return { one, issuer, folder, declared, name, exchange, outcomes, [Symbol.asyncDispose]: dispose };
}

onEachInstallation(
  'a later file narrows an issuer and removes it, which ends the secrets that were issued for its tokens',
  async ({ db }) => {
    await using at = await fixture(db);
    const { one, folder, declared, name } = at;
    const [added] = await issuersOf(one);
    assert.ok(added);
    assert.deepEqual(
      [added.preset, added.replay, added.idClaims],
      ['gitlab', 'until-exp', ['/project_id', '/namespace_id']],
    );
    let secret = await at.exchange();

    // A longer lifetime removes no rights, and an absent member keeps its value.
    const widened = folder.load({ generation: 2, issuers: [{ url: declared.url, lifetimeSeconds: 7_200 }] });
    assert.deepEqual(await applied(one, widened), [`change issuer ${name} lifetimeSeconds`]);
    assert.deepEqual(await at.outcomes(secret), ['valid', 'valid']);

    const narrowed = folder.load({
      generation: 3,
      issuers: [{ ...declared, algorithms: ['RS256'], jwks: { keys: [rsa.jwk] } }],
    });
    assert.deepEqual(await applied(one, narrowed, { isDryRun: true }), [`change issuer ${name} algorithms jwks`]);
    assert.deepEqual(await at.outcomes(secret), ['valid', 'valid'], 'a dry run changes nothing');
    assert.deepEqual(await applied(one, narrowed), [`change issuer ${name} algorithms jwks`]);
    assert.deepEqual(await at.outcomes(secret), ['not_found', 'not_found']);
    const event = (await listAuditEvents(db)).findLast(({ action }) => action === 'issuer.updated');
    const details = JSON.parse(event?.details ?? '{}') as Record<string, unknown>;
    assert.equal(event?.target, String(added.id));
    assert.deepEqual(details['narrowed'], ['algorithms', 'jwks']);
    assert.deepEqual(details['before'], { algorithms: ['RS256', 'ES256'], jwks: null });
    assert.deepEqual((details['after'] as { algorithms: unknown }).algorithms, ['RS256']);
    assert.equal(details['source'], 'apply');

    secret = await at.exchange();
    assert.deepEqual(await applied(one, narrowed), []);
    assert.deepEqual(await at.outcomes(secret), ['valid', 'valid'], 'applied twice');
    const removed = folder.load({ generation: 4, issuers: [{ url: declared.url, state: 'absent' }] });
    assert.deepEqual(await applied(one, removed), [`delete issuer ${name}`]);
    assert.deepEqual(await at.outcomes(secret), ['not_found', 'not_found']);
    assert.equal(await at.exchange().catch(codeOf), 'invalid_grant');
    assert.deepEqual(await applied(one, folder.load({ generation: 5, issuers: [declared] })), [
      `keep_deleted issuer ${name}`,
    ]);
    assert.deepEqual(await issuersOf(one), []);
  },
);

onEachInstallation(
  'a file uses the common issuer with its URL, also one that was added again by hand',
  async ({ db }) => {
    using folder = newApplyFolder();
    const services = servicesOn(db);
    const { issuers } = services;
    const url = 'https://id.example.com';
    const owner = await addServiceAccount(db, [await addAccount(db)]);
    const own = await issuers.add(operator, owner, { url, lifetimeSeconds: 60 });
    const byHand = await issuers.add(operator, null, { url, lifetimeSeconds: 900 });
    const entry = { url, lifetimeSeconds: 600, jwks: null };
    assert.deepEqual(await applied(services, folder.load({ generation: 1, issuers: [entry] })), [
      `change issuer ${url} lifetimeSeconds`,
    ]);
    assert.deepEqual(
      await applied(services, folder.load({ generation: 2 }), { prunes: true }),
      [],
      'it was not created',
    );
    await issuers.remove(operator, { id: byHand.id });
    const file = folder.load({ generation: 3, issuers: [entry] });
    assert.deepEqual(await applied(services, file), [`keep_deleted issuer ${url}`]);
    const again = await issuers.add(operator, null, { url });
    assert.deepEqual(await applied(services, file), [`change issuer ${url} lifetimeSeconds`]);
    assert.deepEqual(
      (await issuersOf(services)).map(({ id, lifetimeSeconds }) => [id, lifetimeSeconds]),
      [[again.id, 600]],
    );
    const absent = folder.load({ generation: 4, issuers: [{ url, state: 'absent' }] });
    assert.deepEqual(await applied(services, absent), [`delete issuer ${url}`]);
    assert.deepEqual(await issuersOf(services), []);
    assert.equal((await issuers.find(operator, { id: own.id })).lifetimeSeconds, 60, 'that of a service account stays');
  },
);

onEachInstallation('a file with more issuers than an installation can have adds none', async ({ db }) => {
  using folder = newApplyFolder();
  const services = servicesOn(db);
  const issuers = Array.from({ length: limits.issuersMax + 1 }, (_, index) => ({
    url: `https://i${index}.example.com`,
  }));
  await assert.rejects(applied(services, folder.load({ generation: 1, issuers })), {
    message: new RegExp(`^/issuers/${limits.issuersMax}: `),
  });
  assert.deepEqual(await issuersOf(services), []);
});

const urls = ['https://kept.example.com', 'https://less.example.com', 'https://gone.example.com'] as const;
const [, narrowedUrl, goneUrl] = urls;
const byUrl = async (services: Services) =>
  (await issuersOf(services)).toSorted((one, other) => (one.url < other.url ? -1 : 1));

for (const [when, isApplied] of Object.entries({ after: true, before: false }))
  onEachInstallation(
    `a backup from ${when} the file was applied restores no removed issuer, and a narrowed one accepts no token`,
    async ({ db }) => {
      using temp = newBackupFolder();
      using folder = newApplyFolder();
      const issuers = urls.map((url) => ({ url, algorithms: ['RS256', 'ES256'] }));
      const file = folder.load({ generation: 1, issuers });
      const services = servicesOn(db, now + 10, temp.folder);
      if (isApplied) await applied(services, file);
      await backUp(db, temp.backup);
      if (!isApplied) await applied(services, file);
      const [gone, kept, narrowed] = await byUrl(services);
      const next = folder.load({
        generation: 2,
        issuers: [
          { url: narrowedUrl, algorithms: ['RS256'] },
          { url: goneUrl, state: 'absent' },
        ],
      });
      await applied(servicesOn(db, now + 20, temp.folder), next);

      // The journal has the entries that apply has recorded itself, and is not completed from the audit log.
      await using target = await openNew(db.dialect);
      const journal = journalIn(target.db, temp.folder);
      const { replayed } = await restore(target.db, temp.backup, { journal, acceptsRevival: true });
      const changed = isApplied ? { issuersNarrowed: 1, issuersRemoved: 1 } : {};
      assert.deepEqual(replayed, { ...nothingReplayed, ...changed, filesApplied: isApplied ? 1 : 2 });
      const restored = servicesOn(target.db, now + 100_000, temp.folder);
      const found = new Map((await issuersOf(restored)).map(({ id, algorithms }) => [id, algorithms]));
      const expected: readonly (readonly [unknown, readonly string[]])[] = [
        [kept?.id, ['RS256', 'ES256']],
        [narrowed?.id, []],
      ];
      assert.deepEqual(found, new Map(isApplied ? expected : []));

      await assert.rejects(applied(restored, file), { message: /generation 1, and one of the generation 2/ });
      assert.deepEqual(await applied(restored, next, { isStart: true }), [], 'a start applies a generation once');
      // The older content with a later generation.
      const rolledBack = folder.load({ generation: 3, issuers: [...issuers.slice(0, 1), ...issuers.slice(2)] });
      assert.deepEqual(await applied(restored, rolledBack), [
        ...(isApplied ? [] : ['create issuer https://kept.example.com']),
        'keep_deleted issuer https://gone.example.com',
      ]);
      const stated = folder.load({ generation: 4, issuers: [{ url: narrowedUrl, algorithms: ['RS256'] }] });
      assert.deepEqual(await applied(restored, stated), [
        isApplied ? 'change issuer https://less.example.com algorithms' : 'create issuer https://less.example.com',
      ]);
      const [first, second] = await byUrl(restored);
      assert.deepEqual([first?.id, second?.id], [kept?.id, narrowed?.id], 'an entry has the same id again');
      assert.notEqual(first?.id, gone?.id);
      assert.deepEqual(second?.algorithms, ['RS256']);
      await journalIn(target.db, temp.folder).catchUp();
      assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed);
    },
  );
