/** `keyreeve doctor` compares the verifiers with the processors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkVerifiers } from '../installation/verifier-check.ts';

test('verifiers that leave no processor for the main process get a note', () => {
  const stateOf = (verifiers: number, processors: number) =>
    checkVerifiers({ verifyPort: 8789, verifySocket: undefined, verifiers }, processors).map(({ state }) => state);
  assert.deepEqual([stateOf(1, 1), stateOf(1, 2), stateOf(2, 2), stateOf(3, 4)], [['note'], ['ok'], ['note'], ['ok']]);
  const [check] = checkVerifiers({ verifyPort: undefined, verifySocket: '/run/verify.sock', verifiers: 4 }, 2);
  assert.deepEqual(check, {
    name: 'verifiers',
    state: 'note',
    detail:
      '4 verifiers, 2 processors: no processor is left for the main process, so changes and verifications delay each other. Set KEYREEVE_VERIFIERS to 1, or use a machine with more processors',
  });
  assert.deepEqual(checkVerifiers({ verifyPort: undefined, verifySocket: undefined, verifiers: 4 }, 2), []);
});
