/** What an error keeps on its way to another process. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../errors.ts';
import { fromPlain, toPlain } from '../plain-error.ts';
import { isOutcomeUnknown, unavailable } from '../unavailable.ts';

const sent = (error: unknown): Error => fromPlain(structuredClone(toPlain(error)));

for (const isUnknown of [true, false])
  test(`an unavailable database stays one, with the cause for the log (unknown outcome: ${isUnknown})`, () => {
    const error = sent(unavailable(new Error('the connection broke'), isUnknown));
    assert.ok(error instanceof DomainError);
    assert.equal(isOutcomeUnknown(error), isUnknown);
    assert.deepEqual([error.code, error.options.retryAfterSeconds], ['unavailable', 1]);
    assert.equal(String(error.cause), 'Error: the connection broke');
  });

test('a defect does not become an unavailable database', () => {
  for (const defect of [new RangeError('a defect'), 'a defect']) {
    const error = sent(defect);
    assert.ok(!(error instanceof DomainError));
    assert.equal(error.message, 'a defect');
  }
});
