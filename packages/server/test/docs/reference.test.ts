/** The generated pages say what the program does. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { referencePages } from '../../../../scripts/reference.ts';

for (const [path, content] of Object.entries(referencePages())) {
  test(
    `${path} is what the program’s tables say (npm run docs)`,
    { tags: ['asvs:2.1.3', 'asvs:6.1.1', 'asvs:7.1.1', 'asvs:7.1.2', 'asvs:15.1.3'] },
    () => {
      assert.equal(readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8'), content);
    },
  );
}
