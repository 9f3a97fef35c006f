/** Files of other layouts and encodings: read with `--from`, named once without it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '@keyreeve/contract';
import { accountFormats } from '../formats.ts';
import { LineRejectedError } from '../file-record.ts';
import { jsonLines, type Records } from '../records.ts';
import { timeOf } from '../times.ts';

type Read = readonly [line: number, record: unknown];

async function read(records: Records, bytes: Uint8Array, chunkBytes: number): Promise<Read[]> {
  const source = async function* (): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  };
  const found: Read[] = [];
  try {
    for await (const { line, object } of records(source(), () => undefined))
      found.push([line, object instanceof LineRejectedError ? object.message : object]);
  } catch (error) {
    if (!(error instanceof LineRejectedError)) throw error;
    found.push([0, error.message]);
  }
  return found;
}

const json = accountFormats.json();
const utf16 = (text: string, isBigEndian = false): Buffer => {
  const bytes = Buffer.from(text, 'utf16le');
  return isBigEndian ? bytes.swap16() : bytes;
};
const ada = { email: 'ada@example.com' };
const bob = { email: 'böb@example.com', note: 'a "quoted", {braced}\n[text] \\' };
const two = `${JSON.stringify(ada)}\n${JSON.stringify(bob)}\n`;
const big = { email: 'x'.repeat(limits.importLineBytesMax) };
const tooLong = `it is longer than ${limits.importLineBytesMax} bytes`;
const cutOff = 'the file is cut off in this line';

const layouts: readonly (readonly [name: string, file: string | Uint8Array, records: readonly Read[]])[] = [
  [
    'JSON Lines',
    two,
    [
      [1, ada],
      [2, bob],
    ],
  ],
  [
    'an array on one line',
    JSON.stringify([ada, bob]),
    [
      [1, ada],
      [1, bob],
    ],
  ],
  [
    'a pretty array',
    JSON.stringify([ada, bob], null, 2),
    [
      [2, ada],
      [5, bob],
    ],
  ],
  ['an array with a byte order mark and white space', `\uFEFF \r\n${JSON.stringify([ada])}\r\n`, [[2, ada]]],
  ['an empty array', '[]', []],
  ['nothing', '', []],
  [
    'pretty objects, one after the other',
    `${JSON.stringify(ada, null, 2)}\n${JSON.stringify(bob, null, 2)}`,
    [
      [1, ada],
      [4, bob],
    ],
  ],
  [
    'a member of an object',
    JSON.stringify({ realm: 'users', users: [ada, bob], next: null }, null, 2),
    [
      [4, ada],
      [7, bob],
    ],
  ],
  ['a member of an object on one line', JSON.stringify({ meta: { users: [1] }, data: [ada], n: [bob] }), [[1, ada]]],
  [
    'an array of no objects',
    '[1, "a, b", null, [], true]',
    [1, 2, 3, 4, 5].map(() => [1, 'it is not a JSON object'] as const),
  ],
  [
    'an array with a long element',
    JSON.stringify([big, ada]),
    [
      [1, tooLong],
      [1, ada],
    ],
  ],
  [
    'an array that is cut off in an element',
    '[{"email":"ada@example.com"},\n{"email":"b',
    [
      [1, ada],
      [2, cutOff],
    ],
  ],
  [
    'an array that is cut off between elements',
    '[{"email":"ada@example.com"},',
    [
      [1, ada],
      [1, cutOff],
    ],
  ],
  [
    'an invalid element',
    '[{"email":1,"email":2},{"email":"ada@example.com"}]',
    [
      [1, 'The member name “email” occurs twice or is not allowed.'],
      [1, ada],
    ],
  ],
  [
    'deep metadata',
    JSON.stringify([{ ...ada, metadata: JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) as unknown }]),
    [[1, { ...ada, metadata: JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) as unknown }]],
  ],
  [
    'gzip',
    gzipSync(two),
    [
      [1, ada],
      [2, bob],
    ],
  ],
  [
    'two parts of gzip',
    Buffer.concat([gzipSync(two), gzipSync(JSON.stringify(ada))]),
    [
      [1, ada],
      [2, bob],
      [3, ada],
    ],
  ],
  ['gzip that is cut off', gzipSync(two).subarray(0, -9), [[0, 'the file is cut off: its gzip data has no end']]],
  [
    'UTF-16 with a mark',
    utf16(`\uFEFF${two}`),
    [
      [1, ada],
      [2, bob],
    ],
  ],
  [
    'UTF-16 in the other order',
    utf16(`\uFEFF${two}`, true),
    [
      [1, ada],
      [2, bob],
    ],
  ],
  ['UTF-16 without a mark', utf16(JSON.stringify([ada])), [[1, ada]]],
  [
    'UTF-16 in gzip',
    gzipSync(utf16(`\uFEFF${two}`)),
    [
      [1, ada],
      [2, bob],
    ],
  ],
  [
    'CSV',
    'email,verified,note\r\nada@example.com,TRUE,"a, ""b""\nc"\r\nbob@example.com,,\r\n',
    [
      [2, { ...ada, verified: true, note: 'a, "b"\nc' }],
      [4, { email: 'bob@example.com' }],
    ],
  ],
  [
    'CSV with semicolons and a byte order mark',
    '\uFEFF"email";"disabled"\nada@example.com;0\n',
    [[2, { ...ada, disabled: false }]],
  ],
  ['CSV with tabs', 'email\tcreatedAt\nada@example.com\t2024\n', [[2, { ...ada, createdAt: '2024' }]]],
  [
    'CSV with a short line',
    'email,verified\nada@example.com\nbob@example.com,x\n',
    [
      [2, 'it has 1 fields, but the first line names 2'],
      [3, 'verified is not true or false'],
    ],
  ],
  [
    'CSV with a long line',
    `email,verified\n${'x'.repeat(limits.importLineBytesMax)},true\nada@example.com,true\n`,
    [
      [2, tooLong],
      [3, { ...ada, verified: true }],
    ],
  ],
  ['CSV that is cut off in quotes', 'email,note\nada@example.com,"a', [[0, 'the file is cut off inside quotes']]],
  ['a ZIP archive', Buffer.from('PK\u0003\u0004 and so on', 'latin1'), [[0, 'the file is a ZIP archive: unpack it']]],
];
for (const [name, file, expected] of layouts) {
  test(`with --from, the records of a file do not depend on its layout, encoding and chunks: ${name}`, async () => {
    const bytes = Buffer.from(file);
    for (const chunkBytes of bytes.length < 2_000 ? [1, 2, 5, 4_096] : [4_093, 1_000_000])
      assert.deepEqual(await read(json, bytes, chunkBytes), expected, `${chunkBytes} bytes`);
  });
}

const named: readonly (readonly [kind: string, file: string | Uint8Array, remedy: string])[] = [
  ['a JSON array', JSON.stringify([ada]), 'json'],
  ['a JSON array', JSON.stringify([ada], null, 1), 'json'],
  ['JSON with an object on several lines', JSON.stringify({ users: [ada] }, null, 2), 'json'],
  ['compressed with gzip', gzipSync(two), 'json'],
  ['text in UTF-16', utf16(`\uFEFF${two}`), 'json'],
  ['text in UTF-16', utf16(two, true), 'json'],
  ['CSV', 'email,passwordHash\nada@example.com,x\n', 'csv'],
];
for (const [kind, file, from] of named) {
  test(`without --from, a file that is ${kind} is named once, and nothing of it is imported: ${Buffer.from(file).toString('hex', 0, 6)}`, async () => {
    const reason = `the file is ${kind}, not JSON Lines: add --from ${from}, or the name of the system it is from`;
    assert.deepEqual(await read(jsonLines, Buffer.from(file), 7), [[1, reason]]);
  });
}

const may = Date.UTC(2024, 4, 1, 9, 30);
const times: readonly (readonly [value: unknown, ms: number | undefined])[] = [
  ['2024-05-01T09:30:00Z', may],
  ['2024-05-01T11:30:00.000+02:00', may],
  ['2024-05-01 09:30:00', may],
  ['2024-05-01 11:30:00.123456+02', may + 123],
  ['2024-05-01 09:30:00 UTC', may],
  ['2024-05-01T09:30', may],
  ['2024-05-01', Date.UTC(2024, 4, 1)],
  [may, may],
  [String(may), may],
  [may / 1_000, may],
  [String(may / 1_000), may],
  [may * 1_000, may],
  [{ $date: '2024-05-01T09:30:00.000Z' }, may],
  [{ $date: { $numberLong: String(may) } }, may],
  ['0000-00-00 00:00:00', undefined],
  ['2024-13-01T09:30:00Z', undefined],
  ['1969-12-31T00:00:00Z', undefined],
  ['yesterday', undefined],
  ['20240501', undefined],
  [-1, undefined],
  [Number.NaN, undefined],
  [true, undefined],
  [null, undefined],
  [{}, undefined],
];
test('times of other systems are read in the forms of their databases', () => {
  for (const [value, ms] of times) assert.equal(timeOf(value), ms, JSON.stringify(value));
});
