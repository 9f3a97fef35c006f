/** The folded form of texts, for searches in any case. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fold, trigramsOf } from '../fold.ts';

const hasCase = /\p{Changes_When_Casemapped}/u;

test('every letter of every script has one folded form in all of its cases', () => {
  const unequal: string[] = [];
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const letter = String.fromCodePoint(code);
    if (!hasCase.test(letter)) continue;
    const forms = [fold(letter), fold(letter.toLowerCase()), fold(letter.toUpperCase()), fold(fold(letter))];
    if (new Set(forms).size > 1) unequal.push(code.toString(16));
  }
  assert.deepEqual(unequal, []);
});

test('texts that differ only in case, normal form or joiners have the same folded form', () => {
  for (const [text, ...others] of [
    ['größe ändern', 'GRÖSSE ÄNDERN', 'GRÖẞE Ändern', 'gro\u0308ße a\u0308ndern'],
    ['οδυσσευσ', 'ΟΔΥΣΣΕΥΣ', 'Οδυσσευς'],
    ['istanbul', 'İstanbul', 'ISTANBUL', 'ıstanbul', 'i\u0307stanbul'],
    ['ключ', 'КЛЮЧ', 'Ключ'],
    ['ａｂｃ', 'ＡＢＣ'],
    ['\u{10428}', '\u{10400}'],
    ['ꮳ', 'Ꮳ'],
    ['कष', 'क\u200cष', 'क\u200dष'],
    ['k', 'K', '\u212a'],
  ])
    for (const other of others) assert.equal(fold(other), fold(text ?? ''), other);
  assert.notEqual(fold('é'), fold('e'));
});

test('an index has every sequence of three characters once', () => {
  assert.deepEqual(trigramsOf('ababab'), ['aba', 'bab']);
  assert.deepEqual(trigramsOf('a😀b'), ['a😀b']);
  assert.deepEqual(trigramsOf('ab'), []);
  assert.deepEqual(trigramsOf(''), []);
});
