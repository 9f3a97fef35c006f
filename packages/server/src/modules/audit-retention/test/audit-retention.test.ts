/** The retention removes old audit events, and the rest of the audit log verifies. */
import assert from 'node:assert/strict';
import { dayMs, toInstant } from '../../../foundation/clock.ts';
import { databaseBytes } from '../../../foundation/database/size.ts';
import { unavailable } from '../../../foundation/database/unavailable.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { recordEventsTx } from '../../audit/audit.ts';
import { countKeptEvents, listCuts } from '../../audit/cut-store.ts';
import { takeCheckpoint } from '../../audit/checkpoint.ts';
import type { CutResult } from '../audit-cutter.ts';
import { findRetentionState } from '../store.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { agesIn, daysAgo, newRetention, record, tamper, verify } from './retention-kit.ts';

const ofInstallation = { accountId: undefined, target: undefined, action: 'installation.moved' } as const;

const cutEvents = async (db: Db) => (await listAuditEvents(db)).filter(({ action }) => action === 'audit.cut');

onEachDatabase('events older than the setting are removed, with one event, and the rest verifies', async ({ db }) => {
  await record(db, [50, 40, 31, 29, 0]);
  const { retention, runs } = newRetention(db, new FakeClock(now), { rowsPerCommitMax: 2 });
  await retention.apply();
  assert.deepEqual(await agesIn(db), [29, 0]);
  assert.deepEqual(runs, [{ removed: 3, blocked: undefined }]);
  const [event, ...others] = await cutEvents(db);
  assert.deepEqual(others, []);
  assert.deepEqual(
    { ...event },
    {
      at: now,
      actor: 'system',
      action: 'audit.cut',
      accountId: null,
      target: null,
      details: JSON.stringify({ before: toInstant(daysAgo(30)), days: 30 }),
    },
  );
  const { findings, events, eventsRemoved, removedBefore } = await verify(db, { keptDays: 30 });
  assert.deepEqual([findings, events, eventsRemoved, removedBefore], [[], 3, 3, daysAgo(30)]);
  // What the metrics show.
  assert.equal(await countKeptEvents(db), 3);
  assert.ok(Number.isInteger(await databaseBytes(db)));
});

onEachDatabase('without the setting, and within its days, nothing is removed', async ({ db }) => {
  await record(db, [4000, 2, 1]);
  await newRetention(db, new FakeClock(now), { keptDays: undefined }).retention.apply();
  assert.equal(await findRetentionState(db), undefined);
  const { retention, runs } = newRetention(db, new FakeClock(now), { keptDays: 4001 });
  await retention.apply();
  assert.deepEqual([await agesIn(db), runs, await listCuts(db)], [[4000, 2, 1], [], []]);
});

onEachDatabase('an empty audit log is not cut', async ({ db }) => {
  const { retention, runs } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual([await listAuditEvents(db), runs, (await verify(db)).findings], [[], [], []]);
});

onEachDatabase('the last event of a chain stays, and new events continue it', async ({ db }) => {
  await record(db, [50, 40]);
  const { retention, pass } = newRetention(db, new FakeClock(now));
  await record(db, [0], ofInstallation);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [40, 0]);
  await record(db, [0]);
  assert.deepEqual((await verify(db, { keptDays: 30 })).findings, []);
  pass(1);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [0, 0]);
  assert.deepEqual((await verify(db, { now: now + dayMs, keptDays: 30 })).findings, []);
});

onEachDatabase('a run is due once a day', async ({ db }) => {
  await record(db, [31, 0]);
  const { retention, pass } = newRetention(db, new FakeClock(now), { keptDays: 31 });
  await retention.apply();
  const events = [31, 0];
  assert.deepEqual(await agesIn(db), events);
  pass(0.9);
  await retention.apply();
  assert.deepEqual(await agesIn(db), events);
  pass(0.1);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [0]);
});

