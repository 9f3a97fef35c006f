/** Changes of a key beside a report of its current secret: the end of an overlap, and a disabling. */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { addAccount, addSession, keys, operator } from '../../../../test-kit/rows.ts';
import { codeOf, onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { readJournal } from '../../deletion-journal/files.ts';

const possessor = { kind: 'possessor', from: null } as const;
const ada = { kind: 'account', accountId: 'acc_ada', sessionId: 'ses_one' } as const;
const kept = { overlapSeconds: 60, endPrevious: false } as const;
const isUnavailable = (error: unknown): boolean => codeOf(error) === 'unavailable';

/** A key, and two instances, of which the first one has a connection that breaks. */
async function fixture(db: Db) {
  const [line, config, clock] = [new Line(), testConfig(), new FakeClock()];
  const [one, other] = [wireOn(behind(db, line), { config, clock }), wireOn(db, { config, clock })];
  await addSession(db, await addAccount(db), 'one');
  const { id, secret } = await other.apiKeys.create(operator, 'acc_ada', { nickname: 'a' });
  const outcomeOf = (text: string): Promise<unknown> =>
    other.verifier.verify(text).then((result) => (result.valid ? 'valid' : result.code), codeOf);
  const rotate = async (request: Parameters<Services['keyChanges']['rotate']>[3]): Promise<string> =>
    (await other.keyChanges.rotate(operator, 'acc_ada', id, request)).secret.reveal();
  const report = (text: string) => other.leaks.report(possessor, [{ text }]);
  const finished = (isFinished: () => Promise<boolean>): Promise<void> => until('the change is finished', isFinished);
  const reason = async () => (await other.keyChanges.read('acc_ada', id)).disabledReason;
  return { line, config, clock, one, other, id, text: secret.reveal(), outcomeOf, rotate, report, finished, reason };
}

onEachDatabase('the end of an overlap is finished after a leak and a rotation', async ({ db }) => {
  const { line, one, id, text: previous, outcomeOf, rotate, report, finished } = await fixture(db);
  const current = await rotate(kept);
  line.state = 'cut before';
  await assert.rejects(one.keyChanges.endPrevious(operator, 'acc_ada', id), isUnavailable);
  await report(current);
  const next = await rotate(kept);
  line.state = 'whole';
  await finished(async () => (await outcomeOf(previous)) === 'not_found');
  const outcomes = await Promise.all([previous, current, next].map(outcomeOf));
  assert.deepEqual(outcomes, ['not_found', 'not_found', 'valid']);
});

onEachDatabase('the end of an overlap is finished after the current secret was replaced', async ({ db }) => {
  const { line, one, id, text: previous, outcomeOf, rotate, finished } = await fixture(db);
  const current = await rotate(kept);
  line.state = 'cut before';
  await assert.rejects(one.keyChanges.endPrevious(operator, 'acc_ada', id), isUnavailable);
  const next = await rotate({ endCurrent: true });
  line.state = 'whole';
  await finished(async () => (await outcomeOf(previous)) === 'not_found');
  const outcomes = await Promise.all([previous, current, next].map(outcomeOf));
  assert.deepEqual(outcomes, ['not_found', 'not_found', 'valid']);
});

onEachDatabase('the end of an overlap does not end the overlap of a later rotation', async ({ db }) => {
  const { line, clock, one, other, id, text: previous, outcomeOf, rotate, finished } = await fixture(db);
  const current = await rotate(kept);
  line.state = 'cut before';
  await assert.rejects(one.keyChanges.endPrevious(operator, 'acc_ada', id), isUnavailable);
  // Changes of one key are finished in order: the end of the overlap, and then this one.
  const expiry = { expiresAt: clock.now() + 3_600_000 };
  await assert.rejects(one.keyChanges.change(operator, 'acc_ada', id, expiry), isUnavailable);
  // At the same time as the earlier rotation: both overlaps have the same end.
  const next = await rotate({ overlapSeconds: 60, endPrevious: true });
  line.state = 'whole';
  await finished(async () => (await other.keyChanges.read('acc_ada', id)).expiresAt !== null);
  const outcomes = await Promise.all([previous, current, next].map(outcomeOf));
  assert.deepEqual(outcomes, ['not_found', 'valid', 'valid']);
});

for (const [who, principal, expected, kind] of [
  ['the owner', ada, 'owner', 'api_key_narrowed'],
  ['an operator', operator, 'administrator', 'api_key_disabled_by_administrator'],
] as const)
  for (const isLeakedFirst of [true, false])
    onEachDatabase(
      `a key that ${who} disables ${isLeakedFirst ? 'after' : 'before'} a leak stays disabled after a rotation`,
      async ({ db }) => {
        const { config, other, id, text, outcomeOf, rotate, report, reason } = await fixture(db);
        if (isLeakedFirst) await report(text);
        const disabled = await other.keyChanges.change(principal, 'acc_ada', id, { disabled: true });
        assert.equal(disabled.disabledReason, expected);
        if (!isLeakedFirst) await report(text);
        const events = (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.disabled');
        const shown = events.map(({ target, details }) => ({ target, details }));
        assert.deepEqual(shown, [{ target: String(id), details: JSON.stringify({ nickname: 'a', reason: expected }) }]);
        const entries = await Array.fromAsync(readJournal(config.deletionJournal!, keys));
        assert.deepEqual(
          entries.filter((entry) => entry.kind !== 'secret_leaked'),
          [{ kind, id: String(id), at: events[0]?.at }],
        );
        const next = await rotate(kept);
        assert.deepEqual([await reason(), await outcomeOf(next)], [expected, 'disabled']);
        await other.keyChanges.change(operator, 'acc_ada', id, { disabled: false });
        assert.equal(await outcomeOf(next), 'valid');
      },
    );

for (const state of ['cut before', 'cut after'] as const)
  for (const isLeakedFirst of [true, false])
    onEachDatabase(
      `a disabling that was ${state} its commit, ${isLeakedFirst ? 'after' : 'before'} a leak, outlasts a rotation`,
      async ({ db }) => {
        const { line, one, id, text, outcomeOf, rotate, report, finished, reason } = await fixture(db);
        if (isLeakedFirst) await report(text);
        line.state = state;
        await assert.rejects(one.keyChanges.change(ada, 'acc_ada', id, { disabled: true }), isUnavailable);
        if (!isLeakedFirst) await report(text);
        line.state = 'whole';
        await finished(async () => (await reason()) === 'owner');
        const next = await rotate(kept);
        assert.equal(await reason(), 'owner');
        assert.equal(await outcomeOf(next), 'disabled');
      },
    );
