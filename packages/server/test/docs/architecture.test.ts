/** ARCHITECTURE.md names every module, the owner of every table, and files that exist. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { storedTables } from '../../src/modules/backup/store.ts';

const root = new URL('../../../../', import.meta.url);
const page = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8');
const rows = [...page.matchAll(/^`([a-z-]+)` \| ([^|\n]+) \|([^|\n]*)$/gm)];

test('every module has its row', () => {
  const folders = readdirSync(new URL('../../src/modules/', import.meta.url));
  assert.deepEqual(sorted(rows.map(([, name = '']) => name)), sorted(folders));
});

test('every table of the database belongs to one module, except those of the foundation', () => {
  const named = rows.flatMap(([, , , cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, table = '']) => table));
  const all: string[] = storedTables.map(({ name }) => name);
  assert.deepEqual(sorted(named), sorted(all.filter((name) => !['installation', 'root_keys'].includes(name))));
});

test('every path in the table of tasks exists', () => {
  const section = page.split('\n## Where to change what\n')[1]?.split('\n## ')[0] ?? '';
  const named = [...section.matchAll(/^.* \| .*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`([\w./-]+\/[\w.-]*)`/g)].map(([, path = '']) => path),
  );
  assert.ok(named.length > 40);
  const isBelowServer = (path: string): boolean => /^(?:app|cli|foundation|modules)\//.test(path);
  assert.deepEqual(
    named.filter((path) => !existsSync(new URL(isBelowServer(path) ? `packages/server/src/${path}` : path, root))),
    [],
  );
});

const sorted = (names: readonly string[]): string[] => names.toSorted((one, other) => one.localeCompare(other));