onEachDatabase('instances that cut at once make one run', async ({ db, connect }) => {
  await record(db, [...Array.from({ length: 40 }, () => 50), 0]);
  const connections = [db, await connect()];
  const clock = new FakeClock(now);
  const retentions = Array.from({ length: 16 }, (_, index) =>
    newRetention(connections[index % 2] ?? db, clock, { rowsPerCommitMax: 7 }),
  );
  await Promise.all(retentions.map(({ retention }) => retention.apply()));
  assert.deepEqual(
    retentions.flatMap(({ runs }) => runs),
    [{ removed: 40, blocked: undefined }],
  );
  // An operator, at the same time as the service.
  await record(db, [...Array.from({ length: 40 }, () => 50), 0], { accountId: 'acc_bob' });
  const request = { eventsBefore: daysAgo(30), days: 30 };
  const results = await Promise.all(retentions.map(({ retention }) => retention.cutNow(operator, request, false)));
  assert.deepEqual(
    [results.reduce((sum, { removed }) => sum + removed, 0), new Set(results.map(({ blocked }) => blocked))],
    [40, new Set([undefined])],
  );
  assert.deepEqual([await agesIn(db), (await verify(db)).findings], [[0, 0], []]);
});

onEachDatabase('events that another run removes meanwhile are not reported as missing', async ({ db, connect }) => {
  await record(db, [60, 50, 40, 0]);
  await record(db, [60, 0], { accountId: 'acc_bob' });
  const clock = new FakeClock(now);
  const other = newRetention(await connect(), clock).retention;
  const request = { eventsBefore: daysAgo(30), days: 30 };
  const others: CutResult[] = [];
  // The cutter asks for the progress of the journal after it has begun to read.
  const completedEvent = async (): Promise<number> => {
    others.push(await other.cutNow(operator, { ...request, eventsBefore: daysAgo(45) }, false));
    return Number.MAX_SAFE_INTEGER;
  };
  const { retention } = newRetention(db, clock, { journal: { completedEvent } });
  const result = await retention.cutNow(operator, request, false);
  assert.deepEqual([others, result], [[{ removed: 3, blocked: undefined }], { removed: 1, blocked: undefined }]);
  assert.deepEqual([await agesIn(db), (await verify(db, { keptDays: 30 })).findings], [[0, 0], []]);
});

onEachDatabase('an interrupted run leaves a complete audit log, and the next one continues', async ({ db }) => {
  await record(db, [50, 50, 50, 50, 50, 0]);
  let commits = 0;
  // The third commit removes the first batch; the fourth, of the second batch, fails.
  const broken = withTransaction(db, (...args) =>
    ++commits > 3 ? Promise.reject(unavailable(new Error('the disk is full'))) : db.transaction(...args),
  );
  const clock = new FakeClock(now);
  const { retention } = newRetention(broken, clock, { rowsPerCommitMax: 2 });
  await assert.rejects(retention.apply(), { code: 'unavailable' });
  const { findings, events, eventsRemoved } = await verify(db, { keptDays: 30 });
  assert.deepEqual([findings, events, eventsRemoved], [[], 5, 2]);
  assert.equal((await cutEvents(db)).length, 1);
  const next = newRetention(db, clock);
  next.pass(1);
  await next.retention.apply();
  assert.deepEqual([await agesIn(db), (await verify(db, { now: now + dayMs })).findings], [[0], []]);
});

onEachDatabase('a failed batch removes nothing, and its run is due again', async ({ db }) => {
  await record(db, [50, 40, 0]);
  let commits = 0;
  const broken = withTransaction(db, (body) =>
    db.transaction(async (tx) => {
      const result = await body(tx);
      if (++commits === 3) throw unavailable(new Error('the connection is lost'));
      return result;
    }),
  );
  const { retention } = newRetention(broken, new FakeClock(now));
  await assert.rejects(retention.apply(), { code: 'unavailable' });
  assert.deepEqual([await agesIn(db), await listCuts(db), await cutEvents(db)], [[50, 40, 0], [], []]);
  await retention.apply();
  assert.deepEqual(await agesIn(db), [0]);
});

