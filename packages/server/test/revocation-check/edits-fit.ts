/** A static check of broken builds: it fails where the sources have changed under an edit. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import type { Edit } from './mutant-edits.ts';
import { applyEdits } from './mutant-run.ts';

const source = new URL('../../src/', import.meta.url);

/** @throws Error unless each edit has exactly one place, and the edited files are TypeScript that imports existing files */
export function assertFits(edits: readonly Edit[]): void {
  const files = applyEdits(edits, (file) => readFileSync(new URL(file, source), 'utf8'));
  assert.ok(files.size > 0);
  for (const [file, text] of files) {
    stripTypeScriptTypes(text);
    for (const [, path = ''] of text.matchAll(/ from '(\.[^']+)'/g))
      assert.ok(existsSync(new URL(path, new URL(file, source))), `${file} imports ${path}`);
  }
}
