/** JSON that two parsers may interpret differently is rejected (ASVS 1.5.2, 1.5.3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { DomainError } from '../errors.ts';
import { parseJson, parseSimpleJson } from '../json.ts';

const parse = (text: string): unknown => parseJson(Buffer.from(text));

function assertRejected(bytes: Uint8Array): void {
  assert.throws(
    () => parseJson(bytes),
    (error) => error instanceof DomainError && error.code === 'malformed_json',
  );
}

const nested = (depth: number, [open, close]: readonly [string, string]): string =>
  open.repeat(depth) + close.repeat(depth);

test('unambiguous JSON is parsed like JSON.parse does', () => {
  const texts = [
    'null',
    '0',
    '"text"',
    '[]',
    '{}',
    '{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}',
    '{"a":"b","b":"a"}',
    '{"a":"a"}',
    '["a","a",{"a":["a"]},"a"]',
    '{"a":"\\"","b":"\\\\"}',
    '{"a\\"":1,"a\\\\":2,"a":3}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a":"[[[[[[[[[[[[[[[[{{{{{{{{{{{{{{{"}',
    '{"[[[[[[[[[[":1,"]]]]]]]]]]":2,"}":3}',
    '{"a" : 1 ,\r\n\t"b" : "c:d" }',
    '{"toString":1,"hasOwnProperty":2}',
    '{"nested":{"x":"__proto__"}}',
    '["__proto__","constructor"]',
    '{"\\u00e9":1,"e\\u0301":2}',
    '{"":1}',
  ];
  for (const text of texts) assert.deepEqual(parse(text), JSON.parse(text), text);
});

const ambiguous: Readonly<Record<string, string>> = {
  'a member named twice': '{"a":1,"a":2}',
  'a member named twice with the same value': '{"a":1,"a":1}',
  'twice, once escaped': '{"a":1,"\\u0061":2}',
  'twice, with white space': '{"a" : 1, "a"\n:2}',
  'twice around an object': '{"a":1,"b":{"a":1},"a":2}',
  'twice around an array': '{"a":1,"b":[{"c":1}],"a":2}',
  'twice after a string of braces': '{"a":"}","a":2}',
  'twice after an escaped quote': '{"a":"\\"}","a":2}',
  'twice after an escaped backslash': '{"a":"\\\\","a":2}',
  'twice inside an array': '[{"b":1},{"a":1,"a":2}]',
  'twice, the empty name': '{"":1,"":2}',
  'twice, of three': '{"a":1,"b":2,"a":3}',
  __proto__: '{"__proto__":{"isAdmin":true}}',
  '__proto__ escaped': '{"\\u005f_proto__":1}',
  '__proto__ inside': '{"a":[{"__proto__":1}]}',
  constructor: '{"constructor":1}',
  prototype: '{"prototype":1}',
};

for (const [name, text] of Object.entries(ambiguous)) {
  test(`ambiguous JSON is rejected: ${name}`, { tags: ['asvs:1.5.2', 'asvs:15.3.6', 'asvs:15.3.7'] }, () => {
    assert.doesNotThrow(() => void JSON.parse(text), 'the text is valid JSON');
    assertRejected(Buffer.from(text));
  });
}

test('nesting beyond the limit is rejected, for objects, arrays and both', { tags: ['asvs:1.5.2'] }, () => {
  const depth = limits.jsonDepthMax;
  assert.deepEqual(parse(nested(depth, ['[', ']'])), JSON.parse(nested(depth, ['[', ']'])));
  assertRejected(Buffer.from(nested(depth + 1, ['[', ']'])));
  const objects = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
  assert.deepEqual(parse(objects(depth)), JSON.parse(objects(depth)));
  assertRejected(Buffer.from(objects(depth + 1)));
  assertRejected(Buffer.from(`[${objects(depth)}]`));
  const sideBySide = `[${Array.from({ length: 100 }, () => nested(depth - 1, ['[', ']'])).join(',')}]`;
  assert.deepEqual(parse(sideBySide), JSON.parse(sideBySide), 'siblings do not count as nesting');
});

test('text that is not JSON in UTF-8 is rejected', () => {
  for (const text of [
    '',
    ' ',
    '{',
    '}',
    '{"a"}',
    '{a:1}',
    "{'a':1}",
    '[1,]',
    '01',
    'NaN',
    '"\n"',
    '"\\x"',
    '{}{}',
    '{} x',
    '\ufeff{}',
    '// c\n{}',
  ]) {
    assertRejected(Buffer.from(text));
  }
  const broken = [
    [0x22, 0xff, 0x22],
    [0x22, 0xc0, 0x80, 0x22],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xc3],
    [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00],
  ];
  for (const bytes of broken) assertRejected(Uint8Array.from(bytes));
});

// With a step whose cost grows with the length of the text, each of these would take hours instead of milliseconds.
test('a mebibyte of worst-case JSON is parsed in linear time', () => {
  const size = 2 ** 20;
  for (const unit of ['[', '{', '"', '\\', '{"a":', '[[', '"\\', '\\"', ' ', '{"a":"'])
    assertRejected(Buffer.from(unit.repeat(size / unit.length)));
  const escapes = JSON.stringify('\\"'.repeat(size / 4));
  assert.equal(parse(escapes), '\\"'.repeat(size / 4));
  const spaced = `{"a"${' '.repeat(size)}:1}`;
  assert.deepEqual(parse(spaced), { a: 1 });
  const strings = JSON.stringify(Array.from({ length: size / 4 }, () => ''));
  assert.equal((parse(strings) as unknown[]).length, size / 4);
  const members = `{${Array.from({ length: 50_000 }, (_, index) => `"m${index}":0`).join(',')}}`;
  assert.equal(Object.keys(parse(members) as object).length, 50_000);
});

test('the parser of simple objects returns the same as the strict parser, or nothing', () => {
  const simple = [
    '{}',
    ' {"a" : "b"}\n',
    '{"a":"b","c":["d","e",""],"f":-1.5e1}',
    '{"a":"\\u0022\\n","\\u0061b":1}',
    '{"a":"{[:,"}',
  ];
  for (const text of simple) assert.deepEqual(parseSimpleJson(text), parse(text), text);
  const others = [
    ...Object.values(ambiguous),
    '',
    '[]',
    '1',
    'null',
    '"a"',
    '{',
    '{"a":1}{}',
    '{"a":\xa0"b"}',
    '{"a":"\xe4"}',
    '{"a":"\0"}',
    '{"a":null}',
    '{"a":true}',
    '{"a":{}}',
    '{"a":[1]}',
    '{"a":[[]]}',
    '{"a":"\\""}',
    '{"a":{"b":["c"]},"a":"d"}',
    '{"a":"b","a":[]}',
    `{"a":${'['.repeat(9)}${']'.repeat(9)},"a":1}`,
  ];
  for (const text of others) assert.equal(parseSimpleJson(text), undefined, text);
});
