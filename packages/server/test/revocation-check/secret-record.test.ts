/** Compares the record of a secret with an oracle that tries every moment of its end, on random small histories. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import type { Change, Interval, Violation } from '../../revocation-check/history.ts';
import { SecretRecord } from '../../revocation-check/secret-record.ts';
import { reportInOrder } from './small-history.ts';

const histories = 20_000;
const span = 40;

interface End extends Interval {
  readonly type: 'end';
  /** A rejected request ends nothing; one with an unknown outcome may end the secret at any time after its start, or never. */
  readonly outcome: 'changed' | 'rejected' | 'unknown';
}
interface Observed extends Interval {
  readonly type: 'met' | 'unmet';
}
type Operation = End | Observed;

/** Whole numbers at random, of which no two are equal: the order of equal times is not defined. */
function randomHistory(): Operation[] {
  const times = Array.from({ length: span }, (_, index) => index);
  const take = (): number => times.splice(randomInt(times.length), 1)[0] ?? 0;
  const interval = (): Interval => {
    const [startedAt = 0, endedAt = 0] = [take(), take()].toSorted((a, b) => a - b);
    return { startedAt, endedAt };
  };
  const outcomes = ['changed', 'changed', 'rejected', 'unknown'] as const;
  const ends = Array.from({ length: randomInt(4) }, (): End => ({
    type: 'end',
    outcome: outcomes[randomInt(4)] ?? 'changed',
    ...interval(),
  }));
  const observed = Array.from({ length: 1 + randomInt(5) }, (): Observed => ({
    type: randomInt(2) === 0 ? 'met' : 'unmet',
    ...interval(),
  }));
  return [...ends, ...observed];
}

/** Whether a moment of the end exists that fits all operations; infinite: the secret has not ended. */
function isPossible(history: readonly Operation[]): boolean {
  const ends = history.filter((one): one is End => one.type === 'end' && one.outcome !== 'rejected');
  const moments = [...Array.from({ length: span + 1 }, (_, index) => index - 0.5), Infinity];
  return moments.some((moment) => {
    const hasCause =
      moment === Infinity ||
      ends.some(({ startedAt, endedAt, outcome }) => startedAt < moment && (outcome === 'unknown' || moment < endedAt));
    return (
      hasCause &&
      ends.every(({ endedAt, outcome }) => outcome === 'unknown' || moment < endedAt) &&
      history.every((one) => one.type !== 'met' || one.startedAt < moment) &&
      history.every((one) => one.type !== 'unmet' || moment < one.endedAt)
    );
  });
}

function check(history: readonly Operation[]): Violation[] {
  const record = new SecretRecord('secret 1 of key 1');
  const changes = new Map<Operation, Change>();
  const found: (Violation | undefined)[] = [];
  const begin = (operation: Operation): void => {
    const { type, startedAt } = operation;
    if (type !== 'end') return;
    const change: Change = { to: 'unmet', source: 'end', startedAt, endedAt: Infinity, observedBy: Infinity };
    changes.set(operation, change);
    record.beginChange(change);
  };
  const end = (operation: Operation): void => {
    const { type, startedAt, endedAt } = operation;
    const change = changes.get(operation);
    const observation = { by: 'verification', source: 'verify', observed: type, startedAt, endedAt } as const;
    if (type === 'met') found.push(record.observedMet(observation));
    if (type === 'unmet') found.push(record.observedUnmet(observation));
    if (operation.type !== 'end' || !change) return;
    if (operation.outcome === 'rejected') found.push(record.withdraw(change));
    if (operation.outcome === 'changed') change.endedAt = endedAt;
  };
  reportInOrder(history, begin, end);
  return found.filter((violation) => violation !== undefined);
}

test('the record of a secret agrees with the oracle', () => {
  const counts = { valid: 0, violating: 0 };
  for (let left = histories; left > 0; left--) {
    const history = randomHistory();
    const isValid = isPossible(history);
    const violations = check(history);
    assert.equal(violations.length === 0, isValid, JSON.stringify({ isValid, history, violations }, undefined, 1));
    counts[isValid ? 'valid' : 'violating']++;
  }
  assert.ok(counts.valid > histories / 8 && counts.violating > histories / 8, JSON.stringify(counts));
});
