/**
 * The commands of the pages about imports print what the pages show. The programs of the other systems are stubs that write files in
 * the formats of those systems.
 */
import assert from 'node:assert/strict';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { Shell } from '../../src/cli/test/transcript.ts';
import { accountFormats, keyFormats } from '../../src/modules/import/formats.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { startCommandHost } from '../e2e/command-host.ts';
import { readPage, root, shellBlocks } from './shell-blocks.ts';

const files = fileURLToPath(new URL('../data/import/', import.meta.url));
const pages = globSync('docs/import/*.md', { cwd: root }).toSorted();

/** What the programs of the other systems do, as shell scripts in a folder with the files. */
const stubs: Readonly<Record<string, string>> = {
  'kc.sh': 'cp keycloak-users.json realm.json',
  python: 'cat django-users.json',
  firebase: 'cp firebase-users.json users.json; cp firebase-hash-config.txt hash-config.txt',
  wp: 'cat wordpress-users.json',
  deck: ':',
  psql: `case "$*" in *apikey*) cat better-auth-keys.jsonl;; *account*) cat better-auth-users.jsonl;; *) cat supabase-users.jsonl;; esac`,
};
const textBlock = (page: string): string => /^```text\n([^]*?)^```$/m.exec(page)?.[1] ?? '';

test('each system of --from has a page, which docs/import.md names', () => {
  const systems = new Set([...Object.keys(accountFormats), ...Object.keys(keyFormats)]).difference(
    new Set(['json', 'csv']),
  );
  assert.deepEqual(pages, [...systems].map((system) => `docs/import/${system}.md`).toSorted());
  const overview = readPage('docs/import.md');
  for (const system of systems) assert.ok(overview.includes(`(import/${system}.md)`), system);
});

suite('the commands of each page about an import print what the page shows', () => {
  const host = startCommandHost();
  after(async () => (await host)[Symbol.dispose]());
  for (const path of pages) {
    test(path, async () => {
      using temp = newTempFolder();
      const shell = new Shell(temp.path, (await host).path);
      const work = join(temp.path, 'work');
      cpSync(files, work, { recursive: true });
      writeFileSync(join(work, 'auth0-users.json.gz'), gzipSync(readFileSync(join(work, 'auth0-users.json'))));
      for (const [name, script] of Object.entries(stubs))
        writeFileSync(join(temp.path, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      // Owners of keys, for the pages that import accounts from elsewhere.
      const [block = ''] = shellBlocks(readPage(path));
      const owner = block.includes('import accounts')
        ? ':'
        : `printf '{"email":"ada@example.com"}' | keyreeve import accounts - > out`;
      assert.equal(await shell.run({ command: `keyreeve migrate > out; ${owner}`, expected: '' }), '');
      const expected = textBlock(readPage(path)).trimEnd();
      const printed = await shell.run({ command: block, expected });
      assert.equal(printed.replace(/\n\[exit 1\]$/, ''), expected);
    });
  }
});
