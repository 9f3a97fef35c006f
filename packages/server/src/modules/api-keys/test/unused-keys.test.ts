/** Unused keys are disabled: which ones, how many at once, by which instance, and what happens to the time. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { dayMs, hourMs } from '../../../foundation/clock.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { sql } from '../../../foundation/database/sql.ts';
import type { Db, UsageDb } from '../../../foundation/database/db.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { databases } from '../../../../test-kit/new-db.ts';
import { isLockAwaited } from '../../../../test-kit/lock-waits.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { addAccount, addKey, keys, now, operator } from '../../../../test-kit/rows.ts';
import { backUp, restore } from '../../backup/test/backup-kit.ts';
import { changesIn, ownerIn } from '../../backup/test/narrowed-keys.ts';
import { DeletionJournal } from '../../deletion-journal/deletion-journal.ts';
import { readJournal } from '../../deletion-journal/files.ts';
import type { Revocations } from '../../deletion-journal/revocation.ts';
import { addUsage, useKeys } from '../../../../test-kit/uses.ts';
import { addHoursTx, type HourOfKey } from '../../key-usage/store.ts';
import { findKeyDetails } from '../change-store.ts';
import { findKeyStates } from '../state-store.ts';
import { listAccountKeys } from '../store.ts';
import { uncountedId, writeUsesTx } from '../use-store.ts';
import { setImmediate as turn } from 'node:timers/promises';
import { until } from '../../../../test-kit/until.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import { UnusedKeys, type UnusedKeysOptions } from '../unused-keys.ts';
import { lockUsesTx, pageUnchangedKeys, unusedOf } from '../unused-store.ts';

const unusedDaysMax = 30;
/** More than the days and the margin. */
const later = now + unusedDaysMax * dayMs + 3_600_001;

const unusedIn = (db: Db, at: number, more: Partial<UnusedKeysOptions> = {}): UnusedKeys =>
  new UnusedKeys({ db, clock: new FakeClock(at), unusedDaysMax, revocations: undefined, ...more });

const disabledIn = async (db: Db): Promise<string[]> =>
  (await listAccountKeys(db, 'acc_ada'))
    .filter(({ disabledAt }) => disabledAt !== null)
    .map(({ nickname }) => nickname);

/** Looks every 12 hours, like a service that runs. */
async function lookTwiceADay(db: Db, from: number, end: number): Promise<void> {
  for (let at = from; at <= end; at += 12 * hourMs) await unusedIn(db, at).disable();
}

async function fill(db: Db, nicknames: readonly string[]): Promise<void> {
  await claimInstallation(db, keys.check, now);
  await addAccount(db, 'ada');
  for (const nickname of nicknames) await addKey(db, 'acc_ada', nickname);
}

onEachDatabase('only a key that was neither used nor changed for the days and a margin is disabled', async ({ db }) => {
  using temp = newTempFolder();
  await fill(db, ['unused', 'usedLongAgo', 'used', 'renamed', 'own']);
  await addKey(db, 'acc_ada', 'expired', { expiresAt: now + dayMs });
  await addKey(db, 'acc_ada', 'new', { now: now + dayMs });
  const ids = new Map((await listAccountKeys(db, 'acc_ada')).map(({ id, nickname }) => [nickname, id]));
  const idOf = (nickname: string) => ids.get(nickname) ?? 0;
  await useKeys(db, [
    { id: idOf('usedLongAgo'), at: now + 1 },
    { id: idOf('used'), at: now + dayMs },
  ]);
  await changesIn(db, now + dayMs).change(operator, 'acc_ada', idOf('renamed'), { metadata: { team: 7 } });
  const owner = await ownerIn(db);
  await changesIn(db, now + 1).change(owner, 'acc_ada', idOf('own'), { disabled: true });
  const journal = new DeletionJournal({ folder: temp.path, db, clock: new FakeClock(later), keys });
  const counts: number[] = [];
  const options = { revocations: journal, onDisabled: (count: number) => void counts.push(count) };
  await unusedIn(db, later, { ...options, unusedDaysMax: 0 }).disable();
  await unusedIn(db, later - 2, options).disable();
  assert.deepEqual(await disabledIn(db), ['own']);
  await unusedIn(db, later + hourMs, options).disable();
  assert.deepEqual((await disabledIn(db)).toSorted(), ['own', 'unused', 'usedLongAgo']);
  assert.deepEqual(counts, [2]);
  const key = await findKeyDetails(db, idOf('unused'));
  const at = later + hourMs;
  assert.deepEqual([key?.disabledAt, key?.disabledReason, key?.updatedAt, key?.revision], [at, 'dormant', at, 1]);
  const [state] = await findKeyStates(db, [keys.apiKeyHash.stored('acc_ada unused')]);
  assert.equal(state?.disabledAt, at);

  const events = (await listAuditEvents(db)).filter(({ details }) => details?.includes('dormant'));
  assert.deepEqual(
    events.map(({ actor, action, at: eventAt, details }) => `${actor} ${action} ${eventAt} ${details}`).toSorted(),
    ['unused', 'usedLongAgo'].map(
      (nickname) => `system api_key.disabled ${at} ${JSON.stringify({ nickname, reason: 'dormant' })}`,
    ),
  );
  const entriesOf = async () =>
    (await Array.fromAsync(readJournal(temp.path, keys))).filter((entry) => entry.at === at);
  assert.deepEqual(
    (await entriesOf()).map(({ kind, id }) => `${kind} ${id}`).toSorted(),
    ['unused', 'usedLongAgo'].map((name) => `api_key_narrowed ${idOf(name)}`).toSorted(),
  );
  await journal.catchUp();
  assert.equal((await entriesOf()).length, 2);
});

