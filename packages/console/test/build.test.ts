/** The output of the console stays small. */
import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { builds } from '../../server/bin/build-stamp.js';

const dist = builds.console.folder;

/** @param names without the hash */
const filesNamed = (...names: readonly string[]): string[] =>
  readdirSync(dist).filter((file) => names.includes(file.replace(/-[0-9a-z]{8}(?=\.js$)/, '')));

/** The file and those that it imports, without those that load later. */
function closureOf(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(join(dist, file), 'utf8').matchAll(/\b(?:from|import)"\.\/([\w-]+\.js)"/g);
  for (const [, name] of imports) closureOf(name!, found);
  return found;
}

const sizeOf = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0);

const firstLoad = closureOf('app.js');
/** What a lazily loaded file adds to the first load. */
const laterLoad = (name: string): string[] =>
  filesNamed(name).flatMap((file) => [...closureOf(file)].filter((one) => !firstLoad.has(one)));

test('the page without scripts says that it needs them', () => {
  assert.match(readFileSync(join(dist, 'index.html'), 'utf8'), /<noscript><p class="no-script">The console needs/);
  assert.match(
    readFileSync(join(dist, 'app.css'), 'utf8'),
    /@media ?\(scripting: ?none\) ?\{ ?\.start ?\{ ?display: ?none/,
  );
});

test('every file that another one loads has a hash of its content in its name', () => {
  const scripts = readdirSync(dist).filter((file) => file.endsWith('.js') && !['app.js', 'early.js'].includes(file));
  assert.ok(scripts.length >= 4);
  for (const file of scripts) assert.match(file, /-[0-9a-z]{8}\.js$/);
});

test('the sign-in and the list of keys load at most four files, 40 kB of scripts and 8 kB of style', () => {
  const files = [...firstLoad, ...filesNamed('en.js')];
  assert.ok(files.length <= 4, files.join(' '));
  // On 400 kbit/s, 2 kB are 40 ms.
  assert.ok(sizeOf([...files, 'early.js']) <= 40_000, `${files.join(' ')} have ${sizeOf(files)} bytes gzipped`);
  assert.ok(sizeOf(['app.css']) <= 8_000, `app.css has ${sizeOf(['app.css'])} bytes gzipped`);
});

for (const [pages, name, bytesMax] of [
  ['the pages beyond the list of keys load at most 21 kB more', 'further-pages.js', 21_000],
  ['the parts about keys with a trust, with what other pages share, load at most 10 kB more', 'parts.js', 10_000],
  ['the texts about rotations and keys with a trust load at most 2 kB more', 'en-trust.js', 2_000],
  [
    'the page on which a person approves a program, with what other pages share, loads at most 10 kB more',
    'load.js',
    10_000,
  ],
  ['the texts of this page load at most 1.5 kB more', 'en-approval.js', 1_500],
  ['the pages of administrators load at most 30 kB more', 'administration.js', 30_000],
  [
    'further pages of administrators, with what other pages share, load at most 18 kB more',
    'further-admin-pages.js',
    18_000,
  ],
  ['the command palette loads at most 10 kB more', 'palette.js', 10_000],
  ['the dialogs of the session load at most 1.5 kB more', 'session-dialogs.js', 1_500],
  ['the texts of administrators load at most 15 kB more', 'en-admin.js', 15_000],
] as const) {
  test(pages, () => {
    const files = laterLoad(name);
    assert.ok(files.length > 0, `dist has ${name}`);
    assert.ok(sizeOf(files) <= bytesMax, `${files.join(' ')} have ${sizeOf(files)} bytes gzipped`);
  });
}

const keyPage = join(dist, 'portal');
const keyPageFiles = readdirSync(keyPage).filter((file) => file !== 'keys.js' && file !== 'icon.svg');

for (const language of ['en', 'de']) {
  test(`the key page has at most 45 kB in all in ${language}, and nothing of the console's session`, () => {
    const isOther = (file: string): boolean => /^(?:en|de)-/.test(file) && !file.startsWith(`${language}-`);
    const files = keyPageFiles.filter((file) => !isOther(file)).map((file) => join('portal', file));
    assert.equal(files.length, 4, files.join(' '));
    assert.ok(sizeOf(files) <= 45_000, `${files.join(' ')} have ${sizeOf(files)} bytes gzipped`);
    for (const file of files.filter((name) => name.endsWith('.js')))
      assert.doesNotMatch(readFileSync(join(dist, file), 'utf8'), /console\/api|X-Keyreeve-Console|localStorage/, file);
  });
}

test('every file that the key page loads later has a hash of its content in its name', () => {
  const scripts = keyPageFiles.filter((file) => file.endsWith('.js') && file !== 'start.js');
  assert.equal(scripts.length, 2);
  for (const file of scripts) assert.match(file, /-[0-9a-z]{8}\.js$/);
});

/** A source and those that it imports, also later. */
function sourcesOf(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?!import type|export type).*(?:from |import\()'(\.[^']+)'/gm);
  for (const [, path] of imports) sourcesOf(join(dirname(file), path!), found);
  return found;
}

test('the parts of the key page use no texts that only the console has', () => {
  const all = sourcesOf(join(import.meta.dirname, '../src/portal/start.tsx'));
  const files = [...all].filter((file) => readFileSync(file, 'utf8').includes('text/text.ts'));
  assert.ok(files.length > 30, `${files.length} sources`);
  for (const file of files)
    for (const [use, area] of readFileSync(file, 'utf8').matchAll(/\btext\.(\w+)\./g))
      assert.ok(['general', 'fields', 'keys', 'problems'].includes(area!), `${file}: ${use}`);
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
