/** The claims of a rejected identity token on the page of its key. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimAt } from '../src/pages/keys/trust/claim-at.ts';

test('a claim is found in a whole token, and in a large one of which only the trusted claims are kept', () => {
  const whole = { ref: 'main', 'kubernetes.io': { serviceaccount: { uid: 'u-1' } }, 'a/b': 7 };
  assert.equal(claimAt(whole, '/ref'), 'main');
  assert.equal(claimAt(whole, '/kubernetes.io/serviceaccount/uid'), 'u-1');
  assert.equal(claimAt(whole, '/a~1b'), 7);
  assert.equal(claimAt(whole, '/kubernetes.io/pod'), undefined);
  assert.equal(claimAt({ '/kubernetes.io/serviceaccount/uid': 'u-1' }, '/kubernetes.io/serviceaccount/uid'), 'u-1');
});