onEachDatabase('the owner enables a key that was disabled as unused, and that counts as a use', async ({ db }) => {
  await fill(db, ['unused']);
  await unusedIn(db, later).disable();
  assert.deepEqual(await disabledIn(db), ['unused']);
  const [key] = await listAccountKeys(db, 'acc_ada');
  await changesIn(db, later + 1).change(await ownerIn(db, 'own', later), 'acc_ada', key?.id ?? 0, {
    disabled: false,
  });
  await lookTwiceADay(db, later + hourMs, later + (unusedDaysMax - 1) * dayMs);
  assert.deepEqual(await disabledIn(db), []);
  await lookTwiceADay(db, later + (unusedDaysMax - 1) * dayMs, later + (unusedDaysMax + 1) * dayMs);
  assert.deepEqual(await disabledIn(db), ['unused']);
});

/** @param afterRead called after the first read of uses */
const observed = (db: Db, afterRead: () => Promise<void>): Db => {
  let isRead = false;
  const usage: UsageDb = {
    get: (...args) => db.usage.get(...args),
    all: async (...args) => {
      const rows = await db.usage.all(...args);
      if (!isRead) await afterRead();
      isRead = true;
      return rows;
    },
    transaction: (...args) => db.usage.transaction(...args),
    snapshot: (...args) => db.usage.snapshot(...args),
  };
  return { ...withTransaction(db, (...args) => db.transaction(...args)), usage };
};

onEachDatabase('a key that is used after it was found unused stays enabled', async ({ db }) => {
  await fill(db, ['a', 'b']);
  const [used] = await listAccountKeys(db, 'acc_ada');
  const use = () => useKeys(db, [{ id: used?.id ?? 0, at: later }]);
  await unusedIn(observed(db, use), later).disable();
  const expected = used?.nickname === 'a' ? ['b'] : ['a'];
  assert.deepEqual(await disabledIn(db), expected);
});

onEachDatabase('no use is committed between its check and the disabling', async (opened) => {
  const { db } = opened;
  await fill(db, ['a']);
  const other = await opened.connect();
  const [key] = await listAccountKeys(db, 'acc_ada');
  const events: string[] = [];
  let use: Promise<unknown> | undefined;
  const transaction: Db['transaction'] = async (body, options) => {
    const result = await db.transaction(async (tx) => {
      const made = await body(tx);
      // The first transaction claims the check, the second one disables the key.
      if (events.push('transaction') < 2) return made;
      use = useKeys(other, [{ id: key?.id ?? 0, at: later }]).then(() => events.push('used'));
      // The responses to the commit and to the use come from two connections, in any order: only the wait for the lock is an order.
      if (db.usageFile) await turn();
      else await until('the use waits', async () => events.length > 2 || (await isLockAwaited(db)));
      events.push('commit');
      return made;
    }, options);
    if (db.usageFile) events.push('committed');
    return result;
  };
  await unusedIn(withTransaction(db, transaction), later).disable();
  await use;
  const committed = db.usageFile ? ['committed'] : [];
  assert.deepEqual(events, ['transaction', ...committed, 'transaction', 'commit', ...committed, 'used']);
});

onEachDatabase('a key whose usage has an accepted verification within the days stays enabled', async ({ db }) => {
  await fill(db, ['accepted', 'acceptedLongAgo', 'rejected', 'none']);
  const usedBefore = later - unusedDaysMax * dayMs - 3_600_000;
  const uses: Record<string, Omit<HourOfKey, 'keyId'>> = {
    // The hour or day begins before the limit, and may contain a use after it.
    accepted: { at: usedBefore - dayMs + 1, accepted: 1, refused: 0 },
    acceptedLongAgo: { at: usedBefore - dayMs, accepted: 1, refused: 0 },
    rejected: { at: later, accepted: 0, refused: 9 },
  };
  const listed = await listAccountKeys(db, 'acc_ada');
  const idOf = (name: string): number => listed.find(({ nickname }) => nickname === name)?.id ?? 0;
  await addUsage(
    db,
    Object.entries(uses).map(([name, hour]) => ({ keyId: idOf(name), ...hour })),
  );
  const page = await pageUnchangedKeys(db, -1, 100, { usedBefore, now: later });
  const unused = ['acceptedLongAgo', 'rejected', 'none'].toSorted();
  assert.deepEqual(new Set(await unusedOf(db.usage, page.ids, usedBefore)), new Set(unused.map((name) => idOf(name))));
  await unusedIn(db, later).disable();
  assert.deepEqual((await disabledIn(db)).toSorted(), unused);
});

