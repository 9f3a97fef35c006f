/** The lines of an import file, for any content and any chunk size. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { importLinesOf } from '../lines.ts';

type ReadLine = readonly [number: number, text: string | undefined, isEnded: boolean];

/** In chunks of so many bytes. */
async function read(file: string | Uint8Array, chunkBytes: number): Promise<ReadLine[]> {
  const bytes = Buffer.from(file);
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
  const lines = await Array.fromAsync(importLinesOf(source()));
  return lines.map(({ number, bytes: line, isEnded }) => [number, line && Buffer.from(line).toString(), isEnded]);
}

const { importLineBytesMax } = limits;
const files: readonly (readonly [name: string, file: string, lines: readonly ReadLine[]])[] = [
  ['nothing', '', []],
  ['a line', 'one\n', [[1, 'one', true]]],
  [
    'lines without an end',
    'one\ntwo',
    [
      [1, 'one', true],
      [2, 'two', false],
    ],
  ],
  ['blank lines', '\n \t\r\none\n\n\n', [[3, 'one', true]]],
  [
    'lines as Windows ends them',
    'one\r\ntwo\r\n',
    [
      [1, 'one\r', true],
      [2, 'two\r', true],
    ],
  ],
  [
    'a byte order mark',
    '\uFEFFone\n\uFEFFtwo\n',
    [
      [1, 'one', true],
      [2, '\uFEFFtwo', true],
    ],
  ],
  ['a byte order mark alone', '\uFEFF\none\n', [[2, 'one', true]]],
  [
    'characters of several bytes',
    '🦦é\nß',
    [
      [1, '🦦é', true],
      [2, 'ß', false],
    ],
  ],
  [
    'a line that is just short enough, and one that isn’t',
    `${'x'.repeat(importLineBytesMax)}\n${'y'.repeat(importLineBytesMax + 1)}\nz\n`,
    [
      [1, 'x'.repeat(importLineBytesMax), true],
      [2, undefined, false],
      [3, 'z', true],
    ],
  ],
  ['one long line without an end', 'x'.repeat(importLineBytesMax * 3), [[1, undefined, false]]],
];
for (const [name, file, expected] of files) {
  test(`the lines of a file do not depend on its chunks: ${name}`, async () => {
    for (const chunkBytes of file.length < 1_000 ? [1, 3, 7, 1_000] : [4_093, 65_536, 1_000_000]) {
      assert.deepEqual(await read(file, chunkBytes), expected, `${chunkBytes} bytes`);
    }
  });
}
