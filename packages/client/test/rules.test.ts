/** The library keeps the rules, and the edits of its broken builds fit its sources. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Keyreeve as FetchKeyreeve } from '../src/fetch.ts';
import { Keyreeve } from '../src/node.ts';
import { loadLibrary } from './library.ts';
import { rules } from './rules.ts';
import { editedFiles, ruleMutants } from './source-edits.ts';

const library = await loadLibrary();

suite('the client is strict', () => {
  for (const { name, check } of rules) test(name, () => check(library));
});

test('the published classes are this client', () => {
  for (const Published of [Keyreeve, FetchKeyreeve]) assert.ok(Published.prototype instanceof library.Client);
});

for (const { name, edits, rule } of ruleMutants)
  test(`the edits of a broken build fit the sources: ${name}`, () => {
    assert.ok(editedFiles(edits).size > 0);
    assert.ok(rules.some((one) => one.name.startsWith(rule)));
  });
