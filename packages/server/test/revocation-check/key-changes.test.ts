/** Named histories of keys that are changed and rotated, each with the rules that it violates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChangingCondition } from '../../revocation-check/changing-condition.ts';
import { Checker } from '../../revocation-check/checker.ts';
import type { ChangeOutcome, ObservedResult, Rule } from '../../revocation-check/history.ts';
import { noKeyChanges } from '../../revocation-check/report.ts';
import { SecretRecord } from '../../revocation-check/secret-record.ts';

const id = 1;

class History {
  readonly checker = new Checker();
  readonly #condition = (): ChangingCondition => new ChangingCondition(`key ${id}`, 'accepted_after_narrowing');
  readonly asked = {
    secret: new SecretRecord(`secret 1 of key ${id}`),
    enabled: this.#condition(),
    unexpired: this.#condition(),
    address: this.#condition(),
    scope: this.#condition(),
  };

  constructor() {
    this.checker.addKey(id, 'acc_one', 0);
  }

  verify(startedAt: number, endedAt: number, result: ObservedResult): this {
    this.checker.verified(id, { result, source: 'verify', startedAt, endedAt }, this.asked);
    return this;
  }

  exchange(startedAt: number, endedAt: number, result: 'accepted' | 'rejected' | 'unknown'): this {
    this.checker.exchanged(id, { result, source: 'exchange', startedAt, endedAt }, this.asked);
    return this;
  }

  /** Without overlapping operations: those are reported between `begin` and its end. */
  change(
    [startedAt, endedAt]: readonly [number, number],
    name: keyof History['asked'],
    to: 'met' | 'unmet',
    outcome: ChangeOutcome = 'changed',
  ): this {
    this.begin(startedAt, name, to)(endedAt, outcome);
    return this;
  }

  begin(
    startedAt: number,
    name: keyof History['asked'],
    to: 'met' | 'unmet',
    isDelayed = false,
  ): (endedAt: number, outcome?: ChangeOutcome, delayMs?: number) => this {
    const effects = [{ condition: this.asked[name], to, isDelayed }];
    const change = this.checker.beginKeyChange(to === 'met' ? 'widened' : 'disabled', effects, 'PATCH', startedAt);
    return (endedAt, outcome = 'changed', delayMs = 0) => {
      this.checker.endKeyChange(change, outcome, endedAt, delayMs);
      return this;
    };
  }

  delete(startedAt: number, endedAt: number): this {
    const deletion = this.checker.beginDeletion(id, 'DELETE', startedAt);
    this.checker.endDeletion(id, deletion, 'deleted', endedAt);
    return this;
  }
}

/** A request at 0 to 1 s that sets a time 10 s later. Clocks may differ by 1 s: it takes effect at 9 to 12 s. */
const endingLater = (name: 'secret' | 'unexpired'): History => {
  const history = new History();
  return history.begin(0, name, 'unmet', true)(1_000, 'changed', 10_000);
};

