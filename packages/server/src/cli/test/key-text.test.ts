/** What an operator reads about a key before its deletion. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeUse, stateOf } from '../key-text.ts';

const at = Date.parse('2026-11-21T09:30:00Z');

test('the confirmation of a deletion shows the last use, its client IP range and the usage of 24 hours', () => {
  const used = { lastUsedAt: at, lastUsedFrom: '203.0.113.0/24', lastDay: { accepted: 1204, refused: 1 } };
  const unused = { lastUsedAt: null, lastUsedFrom: null, lastDay: { accepted: 0, refused: 0 } };
  const texts: readonly (readonly [Parameters<typeof describeUse>[0], string])[] = [
    [
      used,
      'Its last use was 2026-11-21T09:30:00.000Z from 203.0.113.0/24. In the last 24 hours it was accepted 1204 times and refused 1 time.',
    ],
    [{ ...used, lastUsedFrom: null, lastDay: undefined }, 'Its last use was 2026-11-21T09:30:00.000Z.'],
    [unused, 'It has never been used.'],
    [undefined, 'It may be in use: the usage file cannot be read.'],
    [
      { ...unused, lastDay: { accepted: 0, refused: 3 } },
      'It has never been used. In the last 24 hours it was accepted 0 times and refused 3 times.',
    ],
  ];
  for (const [use, text] of texts) assert.equal(describeUse(use), text);
});

test('a key is disabled before it is expired, and expired from its time of expiry on', () => {
  const [expiresAt, disabledAt] = ['2026-11-21T09:30:00.000Z', '2026-11-20T00:00:00.000Z'];
  assert.equal(stateOf({ disabledAt, expiresAt }, at), 'disabled');
  assert.equal(stateOf({ disabledAt: null, expiresAt }, at), 'expired');
  assert.equal(stateOf({ disabledAt: null, expiresAt }, at - 1), 'expires 2026-11-21');
  assert.equal(stateOf({ disabledAt: null, expiresAt: null }, at), 'enabled');
});
