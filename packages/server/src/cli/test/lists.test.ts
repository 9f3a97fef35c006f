/** Lists of any length. The transcripts have short ones. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonParts, textParts, type List } from '../output.ts';

const list: List<number> = {
  head: ['ID', 'NAME'],
  cells: (row) => [String(row), `n${row}`],
  json: (id) => ({ id }),
  end: (count) => `${count} rows`,
};

function* rowsTo(count: number): Generator<number> {
  for (let row = 0; row < count; row++) yield row;
}

const rowsMax = 150_000;

test('a table has every row of a long list, and its count', async () => {
  const lines = (await Array.fromAsync(textParts(rowsTo(rowsMax), list))).join('').split('\n');
  assert.deepEqual(
    [lines.length, lines[0], lines[1], lines.at(-3), lines.at(-2), lines.at(-1)],
    [rowsMax + 3, 'ID   NAME', '0    n0', `${rowsMax - 1}  n${rowsMax - 1}`, `${rowsMax} rows`, ''],
  );
});

test('an array has every row of a long list', async () => {
  const text = (await Array.fromAsync(jsonParts(rowsTo(rowsMax), list))).join('');
  const rows = JSON.parse(text) as { readonly id: number }[];
  assert.deepEqual([rows.length, rows[0], rows.at(-1)], [rowsMax, { id: 0 }, { id: rowsMax - 1 }]);
});

test('an empty list has its head and its count, or is an empty array', async () => {
  assert.deepEqual(await Array.fromAsync(textParts([], list)), ['ID  NAME\n', '0 rows\n']);
  assert.deepEqual(await Array.fromAsync(jsonParts([], list)), ['[]\n']);
});

test('the columns of a later part are at least as wide as those of the earlier ones', async () => {
  const wide = { ...list, cells: (row: number) => (row === 0 ? ['a wide cell', 'x'] : ['', 'y']) };
  const lines = (await Array.fromAsync(textParts(rowsTo(1_001), wide))).join('').split('\n');
  assert.deepEqual([lines[1], lines[1_001]], ['a wide cell  x', '             y']);
});

for (const [form, parts] of Object.entries({ 'a table': textParts, 'an array': jsonParts }))
  test(`rows of ${form} are read only while the reader takes them`, async () => {
    let read = 0;
    const counted = function* (): Generator<number> {
      for (const row of rowsTo(rowsMax)) {
        read++;
        yield row;
      }
    };
    for await (const _ of parts(counted(), list)) break;
    assert.ok(read <= 500, `${read} rows were read`);
  });
