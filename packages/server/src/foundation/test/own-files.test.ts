/** A script that another version of the program has replaced. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { assertSameScript, ownFile } from '../own-files.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';

test('a script that was replaced since its first use is refused', () => {
  using temp = newTempFolder();
  const file = join(temp.path, 'script.ts');
  const path = relative(fileURLToPath(ownFile('.')), file)
    .replaceAll('\\', '/')
    .replace(/\.ts$/, '');
  writeFileSync(file, 'first');
  assertSameScript(path);
  assertSameScript(path);
  writeFileSync(file, 'second');
  assert.throws(
    () => assertSameScript(path),
    /another version of the program has replaced .*script; restart the service/,
  );
});
