/** The lists in `docs/asvs.md` are complete: ways in, keys and stored data. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allRoutes } from '@keyreeve/contract';
import { storedTables } from '../../src/modules/backup/store.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const page = read('docs/asvs.md');

/** The cells of each row of the last table below a heading. */
function rowsBelow(heading: string): string[][] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const table = section.split(/^\| ---.*$/m).at(-1) ?? '';
  const lines = table.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const codesOf = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

test(
  'every kind of credential of the contract is once in the list of ways in',
  { tags: ['asvs:6.1.3', 'asvs:6.3.4'] },
  () => {
    const listed = rowsBelow('Ways in').flatMap(([, cell]) => codesOf(cell));
    assert.deepEqual(listed.toSorted(), [...new Set(allRoutes.map(({ auth }) => auth))].toSorted());
  },
);

test('every purpose of the master key is once in the list of keys', { tags: ['asvs:11.1.1', 'asvs:11.1.2'] }, () => {
  const source = read('packages/server/src/foundation/crypto/master-key.ts');
  const purposes = [...source.matchAll(/\bderive\('([^']+)'\)/g)].map(([, purpose = '']) => purpose);
  assert.ok(purposes.length > 10, 'purposes are found');
  assert.deepEqual(
    rowsBelow('Keys')
      .flatMap(([cell]) => codesOf(cell))
      .toSorted(),
    purposes.toSorted(),
  );
});

test('every column of the database has one class of protection', { tags: ['asvs:14.1.1', 'asvs:14.1.2'] }, () => {
  const listed = rowsBelow('Stored data').flatMap(([table, ...cells]) =>
    cells.flatMap(codesOf).map((column) => `${table}.${column}`),
  );
  const columns = storedTables.flatMap(({ name, columns: all }) =>
    Object.keys(all).map((column) => `${name}.${column}`),
  );
  assert.deepEqual(listed.toSorted(), columns.toSorted());
});
