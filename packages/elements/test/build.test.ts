/** The script of the element stays small, needs nothing else, and works where there is no browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { buildElement } from '../build.ts';

const script = buildElement();

test('the script has at most 2 kB gzipped, and loads nothing', () => {
  const bytes = gzipSync(script, { level: 9 }).length;
  assert.ok(bytes <= 2_000, `${bytes} bytes gzipped`);
  assert.doesNotMatch(script, /\bimport\b|\brequire\b|\bfetch\b|innerHTML|srcdoc|eval\b|localStorage|cookie/);
});

test('a server without custom elements can load the script, which does nothing there', () => {
  const globals = Object.create(null) as Record<string, unknown>;
  runInNewContext(script, globals);
  assert.deepEqual(Object.keys(globals), []);
});
