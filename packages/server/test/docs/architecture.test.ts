/** What the page about the house says of its slices. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { storedTables } from '../../src/backup/store.ts';
import { slices } from '../tidy/imports.ts';

const page = readFileSync(new URL('../../../../ARCHITECTURE.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| ([^|]+?) +\| ([^|]*?) *\|$/gm)];

test('every slice has its row, in the order in which they may import each other', () => {
  assert.deepEqual(
    rows.map(([, slice]) => slice),
    slices,
  );
});

test('every table of the database belongs to one slice, but the installation’s own', () => {
  const named = rows.flatMap(([, , , cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, table = '']) => table));
  const all: string[] = storedTables.map(({ name }) => name);
  assert.deepEqual(sorted(named), sorted(all.filter((name) => name !== 'installation')));
});

const sorted = (names: readonly string[]): string[] => names.toSorted((one, other) => one.localeCompare(other));