const histories: Readonly<Record<string, readonly [History, readonly Rule[]]>> = {
  'a disabled key is accepted': [
    new History().change([1, 2], 'enabled', 'unmet').verify(3, 4, 'accepted'),
    ['accepted_after_narrowing'],
  ],
  'a key is enabled and accepted': [
    new History()
      .change([1, 2], 'enabled', 'unmet')
      .verify(3, 4, 'disabled')
      .change([5, 6], 'enabled', 'met')
      .verify(7, 8, 'accepted'),
    [],
  ],
  'an enabled key is still rejected': [
    new History().change([1, 2], 'enabled', 'unmet').change([3, 4], 'enabled', 'met').verify(5, 6, 'disabled'),
    ['refused_without_cause'],
  ],
  'a key without the scope is accepted': [
    new History().change([1, 2], 'scope', 'unmet').verify(3, 4, 'accepted'),
    ['accepted_after_narrowing'],
  ],
  'a key without the scope is forbidden': [
    new History().change([1, 2], 'scope', 'unmet').verify(3, 4, 'forbidden'),
    [],
  ],
  'a key with the scope is forbidden': [new History().verify(1, 2, 'forbidden'), ['refused_without_cause']],
  'a key that lost its scope is rejected as unknown': [
    new History().change([1, 2], 'scope', 'unmet').verify(3, 4, 'not_found'),
    ['refused_without_cause'],
  ],
  'a key outside its IP ranges is accepted': [
    new History().change([1, 2], 'address', 'unmet').verify(3, 4, 'accepted'),
    ['accepted_after_narrowing'],
  ],
  'a deleted key is rejected because of its IP ranges': [
    new History().change([1, 2], 'address', 'unmet').delete(3, 4).verify(5, 6, 'address'),
    ['accepted_after_deletion'],
  ],
  'an ended secret is accepted': [
    new History().change([1, 2], 'secret', 'unmet').verify(3, 4, 'accepted'),
    ['accepted_after_narrowing'],
  ],
  'a token is exchanged after the end of its secrets': [
    new History().change([1, 2], 'secret', 'unmet').exchange(3, 4, 'accepted'),
    ['accepted_after_narrowing'],
  ],
  'a token that is exchanged during the end of its secrets gets one that is accepted later': [
    (() => {
      const history = new History();
      const end = history.begin(1, 'secret', 'unmet');
      history.exchange(2, 3, 'accepted');
      return end(4).verify(5, 6, 'accepted');
    })(),
    ['accepted_after_narrowing'],
  ],
  'a token is rejected without a cause': [new History().exchange(1, 2, 'rejected'), ['refused_without_cause']],
  'an exchange without a result proves nothing': [
    new History().change([1, 2], 'secret', 'unmet').exchange(3, 4, 'unknown'),
    [],
  ],
  'a token is exchanged twice': [
    (() => {
      const history = new History();
      history.checker.exchangedTwice(id);
      return history;
    })(),
    ['exchanged_twice'],
  ],
  'a token of a deleted key is exchanged': [
    new History().delete(1, 2).exchange(3, 4, 'accepted'),
    ['accepted_after_deletion'],
  ],
  'a change without a response may take effect at any time': [
    new History().change([1, 2], 'enabled', 'unmet', 'unknown').verify(3, 4, 'accepted').verify(5, 6, 'disabled'),
    [],
  ],
  'a change without a response takes effect once': [
    new History().change([1, 2], 'enabled', 'unmet', 'unknown').verify(3, 4, 'disabled').verify(5, 6, 'accepted'),
    ['came_back'],
  ],
  'a rejected change takes effect': [
    new History().change([1, 2], 'enabled', 'unmet', 'rejected').verify(3, 4, 'disabled'),
    ['refused_without_cause'],
  ],
  'a rejected change has taken effect before its response': [
    (() => {
      const history = new History();
      const end = history.begin(1, 'enabled', 'unmet');
      history.verify(2, 3, 'disabled');
      return end(4, 'rejected');
    })(),
    ['refused_without_cause'],
  ],
  'a rejection that two changes may explain proves neither': [
    new History()
      .change([1, 2], 'enabled', 'unmet', 'unknown')
      .change([3, 4], 'secret', 'unmet', 'unknown')
      .verify(5, 6, 'rejected')
      .verify(7, 8, 'accepted'),
    [],
  ],
  'a previous secret is rejected before the end of the overlap': [
    endingLater('secret').verify(8_000, 8_900, 'not_found'),
    ['refused_without_cause'],
  ],
  'a previous secret may be accepted or rejected while clocks may differ': [
    endingLater('secret').verify(9_500, 11_000, 'accepted').verify(10_500, 11_500, 'expired'),
    [],
  ],
  'a previous secret is accepted after the end of the overlap': [
    endingLater('secret').verify(12_500, 12_600, 'accepted'),
    ['accepted_after_narrowing'],
  ],
  'a key is rejected before its expiry': [
    endingLater('unexpired').verify(8_000, 8_900, 'expired'),
    ['refused_without_cause'],
  ],
  'a key is accepted after its expiry': [
    endingLater('unexpired').verify(12_500, 12_600, 'accepted'),
    ['accepted_after_narrowing'],
  ],
};

for (const [name, [history, rules]] of Object.entries(histories)) {
  test(`${rules.length === 0 ? 'valid' : 'violation'}: ${name}`, () => {
    const { violations, examples } = history.checker.finish();
    assert.deepEqual(
      examples.map(({ rule }) => rule),
      rules,
    );
    assert.equal(violations, rules.length);
  });
}

test('the report counts the changes of keys by their kind', () => {
  const history = new History().change([1, 2], 'enabled', 'unmet').change([3, 4], 'enabled', 'met');
  history.change([5, 6], 'enabled', 'unmet', 'unknown');
  assert.equal(history.checker.narrowings, 1);
  assert.deepEqual(history.checker.finish().keyChanges, {
    ...noKeyChanges,
    acknowledged: 2,
    unknown: 1,
    disabled: 1,
    widened: 1,
  });
});
