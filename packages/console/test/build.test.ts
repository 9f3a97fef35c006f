/** The committed output of the console is that of its source, and stays small. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { buildConsole } from '../build.ts';

const dist = join(import.meta.dirname, '../dist');

function filesOf(folder: string): Map<string, Buffer> {
  return new Map(
    readdirSync(folder)
      .toSorted()
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
}

test('the console that is served is built from its source', async () => {
  using folder = newTempFolder();
  await buildConsole(folder.path);
  const built = filesOf(folder.path);
  const served = filesOf(dist);
  assert.deepEqual([...served.keys()], [...built.keys()]);
  for (const [name, bytes] of built)
    assert.ok(served.get(name)?.equals(bytes), `dist/${name} differs from the build: run npm run console`);
});

test('the files that every person loads are small', () => {
  const sizeOf = (name: string): number => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length;
  assert.ok(sizeOf('app.js') <= 35_000, `app.js has ${sizeOf('app.js')} bytes gzipped`);
  for (const language of ['en.js', 'de.js'])
    assert.ok(sizeOf(language) <= 10_000, `${language} has ${sizeOf(language)} bytes gzipped`);
  assert.ok(sizeOf('app.css') <= 8_000, `app.css has ${sizeOf('app.css')} bytes gzipped`);
});