onEachDatabase('while a verification was counted for no key within the days, no key is disabled', async ({ db }) => {
  await fill(db, ['a']);
  const usedBefore = later - unusedDaysMax * dayMs - hourMs;
  await useKeys(db, [{ id: uncountedId, at: usedBefore }]);
  await unusedIn(db, later).disable();
  assert.deepEqual(await disabledIn(db), []);
  await unusedIn(db, later + hourMs).disable();
  assert.deepEqual(await disabledIn(db), ['a']);
});

onEachDatabase('one of several instances checks once an hour, and disables a bounded number', async (opened) => {
  const { db } = opened;
  const names = Array.from({ length: 7 }, (_, index) => `key ${index}`);
  await fill(db, names);
  const counts: number[] = [];
  const options = { keysMax: 3, onDisabled: (count: number) => void counts.push(count) };
  for (const hour of [0, 1, 2, 3])
    await raceToValues(opened, rivalsMin, (rival) => unusedIn(rival, later + hour * hourMs, options).disable());
  assert.deepEqual(counts, [3, 3, 1]);
  assert.equal((await disabledIn(db)).length, 7);
  assert.equal((await listAuditEvents(db)).filter(({ action }) => action === 'api_key.disabled').length, 7);
});

onEachDatabase('unused keys on every page are disabled, a bounded number in each commit', async ({ db }) => {
  await fill(
    db,
    Array.from({ length: 8 }, (_, index) => `key ${index}`),
  );
  const batches: string[][] = [];
  const revocations: Revocations = {
    record: async (entries) => void batches.push(entries.map(({ id }) => id)),
    recordChanges: () => Promise.resolve(),
    catchUpSoon: () => undefined,
  };
  const counts: number[] = [];
  const onDisabled = (count: number) => void counts.push(count);
  await unusedIn(db, later, { revocations, onDisabled, keysPerPageMax: 3, keysPerCommitMax: 2 }).disable();
  assert.deepEqual(
    batches.map(({ length }) => length),
    [2, 1, 2, 1, 2],
  );
  const ids = (await listAccountKeys(db, 'acc_ada')).map(({ id }) => String(id));
  assert.deepEqual([batches.flat().toSorted(), counts], [ids.toSorted(), [8]]);
  assert.equal((await disabledIn(db)).length, 8);
});

onEachDatabase('after a pause, a jump of a clock or a restore, the time without a use starts again', async ({ db }) => {
  using temp = newTempFolder();
  await fill(db, ['a', 'b']);
  const year = 365 * dayMs;
  await unusedIn(db, now + 1).disable();
  // The service was stopped for a year, or the clock is a year ahead.
  await unusedIn(db, now + year).disable();
  await unusedIn(db, now + year + hourMs).disable();
  assert.deepEqual(await disabledIn(db), []);
  // The clock is corrected, and ahead once more.
  for (const at of [now + dayMs, now + year, now + 2 * dayMs]) await unusedIn(db, at).disable();
  assert.deepEqual(await disabledIn(db), []);
  await lookTwiceADay(db, now + 2 * dayMs, now + (unusedDaysMax + 2) * dayMs);
  assert.deepEqual(await disabledIn(db), []);
  const backup = join(temp.path, 'backup');
  await backUp(db, backup);
  await lookTwiceADay(db, now + (unusedDaysMax + 2) * dayMs, now + (unusedDaysMax + 3) * dayMs);
  assert.deepEqual((await disabledIn(db)).toSorted(), ['a', 'b']);
  const clock = new FakeClock(now + 2 * year);
  await using fresh = await databases[db.dialect]!();
  await restore(fresh.db, backup, { acceptsRevival: true, clock });
  await unusedIn(fresh.db, now + 2 * year + hourMs).disable();
  assert.deepEqual(await disabledIn(fresh.db), []);
});

/** Statements that wait for the lock of a check for unused keys. */
const listWaiting = sql<{ pid: number }>(
  'test_list_waiting_for_uses',
  `select l.pid from pg_locks l where l.database = (select oid from pg_database where datname = current_database())
     and l.mode = 'ShareLock' and l.locktype = 'relation' and not l.granted`,
);

onEachDatabase('a check that waits for a flush ends after it, without a deadlock', async ({ db, connect }) => {
  // On SQLite, both are transactions of one writer.
  if (db.dialect === 'sqlite') return;
  const checking = await connect();
  const runs = { flush: 0, check: 0 };
  let check: Promise<void> | undefined;
  await db.usage.transaction(async (tx) => {
    runs.flush++;
    await addHoursTx(tx, JSON.stringify([{ keyId: 1, at: 0, accepted: 1, refused: 0 }]));
    check ??= checking.transaction((held) => (runs.check++, lockUsesTx(held)));
    await until('the check waits', async () => (await checking.all(listWaiting)).length > 0);
    const use = { keyId: 1, usedAt: now, usedFrom: null, changedAt: 0, isCurrent: true };
    await writeUsesTx(tx, JSON.stringify([{ ...use, previousUsedAt: null, previousEndsAt: null }]));
  });
  await check;
  assert.deepEqual(runs, { flush: 1, check: 1 });
});
