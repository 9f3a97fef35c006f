/** Texts of validation errors, and the bounds of the search for errors. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { allRoutes, limits, listKeys, NewKeyBody, VerifyBatchBody, type FieldCode } from '@keyreeve/contract';
import { DomainError, type FieldError } from '../../foundation/errors.ts';
import { errorTexts, validator } from '../validation.ts';
import { parseJson } from '../../foundation/json.ts';
import { hostileBatchBodies, hostileKeyBodies } from '../../../test-kit/hostile-bodies.ts';

const errorsOf = (schema: TSchema, value: unknown) =>
  fieldErrorsOf(schema, value).map(({ pointer, detail }) => ({ pointer, detail }));

function fieldErrorsOf(schema: TSchema, value: unknown): readonly FieldError[] {
  try {
    validator(schema)(value);
  } catch (error) {
    assert.ok(error instanceof DomainError && error.code === 'invalid_request');
    return error.options.errors ?? [];
  }
  return [];
}

const closed = { additionalProperties: false } as const;
const instant = Type.String({ format: 'date-time' });

const table: Readonly<Record<keyof typeof errorTexts, readonly [TSchema, value: unknown, pointer: string, string]>> = {
  type: [Type.Object({ a: Type.String() }), { a: [] }, '/a', 'Expected a string, but found an array.'],
  required: [Type.Object({ a: Type.String() }), {}, '/a', 'This field is required.'],
  additionalProperties: [
    Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }, closed),
    { 'x/y~z': 1 },
    '/x~1y~0z',
    'This field is unknown. Known fields are: a, b.',
  ],
  minProperties: [
    Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }, { minProperties: 1 }),
    {},
    '',
    'Expected at least one of: a, b.',
  ],
  maxProperties: [
    Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }, { maxProperties: 1 }),
    { a: 'x', b: 'y' },
    '',
    'Expected at most 1 of: a, b.',
  ],
  minimum: [Type.Integer({ minimum: 1 }), 0, '', 'Expected at least 1.'],
  maximum: [Type.Integer({ maximum: 5 }), 6, '', 'Expected at most 5.'],
  minItems: [Type.Array(Type.String(), { minItems: 1 }), [], '', 'Expected at least 1 item.'],
  maxItems: [
    Type.Object({ a: Type.Array(Type.String(), { maxItems: 2 }) }),
    { a: [1, 2, 3] },
    '/a',
    'Expected at most 2 items, but found 3.',
  ],
  uniqueItems: [
    Type.Array(Type.String(), { uniqueItems: true }),
    ['a', 'b', 'a'],
    '',
    'Expected each item only once, but "a" is repeated.',
  ],
  minLength: [Type.String({ minLength: 1 }), '', '', 'Expected text, but found an empty string.'],
  maxLength: [Type.String({ maxLength: 2 }), '🦊🦊🦊', '', 'Expected at most 2 characters.'],
  pattern: [
    Type.String({ pattern: '^[a-z]+$', examples: ['orders'] }),
    'A',
    '',
    'Expected text of the form ^[a-z]+$, such as "orders".',
  ],
  format: [
    instant,
    'tomorrow',
    '',
    'Expected a date and time with its zone (RFC 3339), such as "2026-11-21T09:30:00Z".',
  ],
  const: [Type.Literal('full'), 'half', '', 'Expected "full".'],
  enum: [Type.Enum(['user', 'admin']), 'root', '', 'Expected one of "user", "admin".'],
  anyOf: [Type.Union([instant, Type.Null()]), 5, '', 'Expected a string or null, but found a number.'],
};

test('each error states the place, the expected value and the found value', () => {
  for (const [keyword, [schema, value, pointer, detail]] of Object.entries(table)) {
    assert.deepEqual(errorsOf(schema, value), [{ pointer, detail }], keyword);
  }
});

test('each error has a code, and the bound that the value is beyond', () => {
  const expected: Readonly<Record<keyof typeof errorTexts, readonly [code: FieldCode, limit?: number]>> = {
    type: ['wrong_type'],
    required: ['required'],
    additionalProperties: ['unknown_member'],
    minProperties: ['too_few', 1],
    maxProperties: ['too_many', 1],
    minimum: ['too_small', 1],
    maximum: ['too_large', 5],
    minItems: ['too_few', 1],
    maxItems: ['too_many', 2],
    uniqueItems: ['repeated'],
    minLength: ['too_short', 1],
    maxLength: ['too_long', 2],
    pattern: ['wrong_form'],
    format: ['wrong_time'],
    const: ['wrong_value'],
    enum: ['wrong_value'],
    anyOf: ['wrong_type'],
  };
  for (const [keyword, [schema, value]] of Object.entries(table)) {
    const [code, limit] = expected[keyword as keyof typeof errorTexts];
    const [{ code: found, limit: bound } = {}] = fieldErrorsOf(schema, value);
    assert.deepEqual([found, bound], [code, limit], keyword);
  }
});

test('an unknown field does not count as one of the known fields', () => {
  const a = Type.Optional(Type.String());
  const schema = Type.Object({ a, b: a }, { additionalProperties: false, maxProperties: 1 });
  assert.throws(
    () => validator(schema)({ a: 'x', c: 'y' }),
    (error: DomainError) =>
      error.options.errors?.length === 1 &&
      error.options.errors[0]?.detail.startsWith('This field is unknown') === true,
  );
});

test('the error of a fraction says that it is not an integer', () => {
  const detail = 'Expected an integer, but found a number with a fraction.';
  assert.deepEqual(errorsOf(Type.Integer(), 1.5), [{ pointer: '', detail }]);
});

test('the error of a number in a query states its bounds, not a pattern', () => {
  for (const limit of ['0', '101', 'x', '1.5', '']) {
    const detail = 'Expected a whole number from 1 to 100.';
    assert.deepEqual(errorsOf(listKeys.query, { limit }), [{ pointer: '/limit', detail }], limit);
  }
});

test('one response has several errors, in the order of the fields', () => {
  assert.deepEqual(errorsOf(NewKeyBody, { scopes: ['a', 5, 'a b'], expiresAt: 'soon', owner: 'me' }), [
    { pointer: '/nickname', detail: 'This field is required.' },
    { pointer: '/scopes/1', detail: 'Expected a string, but found a number.' },
    {
      pointer: '/scopes/2',
      detail: String.raw`Expected text of the form ^[\x21\x23-\x5B\x5D-\x7E]+$, such as "orders:read".`,
    },
    { pointer: '/expiresAt', detail: table.format[3] },
    {
      pointer: '/owner',
      detail:
        'This field is unknown. Known fields are: nickname, scopes, expiresAt, addresses, limits, metadata, environment.',
    },
  ]);
});

test('a valid value is returned unchanged', () => {
  const fox = '🦊'.repeat(2);
  const fitting: readonly (readonly [TSchema, unknown])[] = [
    [NewKeyBody, { nickname: 'a', scopes: ['a', 'b'], expiresAt: null }],
    [NewKeyBody, { nickname: 'a', expiresAt: '2027-01-31T00:00:00+01:00' }],
    [Type.String({ maxLength: 2 }), fox],
    [Type.Object({ a: Type.Integer() }), { a: 1, b: 2 }],
  ];
  for (const [schema, value] of fitting) assert.equal(validator(schema)(value), value);
});

test('a value is rejected even if the failing rule has no error text', () => {
  assert.throws(() => validator(Type.Integer({ multipleOf: 2 }))(3), { code: 'invalid_request' });
});

/** Names of the validation keywords in a schema of the contract. */
function keywordsOf(schema: unknown): string[] {
  const { properties = {}, items, anyOf = [], ...own } = schema as Record<string, unknown> & { anyOf?: unknown[] };
  const below = [...Object.values(properties as object), ...(items === undefined ? [] : [items]), ...anyOf];
  const names = Object.keys(own).filter(
    (name) => !['$id', 'description', 'examples'].includes(name) && !name.startsWith('x-'),
  );
  return [...names, ...(anyOf.length > 0 ? ['anyOf'] : []), ...below.flatMap(keywordsOf)];
}

