/** The generated pages say what the program does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { referencePages } from '../../../../scripts/reference.ts';

for (const [path, content] of Object.entries(referencePages())) {
  test(`${path} is what the program’s tables say (npm run docs)`, () => {
    assert.equal(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'), content);
  });
}
