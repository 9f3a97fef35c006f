/** An attacker who can write to the database, but has no master key, cannot hide events behind a cut. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { chainOf } from '../../audit/chain.ts';
import { sealOf, type Cut } from '../../audit/cuts.ts';
import { listCuts } from '../../audit/cut-store.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { keys, now } from '../../../../test-kit/rows.ts';
import { daysAgo, newRetention, record, tamper, verify } from './retention-kit.ts';

const chain = chainOf('acc_ada');
const update = sql(
  'test_update_cut',
  'update audit_cuts set position = $2, mac = $3, event_id = $4, events_before = $5, days = $6, cut_at = $7, seal = $8 where chain = $1',
);

/** Positions 1 and 2 of the chain were removed; 3, 4 and 5 remain. */
async function cutTwo(db: Db): Promise<Cut> {
  await record(db, [50, 40, 5, 4, 0]);
  await newRetention(db, new FakeClock(now)).retention.apply();
  const cut = (await listCuts(db)).find((one) => one.chain === chain);
  assert.ok(cut);
  return cut;
}

const faultsIn = async (db: Db, keptDays?: number): Promise<string[]> =>
  (await verify(db, { keptDays })).findings.map(({ fault, position }) => `${fault} ${position}`);

const replace = (db: Db, cut: Cut, seal: Uint8Array): Promise<unknown> =>
  db.transaction((tx) =>
    tx.run(update, [cut.chain, cut.position, cut.mac, cut.eventId, cut.eventsBefore, cut.days, cut.cutAt, seal]),
  );

const edits: Readonly<Record<string, readonly [statement: string, faults: readonly string[]]>> = {
  'the position moved, and the events before it deleted': [
    `delete from audit_events where chain = ${chain} and position = 3; update audit_cuts set position = 3 where chain = ${chain}`,
    ['retention 3', 'missing 1'],
  ],
  'another time': [`update audit_cuts set events_before = 0 where chain = ${chain}`, ['retention 2', 'missing 1']],
  'other days': [`update audit_cuts set days = 31 where chain = ${chain}`, ['retention 2', 'missing 1']],
  'another MAC': [
    `update audit_cuts set mac = (select mac from audit_events where chain = ${chain} and position = 3) where chain = ${chain}`,
    ['retention 2', 'missing 1'],
  ],
  'a shorter seal': [`update audit_cuts set seal = mac where chain = ${chain}`, ['retention 2', 'missing 1']],
  'the cut moved to another chain': [
    `update audit_cuts set chain = 39 where chain = ${chain}`,
    ['retention 2', 'missing 1', 'edited 0'],
  ],
  'the cut deleted': [`delete from audit_cuts where chain = ${chain}`, ['missing 1']],
  'an event after the cut deleted': [`delete from audit_events where chain = ${chain} and position = 3`, ['missing 3']],
  'all events after the cut deleted': [`delete from audit_events where chain = ${chain}`, ['cut 1']],
  'all events after the cut deleted, and the counter lowered': [
    `delete from audit_events where chain = ${chain}; update audit_chains set events = 2 where chain = ${chain}`,
    ['cut 1'],
  ],
  'a removed event added again': [
    `insert into audit_events (id, at, actor, action, chain, position) values (1, 0, 'x', 'account.enabled', ${chain}, 1)`,
    ['edited 1'],
  ],
};

for (const [what, [statements, faults]] of Object.entries(edits))
  onEachDatabase(`a changed cut is found: ${what}`, async ({ db }) => {
    await cutTwo(db);
    await tamper(db, ...statements.split(';'));
    assert.deepEqual((await faultsIn(db)).toSorted(), [...faults].toSorted());
  });

onEachDatabase('a cut of another chain or installation is found', async ({ db }) => {
  const cut = await cutTwo(db);
  await replace(db, cut, sealOf(deriveKeys(Buffer.alloc(32, 8)).auditCut, cut));
  assert.deepEqual(await faultsIn(db), ['retention 2', 'missing 1']);
  await replace(db, cut, sealOf(keys.auditCut, { ...cut, chain: chain + 1 }));
  assert.deepEqual(await faultsIn(db), ['retention 2', 'missing 1']);
  await replace(db, cut, sealOf(keys.auditCut, cut));
  assert.deepEqual(await faultsIn(db), []);
});

onEachDatabase('an earlier cut reveals the events that were removed after it', async ({ db }) => {
  const cut = await cutTwo(db);
  const { retention, pass } = newRetention(db, new FakeClock(now));
  for (let day = 0; day < 26; day += 2) {
    pass(2);
    await retention.apply();
  }
  await replace(db, cut, sealOf(keys.auditCut, cut));
  assert.deepEqual(
    (await verify(db, { now: now + 26 * dayMs })).findings.map(({ fault }) => fault),
    ['missing'],
  );
});

onEachDatabase('a cut that is younger than the days of the setting, or than 30 days, is found', async ({ db }) => {
  const cut = await cutTwo(db);
  for (const [change, keptDays, faults] of [
    [{ eventsBefore: daysAgo(30) }, 30, []],
    [{ eventsBefore: daysAgo(30) + 1 }, 30, ['retention 2']],
    [{ eventsBefore: daysAgo(40), days: 90 }, 60, ['retention 2']],
    [{ eventsBefore: daysAgo(40), days: 90 }, 40, []],
    // Without the setting, the days of the cut count.
    [{ eventsBefore: daysAgo(89), days: 90 }, undefined, ['retention 2']],
    // The setting has become longer since the cut.
    [{ eventsBefore: daysAgo(40), days: 30 }, 90, []],
    [{ eventsBefore: daysAgo(20), days: 10 }, undefined, ['retention 2']],
  ] as const) {
    const young = { ...cut, ...change };
    await replace(db, young, sealOf(keys.auditCut, young));
    assert.deepEqual(await faultsIn(db, keptDays), faults, JSON.stringify([change, keptDays]));
  }
});