test('every keyword of the contract’s bodies and queries has a text', () => {
  const schemas = allRoutes
    .flatMap(({ body, query }) => [body?.schema, query])
    .filter((schema) => schema !== undefined);
  const used = new Set(schemas.flatMap(keywordsOf));
  assert.ok(used.size > 10);
  assert.deepEqual(
    [...used].filter((name) => !(name in errorTexts)),
    [],
  );
});

test('the items of an array that is too long are not checked', () => {
  const long = Array.from({ length: limits.scopesPerKeyMax + 1 }, () => '');
  assert.deepEqual(errorsOf(NewKeyBody, { nickname: 'a', scopes: long }), [
    { pointer: '/scopes', detail: 'Expected at most 32 items, but found 33.' },
  ]);
});

test('the search ends after twenty errors, and no further item is read', () => {
  let touched = 0;
  const items = Array.from({ length: limits.credentialsPerBatchMax }, () => 0);
  const watched = new Proxy(items, {
    get: (target, name, receiver) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) touched++;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  assert.equal(errorsOf(VerifyBatchBody, { credentials: watched }).length, limits.validationErrorsMax);
  assert.ok(touched <= limits.validationErrorsMax + 1);
});

test('the largest hostile bodies get at most twenty errors and a short response', () => {
  for (const [schema, bodies] of [
    [NewKeyBody, hostileKeyBodies()],
    [VerifyBatchBody, hostileBatchBodies()],
  ] as const) {
    for (const [what, text] of Object.entries(bodies)) {
      const errors = errorsOf(schema, parseJson(Buffer.from(text)));
      assert.ok(errors.length <= limits.validationErrorsMax, what);
      assert.ok(JSON.stringify(errors).length < 4_000, what);
    }
  }
});
