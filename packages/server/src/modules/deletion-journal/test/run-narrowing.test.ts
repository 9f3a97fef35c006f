/** The parts of the protocol of changes that remove rights. The change of these tests adds a millisecond to the time of an account. */
import assert from 'node:assert/strict';
import { limits, type ErrorCode } from '@keyreeve/contract';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { addAccount } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import type { Db, Transaction } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { isOutcomeUnknown, unavailable } from '../../../foundation/database/unavailable.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { PendingChanges } from '../pending-changes.ts';
import type { Revocation, Revocations } from '../revocation.ts';
import { recordingChanges, runNarrowing, type Narrowing, type Repetition } from '../run-narrowing.ts';

const selectTime = sql<{ time: number }>('test_account_time', 'select updated_at as time from accounts where id = $1');
const addTime = sql('test_add_account_time', 'update accounts set updated_at = updated_at + 1 where id = $1');
const entry: Revocation = { kind: 'account', id: 'acc_ada', at: 1 };
const isUnavailable = (error: unknown): boolean => codeOf(error) === 'unavailable';
const broken = new Error('the connection broke');

/** A change, its steps in the order in which they happen, and the connection of the service. */
async function fixture(db: Db) {
  const id = await addAccount(db);
  const [line, pending, steps] = [new Line(), new PendingChanges<string>(), [] as string[]];
  const revocations: Revocations = {
    record: async (entries) => void steps.push(`record ${entries.map(({ kind }) => kind).join()}`),
    recordChanges: async (accountId, at) => void steps.push(`record changes of ${accountId} at ${at}`),
    catchUpSoon: () => void steps.push('catch up'),
  };
  const timeIn = async (reader: Pick<Db, 'get'>): Promise<number> => (await reader.get(selectTime, [id]))!.time;
  const start = await timeIn(db);
  /** @returns the time before */
  const addTx = async (tx: Transaction): Promise<number> => {
    const before = await timeIn(tx);
    await tx.run(addTime, [id]);
    return before;
  };
  const repeatTx = (expected: number) => async (tx: Transaction) => {
    if ((await timeIn(tx)) === expected) await addTx(tx);
  };
  const change: Narrowing<string, number> = {
    changeTx: addTx,
    recordedOf: () => [entry],
    afterCommit: () => void steps.push('committed'),
    repetition: { pending, of: (made) => [{ id, kind: 'add', txs: [repeatTx(made)] }] },
  };
  const run = (more: Partial<Narrowing<string, number>> = {}, through = behind(db, line)): Promise<number> =>
    runNarrowing({ db: through, revocations }, { ...change, ...more });
  /** Runs a change whose commit has an unknown outcome, which other transactions repeat. */
  const breakThen = async (txs: Repetition<string>['txs']): Promise<void> => {
    line.state = 'cut before';
    await assert.rejects(run({ repetition: { pending, of: () => [{ id, kind: 'add', txs }] } }), isUnavailable);
    line.state = 'whole';
  };
  const added = async (): Promise<number> => (await timeIn(db)) - start;
  return { db, id, line, pending, steps, revocations, start, addTx, run, breakThen, added };
}

onEachDatabase('a change is recorded after its commit and before the response', async ({ db }) => {
  const { run, steps, start, added, pending } = await fixture(db);
  const recordedOf = () => [
    { accountId: 'acc_ada', at: 2 },
    entry,
    async () => void steps.push('record by a function'),
    { ...entry, kind: 'api_key' } as const,
  ];
  assert.equal(await run({ recordedOf }), start);
  assert.deepEqual(steps, [
    'committed',
    'record account,api_key',
    'record changes of acc_ada at 2',
    'record by a function',
  ]);
  assert.equal(await added(), 1);
  assert.ok(pending.isEmpty);
});

onEachDatabase('a change that removes no rights is neither recorded nor repeated', async ({ db }) => {
  const { run, steps, line, pending, added } = await fixture(db);
  await run({ recordedOf: () => [] });
  assert.deepEqual([steps.splice(0), await added()], [['committed'], 1]);
  line.state = 'cut before';
  await assert.rejects(run({ recordedOf: () => [] }), isUnavailable);
  assert.deepEqual([steps, pending.isEmpty], [[], true]);
});

