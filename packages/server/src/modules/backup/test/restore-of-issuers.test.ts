/** A restore does not widen an issuer that was narrowed or removed after the backup. */
import assert from 'node:assert/strict';
import type { Issuer } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { addAccount, addServiceAccount, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { toIssuer } from '../../issuers/routes.ts';
import { nothingReplayed } from '../replay.ts';
import { backUp, journalIn, newBackupFolder, replay, restore } from './backup-kit.ts';

const servicesOf = (db: Db, at: number): Services => wireOn(db, { clock: new FakeClock(at) });

const issuersOf = async (db: Db, accountId: string | null = null): Promise<Issuer[]> =>
  (await servicesOf(db, now).issuers.list(operator, accountId)).map(toIssuer);

onEachDatabase('a restore removes issuers again, and a narrowed one accepts no token', async ({ db }) => {
  using temp = newBackupFolder();
  await addAccount(db);
  const accountId = await addServiceAccount(db, ['acc_ada']);
  const before = servicesOf(db, now);
  const add = async (url: string, account: string | null = null): Promise<number> =>
    (await before.issuers.add(operator, account, { url: `https://${url}.example.com` })).id;
  const [same, narrowed, twice, removed, widened] = [
    await add('same'),
    await add('narrowed'),
    await add('twice', accountId),
    await add('removed', accountId),
    await add('widened'),
  ];
  // In the backup.
  await before.issuers.change(operator, { id: same }, { lifetimeSeconds: 60 });
  await backUp(db, temp.backup);
  const after = servicesOf(db, now + 10);
  await after.issuers.change(operator, { id: narrowed }, { replay: 'once' });
  await after.issuers.change(operator, { id: twice }, { lifetimeSeconds: 60 });
  await after.issuers.change(operator, { id: twice }, { lifetimeSeconds: 120, algorithms: ['ES256'] });
  await after.issuers.change(operator, { id: widened }, { lifetimeSeconds: 7_200 });
  await after.issuers.remove(operator, { id: removed });
  const created = await after.issuers.add(operator, null, { url: 'https://created.example.com' });
  await after.issuers.remove(operator, { id: created.id });
  const [current, currentOfAccount] = [await issuersOf(db), await issuersOf(db, accountId)];
  // As after a crash: the entries come from the audit log.
  await journalIn(db, temp.folder).catchUp();

  for (const openTarget of Object.values(databases)) {
    await using target = await openTarget();
    const { replayed } = await restore(target.db, temp.backup, { journal: journalIn(target.db, temp.folder) });
    assert.deepEqual(replayed, { ...nothingReplayed, issuersNarrowed: 2, issuersRemoved: 1 });
    const [common, ofAccount] = [await issuersOf(target.db), await issuersOf(target.db, accountId)];
    assert.deepEqual(
      new Map([...common, ...ofAccount].map((one) => [one.id, [one.algorithms, one.lifetimeSeconds]])),
      new Map([
        [same, [['RS256'], 60]],
        [narrowed, [[], 3_600]],
        [widened, [['RS256'], 3_600]],
        [twice, [[], 3_600]],
      ]),
    );
    const events = (await listAuditEvents(target.db)).filter(({ details }) => details?.includes('deletion_journal'));
    assert.deepEqual(
      events.map(({ action, accountId: of, target: id }) => [action, of, id].join(' ')).toSorted(),
      [
        `issuer.removed ${accountId} ${removed}`,
        `issuer.updated  ${narrowed}`,
        `issuer.updated ${accountId} ${twice}`,
      ].toSorted(),
    );
    // The algorithms that are stated after the restore stay.
    const settings = { algorithms: ['RS256' as const], replay: 'once' as const };
    await servicesOf(target.db, now).issuers.change(operator, { id: narrowed }, settings);
    assert.deepEqual(await replay(target.db, temp.folder), nothingReplayed);
    const again = (await issuersOf(target.db)).find(({ id }) => id === narrowed);
    assert.deepEqual([again?.algorithms, again?.replay], [['RS256'], 'once']);
  }
  // The database that has all changes has lost none.
  assert.deepEqual([await issuersOf(db), await issuersOf(db, accountId)], [current, currentOfAccount]);
});
