/** Named histories, each with the rules that it violates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checker } from '../../revocation-check/checker.ts';
import type { AccountState, DeletionOutcome, ObservedResult, Rule } from '../../revocation-check/history.ts';
import { check, type Operation } from './small-history.ts';

const verify = (startedAt: number, endedAt: number, result: ObservedResult, key = 1): Operation => ({
  type: 'verify',
  key,
  result,
  startedAt,
  endedAt,
});
const remove = (startedAt: number, endedAt: number, outcome: DeletionOutcome = 'deleted', key = 1): Operation => ({
  type: 'delete',
  key,
  outcome,
  startedAt,
  endedAt,
});
const change = (startedAt: number, endedAt: number, to: AccountState, isKnown = true): Operation => ({
  type: 'change',
  to,
  isKnown,
  startedAt,
  endedAt,
});
const list = (startedAt: number, endedAt: number, ...shown: number[]): Operation => ({
  type: 'list',
  shown,
  startedAt,
  endedAt,
});
const audit = (startedAt: number, endedAt: number, deletions: Readonly<Record<number, number>>): Operation => ({
  type: 'audit',
  deletions,
  startedAt,
  endedAt,
});

const histories: Readonly<Record<string, readonly [readonly Operation[], readonly Rule[]]>> = {
  'a key is valid until it is deleted': [[verify(1, 2, 'accepted'), remove(3, 4), verify(5, 6, 'not_found')], []],
  'a verification during the deletion is accepted or rejected': [
    [remove(1, 9), verify(2, 4, 'accepted'), verify(3, 5, 'rejected'), verify(8, 12, 'not_found')],
    [],
  ],
  'a verification that started before the deletion’s response ends long after it': [
    [remove(1, 4), verify(3, 90, 'accepted')],
    [],
  ],
  'a key is accepted after the deletion’s response': [
    [remove(1, 2), verify(3, 4, 'accepted')],
    ['accepted_after_deletion'],
  ],
  'each acceptance after the deletion’s response counts': [
    [remove(1, 2), verify(3, 4, 'accepted'), verify(5, 6, 'accepted')],
    ['accepted_after_deletion', 'accepted_after_deletion'],
  ],
  'a key is rejected before the request to delete it': [
    [verify(1, 2, 'not_found'), remove(3, 4)],
    ['refused_without_cause'],
  ],
  'a key is rejected without a deletion': [[verify(1, 2, 'rejected')], ['refused_without_cause']],
  'a key is rejected after the deletion of another key': [
    [remove(1, 2, 'deleted', 2), verify(3, 4, 'not_found', 1)],
    ['refused_without_cause'],
  ],
  'a key is rejected, then accepted, during the deletion': [
    [remove(1, 20), verify(2, 4, 'not_found'), verify(6, 8, 'accepted')],
    ['came_back'],
  ],
  'overlapping verifications reject and accept a key during the deletion': [
    [remove(1, 20), verify(2, 6, 'not_found'), verify(4, 8, 'accepted')],
    [],
  ],
  'two deletions of one key succeed': [[remove(1, 9), remove(2, 8)], ['deleted_twice']],
  'the second deletion returns not found': [[remove(1, 2), remove(3, 4, 'not_found')], []],
  'a deletion returns not found without another deletion': [[remove(1, 2, 'not_found')], ['refused_without_cause']],
  'a key is rejected after a rejected deletion': [
    [remove(1, 2, 'rejected'), verify(3, 4, 'not_found')],
    ['refused_without_cause'],
  ],
  'a deletion without a response never takes effect': [[remove(1, 2, 'unknown'), verify(8, 9, 'accepted')], []],
  'a deletion without a response takes effect much later': [
    [remove(1, 2, 'unknown'), verify(8, 9, 'accepted'), verify(50, 60, 'not_found')],
    [],
  ],
  'a key is rejected, then accepted, after a deletion without a response': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), verify(5, 6, 'accepted')],
    ['came_back'],
  ],
  'a key is rejected before a deletion without a response': [
    [verify(1, 2, 'not_found'), remove(3, 4, 'unknown')],
    ['refused_without_cause'],
  ],
  'a deletion without a response takes effect, and its repetition returns not found': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), remove(5, 6, 'not_found')],
    [],
  ],
  'a deletion without a response takes effect, and its repetition succeeds': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), remove(5, 6)],
    ['refused_without_cause'],
  ],
  'verifications have no result': [[verify(1, 2, 'unknown'), remove(3, 4), verify(5, 6, 'unknown')], []],
  'a verification returns the identity of another key': [[verify(1, 2, 'wrong_key')], ['mistaken_identity']],

  'a list contains a deleted key': [[remove(1, 2), list(3, 4, 1, 2)], ['list_disagrees']],
  'a list lacks a key that was not deleted': [[list(1, 2, 2)], ['list_disagrees']],
  'lists during a deletion contain the key, then lack it': [[remove(1, 9), list(2, 4, 1, 2), list(5, 6, 2)], []],
  'a list contains a key that an earlier list lacked': [
    [remove(1, 9), list(2, 3, 2), list(4, 5, 1, 2)],
    ['list_disagrees'],
  ],

  'the audit log has the deletion': [[remove(1, 2), audit(3, 4, { 1: 1 })], []],
  'the audit log lacks a deletion': [[remove(1, 2), audit(3, 4, {})], ['audit_disagrees']],
  'the audit log has one deletion twice': [[remove(1, 2), audit(3, 4, { 1: 2 })], ['audit_disagrees']],
  'the audit log has a deletion that was not requested': [[audit(3, 4, { 2: 1 })], ['audit_disagrees']],
  'the audit log has one of two deletions without a response': [
    [remove(1, 2, 'unknown'), audit(3, 4, { 1: 1 }), remove(5, 6, 'unknown', 2), audit(7, 8, { 1: 1 })],
    [],
  ],
  'the audit log lacks a deletion without a response, after which the key was rejected': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), audit(5, 6, {})],
    ['audit_disagrees'],
  ],

  'an account is disabled and enabled again': [
    [
      change(1, 2, 'disabled'),
      verify(3, 4, 'disabled'),
      change(5, 6, 'enabled'),
      verify(7, 8, 'accepted'),
      change(9, 10, 'disabled'),
      verify(11, 12, 'rejected'),
    ],
    [],
  ],
  'a key is accepted after the response to the disabling': [
    [change(1, 2, 'disabled'), verify(3, 4, 'accepted')],
    ['accepted_while_disabled'],
  ],
  'a key is rejected after the response to the enabling': [
    [change(1, 2, 'disabled'), change(3, 4, 'enabled'), verify(5, 6, 'disabled')],
    ['refused_without_cause'],
  ],
  'keys are rejected, then accepted, while the account is being disabled': [
    [change(1, 20, 'disabled'), verify(2, 4, 'rejected', 1), verify(6, 8, 'accepted', 2)],
    ['came_back'],
  ],
  'an account is disabled twice': [[change(1, 2, 'disabled'), change(3, 4, 'disabled'), verify(5, 6, 'disabled')], []],
  'a disabling without a response takes effect later': [
    [change(1, 2, 'disabled', false), verify(3, 4, 'accepted'), verify(5, 6, 'disabled')],
    [],
  ],
  'keys are rejected, then accepted, after a disabling without a response': [
    [change(1, 2, 'disabled', false), verify(3, 4, 'disabled'), verify(5, 6, 'accepted')],
    ['came_back'],
  ],
  'an enabling without a response undoes a later disabling': [
    [change(1, 2, 'enabled', false), change(3, 4, 'disabled'), verify(5, 6, 'accepted')],
    [],
  ],
  'a change without a response takes effect after the next change': [
    [change(1, 2, 'disabled', false), change(3, 4, 'enabled'), verify(5, 6, 'disabled'), verify(7, 8, 'accepted')],
    [],
  ],
};

for (const [name, [history, rules]] of Object.entries(histories)) {
  test(`${rules.length === 0 ? 'valid' : 'violation'}: ${name}`, () => {
    const { violations, examples } = check(history);
    assert.deepEqual(
      examples.map(({ rule }) => rule),
      rules,
    );
    assert.equal(violations, rules.length);
  });
}

test('a key may be rejected or missing in a list only until its creation has a response', () => {
  const early = new Checker();
  early.addKey(7, 'acc_one', 10);
  early.verified(7, { result: 'not_found', source: 'verify', startedAt: 9, endedAt: 11 });
  early.listed('acc_one', { startedAt: 9, endedAt: 11 }, 'list', new Set());
  assert.equal(early.finish().violations, 0);
  const late = new Checker();
  late.addKey(7, 'acc_one', 10);
  late.verified(7, { result: 'not_found', source: 'verify', startedAt: 11, endedAt: 12 });
  assert.equal(late.finish().violations, 1);
});

test('the report has the counts, and explanations with both operations and their times', () => {
  const report = check([
    verify(1, 2, 'accepted'),
    verify(2, 3, 'unknown'),
    remove(4, 6),
    verify(5, 7, 'accepted'),
    verify(6.5, 7, 'rejected'),
    verify(9, 10, 'accepted'),
    remove(11, 12, 'unknown', 2),
    list(13, 14, 2),
  ]);
  assert.deepEqual(report, {
    verifications: { total: 5, accepted: 3, refused: 1, unknown: 1, afterRevocation: 2 },
    deletions: { acknowledged: 1, unknown: 1, created: 1, caller: 0, imported: 0 },
    accountChanges: 0,
    keyChanges: report.keyChanges,
    lists: 1,
    violations: 1,
    examples: [
      {
        rule: 'accepted_after_deletion',
        explanation:
          'key 1: accepted by verify [9.000 ms … 10.000 ms], 3.000 ms after the response to DELETE [4.000 ms … 6.000 ms]',
      },
    ],
    acceptedAfterMsMax: 3,
    refusedAfterMsMin: 0.5,
    acceptedBeforeMsMin: null,
    verifyLatency: { count: 4, msP50: report.verifyLatency.msP50, msP99: report.verifyLatency.msP99 },
    deleteLatency: { count: 1, msP50: report.deleteLatency.msP50, msP99: report.deleteLatency.msP99 },
  });
  assert.ok(Math.abs((report.verifyLatency.msP50 ?? 0) - 1) <= 0.02);
  assert.ok(Math.abs((report.deleteLatency.msP99 ?? 0) - 2) <= 0.04);
});

test('the report counts all violations and explains the first 20', () => {
  const late = Array.from({ length: 1_000 }, (_, index) => verify(10 + index, 10.5 + index, 'accepted'));
  const { violations, examples } = check([remove(1, 2), ...late]);
  assert.deepEqual([violations, examples.length], [1_000, 20]);
});