for (const state of ['cut before', 'cut after'] as const)
  onEachDatabase(`a change that was ${state} its commit is repeated until its outcome is known`, async ({ db }) => {
    const { run, steps, line, pending, id, added } = await fixture(db);
    line.state = state;
    await assert.rejects(run(), (error) => isUnavailable(error) && isOutcomeUnknown(error));
    assert.deepEqual(steps.splice(0), ['catch up'], 'it is not recorded');
    assert.throws(() => pending.assertNone(id), isUnavailable);
    pending.assertNone('acc_other');
    line.state = 'whole';
    await until('the repetition is committed', () => steps.length > 0);
    assert.deepEqual(steps, ['committed', 'catch up']);
    assert.equal(await added(), 1, 'once');
  });

onEachDatabase('a change without a repetition is not begun again, and the journal catches up', async ({ db }) => {
  const { steps, line, revocations, addTx, added } = await fixture(db);
  line.state = 'cut before';
  const core = { db: behind(db, line), revocations };
  await assert.rejects(runNarrowing(core, { changeTx: addTx, recordedOf: () => [entry] }), isUnavailable);
  assert.deepEqual([steps, await added()], [['catch up'], 0]);
});

onEachDatabase('a change that certainly did not happen is not repeated', async ({ db }) => {
  const { run, steps, pending } = await fixture(db);
  const failing = withTransaction(db, (body) =>
    db.transaction(async (tx) => {
      await body(tx);
      throw unavailable(broken);
    }),
  );
  await assert.rejects(run({}, failing), (error) => isUnavailable(error) && !isOutcomeUnknown(error));
  // An embedded database commits several changes at once. Of an unknown commit, a rejected change is no part.
  const batch = withTransaction(db, (body) =>
    db.transaction(body).catch(() => {
      throw unavailable(broken, true);
    }),
  );
  const changeTx = () => Promise.reject(new DomainError('reauth_required'));
  await assert.rejects(run({ changeTx }, batch), (error) => isOutcomeUnknown(error));
  assert.deepEqual([steps, pending.isEmpty], [[], true]);
});

onEachDatabase('after a conflict, only the result of the last run is repeated', async ({ db }) => {
  const { run, line, pending, id, steps } = await fixture(db);
  const results: number[] = [];
  let runs = 0;
  const retrying = withTransaction(behind(db, line), async (body) => {
    await db.transaction(body);
    return behind(db, line).transaction(body);
  });
  line.state = 'cut before';
  const of = (made: number) => {
    results.push(made);
    return [{ id, kind: 'add', txs: [async () => undefined] }];
  };
  await assert.rejects(run({ changeTx: async () => ++runs, repetition: { pending, of } }, retrying), isUnavailable);
  assert.deepEqual(results, [2]);
  // A run that is rejected leaves nothing of the one before it.
  runs = 0;
  const changeTx = async (): Promise<number> => {
    if (++runs === 2) throw unavailable(broken, true);
    return runs;
  };
  await assert.rejects(run({ changeTx, repetition: { pending, of } }, retrying), isUnavailable);
  assert.deepEqual(results, [2]);
  line.state = 'whole';
  await until('the repetition is committed', () => steps.includes('committed'));
});

onEachDatabase('the first repetition that is not rejected finishes the change', async ({ db }) => {
  const { breakThen, steps, addTx, added } = await fixture(db);
  const rejectTx = () => Promise.reject(new DomainError('nickname_taken'));
  await breakThen([rejectTx, addTx, addTx]);
  await until('the repetition is committed', () => steps.includes('committed'));
  assert.equal(await added(), 1);
});

