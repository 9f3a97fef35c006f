/** The committed output of the console is that of its source, and stays small. */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
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

/** @param names without the hash */
const sizeOf = (...names: string[]): number =>
  readdirSync(dist)
    .filter((file) => names.includes(file.replace(/-[0-9a-z]{8}(?=\.js$)/, '')))
    .reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0);

test('every file that another one loads has a hash of its content in its name', () => {
  const scripts = readdirSync(dist).filter((file) => file.endsWith('.js') && file !== 'app.js');
  assert.ok(scripts.length >= 4);
  for (const file of scripts) assert.match(file, /-[0-9a-z]{8}\.js$/);
});

test('the sign-in and the list of keys load at most 35 kB of scripts and 8 kB of style', () => {
  const scripts = sizeOf('app.js', 'chunk.js', 'en.js');
  assert.ok(scripts <= 35_000, `app.js, chunk.js and en.js have ${scripts} bytes gzipped`);
  assert.ok(sizeOf('app.css') <= 8_000, `app.css has ${sizeOf('app.css')} bytes gzipped`);
});

test('the pages beyond the list of keys load at most 20 kB more', () => {
  const scripts = sizeOf('further-pages.js');
  assert.ok(scripts <= 20_000, `further-pages.js has ${scripts} bytes gzipped`);
});

test('the console inserts texts as text, not as HTML', { tags: ['asvs:3.2.2'] }, () => {
  const source = join(import.meta.dirname, '../src');
  const files = globSync('**/*.{ts,tsx}', { cwd: source });
  assert.ok(files.length > 20, 'sources are found');
  for (const file of files)
    assert.doesNotMatch(
      readFileSync(join(source, file), 'utf8'),
      /dangerouslySetInnerHTML|(?:inner|outer)HTML|insertAdjacentHTML|document\.write|parseFromString|srcdoc/i,
      file,
    );
});
