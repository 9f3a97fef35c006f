/** Joiners in texts. The tests of nicknames have the contexts in which they are allowed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceExceptJoiners, withoutJoiners, withoutNeededJoiners } from '../joiners.ts';

test('only joiners that words need are kept where invisible characters are replaced', () => {
  for (const [text, kept] of [
    ['کلید\u200cها', 'کلید\u200cها'],
    ['a\u200cb\u200dc', 'a b c'],
    ['کلید\u200cها\u202eab', 'کلید\u200cها ab'],
    ['ශ\u0dca\u200dර \u200d', 'ශ\u0dca\u200dර  '],
  ] as const)
    assert.equal(replaceExceptJoiners(text, /\p{Cf}/gu, ' '), kept);
});

test('needed joiners are removed one by one, and the others stay', () => {
  assert.equal(withoutNeededJoiners('می\u200cخ a\u200cb'), 'میخ a\u200cb');
  assert.equal(withoutNeededJoiners('می\u200c\u200cخ'), 'می\u200c\u200cخ');
  assert.equal(withoutJoiners('می\u200c\u200dخ'), 'میخ');
});