onEachDatabase('a chain stops at the first event that is not old enough', async ({ db }) => {
  await record(db, [50, 10, 45, 0]);
  await newRetention(db, new FakeClock(now)).retention.apply();
  assert.deepEqual(await agesIn(db), [10, 45, 0]);
});

onEachDatabase('an event with a time in the future does not keep older events', async ({ db }) => {
  await record(db, [50, -4000, -4000, -4000, 45, -4000, 0]);
  await newRetention(db, new FakeClock(now), { rowsPerCommitMax: 2 }).retention.apply();
  assert.deepEqual(await agesIn(db), [-4000, 0]);
  assert.deepEqual((await verify(db, { keptDays: 30 })).findings, []);
});

onEachDatabase('a shorter setting removes more, and a longer one is no finding', async ({ db }) => {
  await record(db, [100, 70, 40, 0]);
  const clock = new FakeClock(now);
  const long = newRetention(db, clock, { keptDays: 90 });
  await long.retention.apply();
  assert.deepEqual(await agesIn(db), [70, 40, 0]);
  long.pass(1);
  await newRetention(db, clock, { keptDays: 35 }).retention.apply();
  assert.deepEqual(await agesIn(db), [0]);
  assert.deepEqual((await verify(db, { now: clock.now(), keptDays: 90 })).findings, []);
});

onEachDatabase('a changed or missing event is not removed, unless an operator accepts it', async ({ db }) => {
  await record(db, [50, 45, 44, 0]);
  await tamper(db, `update audit_events set actor = 'system' where at = ${daysAgo(45)}`);
  const { retention, runs } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual(runs, [{ removed: 1, blocked: 'integrity' }]);
  assert.equal((await findRetentionState(db))?.blocked, 'integrity');
  assert.deepEqual(await agesIn(db), [45, 44, 0]);
  const request = { eventsBefore: daysAgo(30), days: 30 };
  const accepted = await retention.cutNow(operator, { ...request, acceptsFindings: true }, true);
  assert.deepEqual([accepted, await agesIn(db)], [{ removed: 2, blocked: undefined }, [0]]);
  assert.deepEqual((await verify(db)).findings, []);
});

onEachDatabase('an event that an attacker has dated back is not removed', async ({ db }) => {
  await record(db, [50, 3, 0]);
  await tamper(db, `update audit_events set at = ${daysAgo(49)} where at = ${daysAgo(3)}`);
  const { retention, runs } = newRetention(db, new FakeClock(now));
  await retention.apply();
  assert.deepEqual(runs, [{ removed: 1, blocked: 'integrity' }]);
  assert.deepEqual(await agesIn(db), [49, 0]);
});

onEachDatabase('checkpoints from before the cut are cut away, and later ones verify', async ({ db }) => {
  const take = async () => (await takeCheckpoint(db, keys.auditChain))?.text ?? '';
  await record(db, [50]);
  const first = await take();
  await record(db, [40]);
  const atCut = await take();
  await record(db, [5, 0]);
  const last = await take();
  await newRetention(db, new FakeClock(now)).retention.apply();
  const { findings, checkpointsHeld, checkpointsCutAway } = await verify(db, { checkpoints: [first, atCut, last] });
  assert.deepEqual([findings, checkpointsHeld, checkpointsCutAway], [[], 2, 1]);
});

onEachDatabase('many events are removed in batches while others append', async ({ db }) => {
  await addAccount(db, 'ada');
  const old = Array.from({ length: 2_500 }, () => 50);
  await record(db, old, ofInstallation);
  await record(db, [0], ofInstallation);
  const { retention, runs } = newRetention(db, new FakeClock(now));
  const appending = Array.from({ length: 20 }, () =>
    db.transaction((tx) => recordEventsTx(tx, [{ at: now, principal: operator, action: 'installation.moved' }])),
  );
  await Promise.all([retention.apply(), ...appending]);
  assert.deepEqual(runs, [{ removed: 2_500, blocked: undefined }]);
  const { findings, events } = await verify(db, { keptDays: 30 });
  assert.deepEqual([findings, events], [[], 23]);
});