onEachDatabase('a repetition that fails otherwise is not rejected, and runs again', async ({ db }) => {
  const { breakThen, steps, addTx, added } = await fixture(db);
  const failures: unknown[] = [
    unavailable(broken),
    unavailable(broken, true),
    new DomainError('too_many_in_progress'),
    new Error('a fault'),
  ];
  const failTx = async (tx: Transaction): Promise<void> => {
    await addTx(tx);
    if (failures.length > 0) throw failures.shift();
  };
  await breakThen([failTx, () => Promise.reject(new Error('the second one runs only after a rejection'))]);
  await until('the repetition is committed', () => steps.includes('committed'));
  assert.equal(await added(), 1);
});

onEachDatabase('rejected repetitions are final as soon as the state that rejects them is durable', async ({ db }) => {
  const { line, steps, run, pending, id } = await fixture(db);
  let rejections = 0;
  const rejectTx = async (): Promise<never> => {
    rejections++;
    throw new DomainError('key_not_found');
  };
  line.state = 'cut before';
  await assert.rejects(
    run({ repetition: { pending, of: () => [{ id, kind: 'add', txs: [rejectTx] }] } }),
    isUnavailable,
  );
  await until('it is rejected again, because the confirmations fail', () => rejections > 1);
  assert.deepEqual(steps, ['catch up']);
  line.state = 'whole';
  await until('the repetition ends', () => steps.length > 1);
  assert.deepEqual([line.commits, line.confirmations], [0, 1]);
});

const rejections: readonly (readonly [code: ErrorCode, confirmations: number])[] = [
  ['account_not_found', 1],
  ['key_not_found', 1],
  ['not_key_owner', 1],
  ['manager_not_found', 1],
  ['scope_not_found', 1],
  ['nickname_taken', 0],
  ['invalid_access_token', 0],
];
onEachDatabase('a rejection because of a missing row waits for the standby', async ({ db }) => {
  const { line, steps, run, pending } = await fixture(db);
  for (const [code, confirmations] of rejections) {
    const reject = () => Promise.reject(new DomainError(code));
    for (const rejected of [{ read: reject }, { changeTx: reject }]) {
      line.confirmations = 0;
      await assert.rejects(run(rejected), { code });
      assert.equal(line.confirmations, confirmations, code);
    }
  }
  line.state = 'cut before';
  await assert.rejects(run({ read: () => Promise.reject(new DomainError('key_not_found')) }), isUnavailable);
  assert.deepEqual([steps, pending.isEmpty], [[], true]);
});

onEachDatabase('a change that could not be repeated is not begun', async ({ db }) => {
  const { run, pending, added } = await fixture(db);
  const finish = () => new Promise<void>(() => undefined);
  for (let n = 0; n < limits.unfinishedDeletionsMax; n++) pending.add(`acc_${n}`, { kind: 'delete', finish });
  await assert.rejects(run({ read: () => assert.fail('it reads') }), isUnavailable);
  assert.equal(await added(), 0);
});

onEachDatabase('if the journal cannot be written, the response is 503 and the change holds', async ({ db }) => {
  const { run, revocations, pending, added } = await fixture(db);
  Object.assign(revocations, { record: () => Promise.reject(unavailable(new Error('the disk is full'))) });
  await assert.rejects(run(), (error) => isUnavailable(error) && !isOutcomeUnknown(error));
  assert.deepEqual([await added(), pending.isEmpty], [1, true]);
});

onEachDatabase(
  'a change that the caller repeats is recorded, or caught up after an unknown outcome',
  async ({ db }) => {
    const { steps, line, revocations, addTx, start } = await fixture(db);
    const record = (change: () => Promise<number>): Promise<number> => recordingChanges(revocations, entry, change);
    assert.equal(await record(() => db.transaction(addTx)), start);
    await recordingChanges(revocations, { accountId: 'acc_ada', at: 2 }, async () => undefined);
    await assert.rejects(
      record(() => Promise.reject(new DomainError('code_invalid'))),
      { code: 'code_invalid' },
    );
    assert.deepEqual(steps.splice(0), ['record account', 'record changes of acc_ada at 2']);
    line.state = 'cut after';
    await assert.rejects(
      record(() => behind(db, line).transaction(addTx)),
      isUnavailable,
    );
    assert.deepEqual(steps, ['catch up']);
    assert.equal(await recordingChanges(undefined, entry, async () => 3), 3);
  },
);
