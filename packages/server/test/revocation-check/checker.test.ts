/** The checker's rules by example: named histories, each with the rules that it breaks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Checker } from '../../revocation-check/checker.ts';
import type { AccountState, DeletionOutcome, Rule, Verdict } from '../../revocation-check/history.ts';
import { check, type Operation } from './small-history.ts';

const verify = (startedAt: number, endedAt: number, verdict: Verdict, key = 1): Operation => ({
  type: 'verify',
  key,
  verdict,
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
  'a key that works until it is deleted': [[verify(1, 2, 'accepted'), remove(3, 4), verify(5, 6, 'not_found')], []],
  'verifications during the deletion go either way': [
    [remove(1, 9), verify(2, 4, 'accepted'), verify(3, 5, 'refused'), verify(8, 12, 'not_found')],
    [],
  ],
  'a verification that started before the deletion’s answer may end long after it': [
    [remove(1, 4), verify(3, 90, 'accepted')],
    [],
  ],
  'accepted after the deletion’s answer': [[remove(1, 2), verify(3, 4, 'accepted')], ['accepted_after_deletion']],
  'each acceptance after the deletion’s answer counts': [
    [remove(1, 2), verify(3, 4, 'accepted'), verify(5, 6, 'accepted')],
    ['accepted_after_deletion', 'accepted_after_deletion'],
  ],
  'refused before its deletion was asked for': [[verify(1, 2, 'not_found'), remove(3, 4)], ['refused_without_cause']],
  'refused though nobody deleted it': [[verify(1, 2, 'refused')], ['refused_without_cause']],
  'another key’s deletion explains nothing': [
    [remove(1, 2, 'deleted', 2), verify(3, 4, 'not_found', 1)],
    ['refused_without_cause'],
  ],
  'refused, then accepted, while the deletion is under way': [
    [remove(1, 20), verify(2, 4, 'not_found'), verify(6, 8, 'accepted')],
    ['came_back'],
  ],
  'refused and accepted by verifications that overlap': [
    [remove(1, 20), verify(2, 6, 'not_found'), verify(4, 8, 'accepted')],
    [],
  ],
  'two deletions that both succeeded': [[remove(1, 9), remove(2, 8)], ['deleted_twice']],
  'the second deletion finds nothing': [[remove(1, 2), remove(3, 4, 'not_found')], []],
  'a deletion that finds nothing where nothing was deleted': [[remove(1, 2, 'not_found')], ['refused_without_cause']],
  'a deletion that was refused deletes nothing': [
    [remove(1, 2, 'refused'), verify(3, 4, 'not_found')],
    ['refused_without_cause'],
  ],
  'a deletion without an answer may never happen': [[remove(1, 2, 'unknown'), verify(8, 9, 'accepted')], []],
  'a deletion without an answer may happen much later': [
    [remove(1, 2, 'unknown'), verify(8, 9, 'accepted'), verify(50, 60, 'not_found')],
    [],
  ],
  'what a deletion without an answer killed stays dead': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), verify(5, 6, 'accepted')],
    ['came_back'],
  ],
  'a deletion without an answer doesn’t explain a refusal before it': [
    [verify(1, 2, 'not_found'), remove(3, 4, 'unknown')],
    ['refused_without_cause'],
  ],
  'tried again after no answer: the first has done it': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), remove(5, 6, 'not_found')],
    [],
  ],
  'tried again after no answer: what was dead is deleted': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), remove(5, 6)],
    ['refused_without_cause'],
  ],
  'neither yes nor no is no violation': [[verify(1, 2, 'unknown'), remove(3, 4), verify(5, 6, 'unknown')], []],
  'another key’s identity': [[verify(1, 2, 'mistaken')], ['mistaken_identity']],

  'a list shows what was deleted': [[remove(1, 2), list(3, 4, 1, 2)], ['list_disagrees']],
  'a list lacks what nobody deleted': [[list(1, 2, 2)], ['list_disagrees']],
  'a list during a deletion goes either way': [[remove(1, 9), list(2, 4, 1, 2), list(5, 6, 2)], []],
  'a list shows again what another lacked': [[remove(1, 9), list(2, 3, 2), list(4, 5, 1, 2)], ['list_disagrees']],

  'the audit trail has what was deleted': [[remove(1, 2), audit(3, 4, { 1: 1 })], []],
  'the audit trail lacks a deletion': [[remove(1, 2), audit(3, 4, {})], ['audit_disagrees']],
  'the audit trail has one deletion twice': [[remove(1, 2), audit(3, 4, { 1: 2 })], ['audit_disagrees']],
  'the audit trail has a deletion that nobody asked for': [[audit(3, 4, { 2: 1 })], ['audit_disagrees']],
  'the audit trail may have a deletion without an answer': [
    [remove(1, 2, 'unknown'), audit(3, 4, { 1: 1 }), remove(5, 6, 'unknown', 2), audit(7, 8, { 1: 1 })],
    [],
  ],
  'the audit trail doesn’t know of a death that was seen': [
    [remove(1, 2, 'unknown'), verify(3, 4, 'not_found'), audit(5, 6, {})],
    ['audit_disagrees'],
  ],

  'disabled, and enabled again': [
    [
      change(1, 2, 'disabled'),
      verify(3, 4, 'disabled'),
      change(5, 6, 'enabled'),
      verify(7, 8, 'accepted'),
      change(9, 10, 'disabled'),
      verify(11, 12, 'refused'),
    ],
    [],
  ],
  'accepted after the disabling’s answer': [
    [change(1, 2, 'disabled'), verify(3, 4, 'accepted')],
    ['accepted_while_disabled'],
  ],
  'refused after the enabling’s answer': [
    [change(1, 2, 'disabled'), change(3, 4, 'enabled'), verify(5, 6, 'disabled')],
    ['refused_without_cause'],
  ],
  'refused, then accepted, while the account is being disabled': [
    [change(1, 20, 'disabled'), verify(2, 4, 'refused', 1), verify(6, 8, 'accepted', 2)],
    ['came_back'],
  ],
  'disabling twice changes nothing': [
    [change(1, 2, 'disabled'), change(3, 4, 'disabled'), verify(5, 6, 'disabled')],
    [],
  ],
  'a disabling without an answer may happen later': [
    [change(1, 2, 'disabled', false), verify(3, 4, 'accepted'), verify(5, 6, 'disabled')],
    [],
  ],
  'a disabling without an answer isn’t undone by itself': [
    [change(1, 2, 'disabled', false), verify(3, 4, 'disabled'), verify(5, 6, 'accepted')],
    ['came_back'],
  ],
  'an enabling without an answer may undo a later disabling': [
    [change(1, 2, 'enabled', false), change(3, 4, 'disabled'), verify(5, 6, 'accepted')],
    [],
  ],
  'after a change that follows one without an answer everything is possible': [
    [change(1, 2, 'disabled', false), change(3, 4, 'enabled'), verify(5, 6, 'disabled'), verify(7, 8, 'accepted')],
    [],
  ],
};

for (const [name, [history, rules]] of Object.entries(histories)) {
  test(`${rules.length === 0 ? 'allowed' : 'caught'}: ${name}`, () => {
    const { violations, examples } = check(history);
    assert.deepEqual(
      examples.map(({ rule }) => rule),
      rules,
    );
    assert.equal(violations, rules.length);
  });
}

test('a key that is being made may be refused or missing in a list, and not later', () => {
  const early = new Checker();
  early.addKey(7, 'acc_one', 10);
  early.verified(7, { verdict: 'not_found', source: 'verify', startedAt: 9, endedAt: 11 });
  early.listed('acc_one', { startedAt: 9, endedAt: 11 }, 'list', new Set());
  assert.equal(early.finish().violations, 0);
  const late = new Checker();
  late.addKey(7, 'acc_one', 10);
  late.verified(7, { verdict: 'not_found', source: 'verify', startedAt: 11, endedAt: 12 });
  assert.equal(late.finish().violations, 1);
});

test('the report has the numbers, and explanations that name both operations with their times', () => {
  const report = check([
    verify(1, 2, 'accepted'),
    verify(2, 3, 'unknown'),
    remove(4, 6),
    verify(5, 7, 'accepted'),
    verify(6.5, 7, 'refused'),
    verify(9, 10, 'accepted'),
    remove(11, 12, 'unknown', 2),
    list(13, 14, 2),
  ]);
  assert.deepEqual(report, {
    verifications: { total: 5, accepted: 3, refused: 1, unknown: 1, afterRevocation: 2 },
    deletions: { acknowledged: 1, unknown: 1, created: 1, caller: 0, imported: 0 },
    accountChanges: 0,
    lists: 1,
    violations: 1,
    examples: [
      {
        rule: 'accepted_after_deletion',
        explanation:
          'key 1: accepted by verify [9.000 ms … 10.000 ms], 3.000 ms after the answer of DELETE [4.000 ms … 6.000 ms]',
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

test('more violations are counted than are explained', () => {
  const late = Array.from({ length: 1_000 }, (_, index) => verify(10 + index, 10.5 + index, 'accepted'));
  const { violations, examples } = check([remove(1, 2), ...late]);
  assert.deepEqual([violations, examples.length], [1_000, 20]);
});
