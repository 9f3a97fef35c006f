/** Tampering with the audit log in the database is found with its place. */
import assert from 'node:assert/strict';
import * as accounts from '../../accounts/store.ts';
import { recordEventsTx } from '../audit.ts';
import { findCheckpoints } from '../chain.ts';
import { takeCheckpoint } from '../checkpoint.ts';
import { findingsMax, verifyLog, type LogKeys, type Verified } from '../verify-log.ts';
import { deriveKeys } from '../../../foundation/crypto/master-key.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { deleteAccount, disableAccount } from '../../../../test-kit/store-changes.ts';

const otherKeys = deriveKeys(Buffer.alloc(32, 8));

const verify = (db: Db, checkpoints: readonly string[] = [], by: LogKeys = keys): Promise<Verified> =>
  db.snapshot((reader) => verifyLog(reader, by, { now, checkpoints: checkpoints.flatMap(findCheckpoints) }));

const checkpoint = async (db: Db, key = keys.auditChain): Promise<string> =>
  (await takeCheckpoint(db, key))?.text ?? '';

let statements = 0;
/** Changes the database directly, as an attacker could. */
const tamper = (db: Db, ...changes: readonly string[]): Promise<void> =>
  db.transaction(async (tx) => {
    for (const change of changes) await tx.run(sql(`test_tamper_${++statements}`, change));
  });

/** Ada's chain has five events, ids 1, 3, 4, 5 and 6; Bob's has one, id 2. */
async function fill(db: Db): Promise<void> {
  await addAccount(db, 'ada');
  await addAccount(db, 'bob');
  for (let round = 0; round < 2; round++) {
    await disableAccount(db, { principal: operator, now }, 'acc_ada');
    await accounts.enableAccount(db, { principal: operator, now }, 'acc_ada');
  }
}

const chainOfEvent = sql<{ chain: number }>('test_chain_of', 'select chain from audit_events where id = $1');

const where = (id: number): string => `where id = ${id}`;
const set = (change: string, id = 4): string => `update audit_events set ${change} ${where(id)}`;
const adas = `chain = (select chain from audit_events where id = 1)`;

type Place = readonly [fault: string, position: number | null, eventId: number | null];

