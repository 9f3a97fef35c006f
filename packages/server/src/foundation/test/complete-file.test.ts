/** A file is created complete or not at all. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createComplete, FileExistsError } from '../complete-file.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';

test('a full disk leaves no file, and an existing file is not replaced', async () => {
  using temp = newTempFolder();
  const path = join(temp.path, 'export.jsonl');
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const writeHalf = async (draft: string): Promise<void> => {
    await writeFile(draft, 'half');
    throw full;
  };
  await assert.rejects(createComplete(path, writeHalf), full);
  assert.deepEqual(readdirSync(temp.path), []);
  await createComplete(path, (draft) => writeFile(draft, 'first'));
  await assert.rejects(
    createComplete(path, (draft) => writeFile(draft, 'second')),
    FileExistsError,
  );
  assert.deepEqual([readdirSync(temp.path), readFileSync(path, 'utf8')], [['export.jsonl'], 'first']);
});
