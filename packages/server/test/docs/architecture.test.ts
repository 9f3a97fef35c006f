/** ARCHITECTURE.md names every module and the owner of every table. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { storedTables } from '../../src/modules/backup/store.ts';

const page = readFileSync(new URL('../../../../ARCHITECTURE.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| ([^|]+?) +\| ([^|]*?) *\|$/gm)];

test('every module has its row', () => {
  const folders = readdirSync(new URL('../../src/modules/', import.meta.url));
  assert.deepEqual(sorted(rows.map(([, name = '']) => name)), sorted(folders));
});

test('every table of the database belongs to one module, except those of the foundation', () => {
  const named = rows.flatMap(([, , , cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, table = '']) => table));
  const all: string[] = storedTables.map(({ name }) => name);
  assert.deepEqual(sorted(named), sorted(all.filter((name) => !['installation', 'root_keys'].includes(name))));
});

const sorted = (names: readonly string[]): string[] => names.toSorted((one, other) => one.localeCompare(other));