/** By kind of tampering: the statements, and the expected findings in Ada's chain. */
const tamperings: Readonly<Record<string, { changes: readonly string[]; found: readonly Place[] }>> = {
  'another time': { changes: [set('at = at + 1')], found: [['edited', 3, 4]] },
  'another actor': { changes: [set(`actor = 'system'`)], found: [['edited', 3, 4]] },
  'another action': { changes: [set(`action = 'account.disabled'`)], found: [['edited', 3, 4]] },
  'another account': { changes: [set(`account_id = 'acc_bob'`)], found: [['edited', 3, 4]] },
  'no account': { changes: [set('account_id = null')], found: [['edited', 3, 4]] },
  'another target': { changes: [set(`target = 'acc_bob'`)], found: [['edited', 3, 4]] },
  'no target': { changes: [set('target = null')], found: [['edited', 3, 4]] },
  'details where there were none': { changes: [set(`details = '{}'`)], found: [['edited', 3, 4]] },
  // The next event covers it too.
  'a removed MAC': {
    changes: [set('mac = null')],
    found: [
      ['edited', 3, 4],
      ['edited', 4, 5],
    ],
  },
  'the MAC of another event': {
    changes: [set('mac = (select mac from audit_events where id = 5)')],
    found: [
      ['edited', 3, 4],
      ['edited', 4, 5],
    ],
  },
  'the first event edited': { changes: [set(`details = '{"role":"admin"}'`, 1)], found: [['edited', 1, 1]] },
  'the last event edited': { changes: [set('at = 0', 6)], found: [['edited', 5, 6]] },
  'an event deleted': { changes: [`delete from audit_events ${where(4)}`], found: [['missing', 3, 5]] },
  'two events deleted': { changes: [`delete from audit_events where id in (3, 4)`], found: [['missing', 2, 5]] },
  'the first event deleted': { changes: [`delete from audit_events ${where(1)}`], found: [['missing', 1, 3]] },
  'an event deleted, and the later ones moved up': {
    changes: [
      `delete from audit_events ${where(4)}`,
      set('position = 3', 5),
      set('position = 4', 6),
      `update audit_chains set events = 4 where ${adas}`,
    ],
    found: [
      ['edited', 3, 5],
      ['edited', 4, 6],
    ],
  },
  'the last event cut off': { changes: [`delete from audit_events ${where(6)}`], found: [['cut', 5, null]] },
  'everything after the first cut off': {
    changes: [`delete from audit_events where id > 2`],
    found: [['cut', 2, null]],
  },
  'the counter raised': { changes: [`update audit_chains set events = 9 where ${adas}`], found: [['cut', 6, null]] },
  'the counter lowered': { changes: [`update audit_chains set events = 4 where ${adas}`], found: [['edited', 5, 6]] },
  'the counter deleted': { changes: [`delete from audit_chains where ${adas}`], found: [['edited', 5, 6]] },
  'two events swapped by their ids': {
    changes: [set('id = 99', 4), set('id = 4', 5), set('id = 5', 99)],
    found: [['reordered', 4, 4]],
  },
  'two events swapped by their positions': {
    changes: [set('position = 99', 4), set('position = 3', 5), set('position = 4', 4)],
    found: [
      ['edited', 3, 5],
      ['reordered', 4, 4],
      ['edited', 5, 6],
    ],
  },
  'an event without a place': {
    changes: [
      `insert into audit_events (at, actor, action, account_id, target) values (${now}, 'operator', 'account.enabled', 'acc_ada', 'acc_ada')`,
    ],
    found: [['unchained', null, 7]],
  },
  'an event removed from its chain': {
    changes: [set('chain = null')],
    found: [
      ['missing', 3, 5],
      ['unchained', 3, 4],
    ],
  },
  'an event without a position': {
    changes: [set('position = null')],
    found: [
      ['missing', 3, 5],
      ['unchained', null, 4],
    ],
  },
  'an event before the first position': {
    changes: [set('position = 0')],
    found: [
      ['missing', 3, 5],
      ['unchained', 0, 4],
    ],
  },
  'an event added at the end': {
    changes: [
      `insert into audit_events (at, actor, action, account_id, target, chain, position, mac)
       select at, actor, action, account_id, target, chain, position + 1, mac from audit_events ${where(6)}`,
      `update audit_chains set events = 6 where ${adas}`,
    ],
    found: [['edited', 6, 7]],
  },
};

for (const [name, { changes, found }] of Object.entries(tamperings)) {
  onEachDatabase(`tampering is found at its place: ${name}`, { tags: ['asvs:16.4.2'] }, async ({ db }) => {
    await fill(db);
    assert.equal((await verify(db)).findingsTotal, 0);
    const { chain } = (await db.get(chainOfEvent, [1])) ?? {};
    await tamper(db, ...changes);
    const { findings, findingsTotal } = await verify(db);
    assert.deepEqual(
      findings.map(({ fault, position, eventId }) => [fault, position, eventId]),
      found,
    );
    assert.equal(findingsTotal, found.length);
    for (const finding of findings) assert.equal(finding.chain, finding.detail === 'it is in no chain' ? null : chain);
  });
}

onEachDatabase(
  'a truncation with a matching counter is found by an earlier checkpoint, and not by a later one',
  { tags: ['asvs:16.4.3'] },
  async ({ db }) => {
    await fill(db);
    const early = await checkpoint(db);
    await disableAccount(db, { principal: operator, now }, 'acc_ada');
    const late = await checkpoint(db);
    const { findings, checkpointsHeld, checkpoint: current } = await verify(db, [early, late]);
    assert.deepEqual([findings, checkpointsHeld, current], [[], 2, late]);
    const { chain } = (await db.get(chainOfEvent, [1])) ?? {};
    await tamper(db, `delete from audit_events ${where(7)}`, `update audit_chains set events = 5 where ${adas}`);
    assert.equal((await verify(db, [early])).findingsTotal, 0);
    assert.deepEqual((await verify(db, [early, late])).findings, [
      {
        fault: 'cut',
        chain,
        position: 6,
        eventId: null,
        detail: `the checkpoint ${late} covers this event, which is missing`,
      },
    ]);
    // Other events at its place do not hide it.
    await accounts.enableAccount(db, { principal: operator, now }, 'acc_ada');
    await disableAccount(db, { principal: operator, now }, 'acc_ada');
    assert.deepEqual(
      (await verify(db, [late])).findings.map(({ fault }) => fault),
      ['checkpoint'],
    );
  },
);

onEachDatabase('a removed chain with its counter is found by a checkpoint', async ({ db }) => {
  await fill(db);
  const before = await checkpoint(db);
  await tamper(db, `delete from audit_chains where ${adas}`, `delete from audit_events where ${adas}`);
  assert.equal((await verify(db)).findingsTotal, 0);
  const [finding] = (await verify(db, [before])).findings;
  assert.deepEqual([finding?.fault, finding?.position], ['cut', 5]);
});

onEachDatabase('a checkpoint that was edited or is of another installation is reported', async ({ db }) => {
  await fill(db);
  const text = await checkpoint(db);
  const [version, positions = '', mac = ''] = text.split('.');
  const fewer = positions.replace(/\d(?!.*\d)/, (digit) => String(Number(digit) - 1));
  for (const wrong of [await checkpoint(db, otherKeys.auditChain), `${version}.${fewer}.${mac}`]) {
    const { findings } = await verify(db, [wrong]);
    assert.deepEqual(
      findings.map(({ fault }) => fault),
      ['checkpoint'],
      wrong,
    );
  }
  assert.equal((await verify(db, [text])).findingsTotal, 0);
});

onEachDatabase('no event is valid under another key', { tags: ['asvs:16.4.2'] }, async ({ db }) => {
  await fill(db);
  const { findings, findingsTotal } = await verify(db, [], otherKeys);
  assert.deepEqual([findingsTotal, findings.every(({ fault }) => fault === 'edited')], [6, true]);
});

onEachDatabase('tampering with the last event does not prevent later events', async ({ db }) => {
  await fill(db);
  await tamper(db, set('mac = null', 6));
  await disableAccount(db, { principal: operator, now }, 'acc_ada');
  await tamper(db, `delete from audit_events ${where(7)}`);
  await deleteAccount(db, { principal: operator, now }, 'acc_ada');
  assert.deepEqual(
    (await verify(db)).findings.map(({ fault, position, eventId }) => [fault, position, eventId]),
    [
      ['edited', 5, 6],
      ['missing', 6, 8],
    ],
  );
});

onEachDatabase('an empty audit log is valid and has no checkpoint', async ({ db }) => {
  assert.deepEqual(await verify(db), {
    events: 0,
    chains: 0,
    eventsRemoved: 0,
    removedBefore: null,
    checkpointsHeld: 0,
    checkpointsCutAway: 0,
    checkpoint: null,
    findingsTotal: 0,
    findings: [],
  });
  assert.equal(await takeCheckpoint(db, keys.auditChain), undefined);
});

onEachDatabase('all pages of events are read, and the number of findings is bounded', async ({ db }) => {
  const events = findingsMax * 2 + 100;
  const happened = (index: number) =>
    ({ at: now, principal: operator, action: 'account.enabled', accountId: 'acc_ada', target: String(index) }) as const;
  for (let from = 0; from < events; from += 700) {
    const size = Math.min(700, events - from);
    await db.transaction((tx) =>
      recordEventsTx(
        tx,
        Array.from({ length: size }, (_, index) => happened(from + index)),
      ),
    );
  }
  assert.deepEqual([(await verify(db)).events, (await verify(db)).findingsTotal], [events, 0]);
  await tamper(db, set('at = 0', events));
  assert.deepEqual(
    (await verify(db)).findings.map(({ position }) => position),
    [events],
  );
  await tamper(db, `update audit_events set at = 0`);
  const { findings, findingsTotal } = await verify(db);
  assert.deepEqual([findings.length, findingsTotal], [findingsMax, events]);
});

onEachDatabase('an event without a place is found also before the first event with one', async ({ db }) => {
  await tamper(db, `insert into audit_events (at, actor, action) values (${now}, 'operator', 'account.created')`);
  await fill(db);
  const { findings } = await verify(db);
  assert.deepEqual(
    findings.map(({ fault, eventId }) => [fault, eventId]),
    [['unchained', 1]],
  );
});
