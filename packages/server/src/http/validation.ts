/**
 * Validation of bodies and queries by the contract's schemas, with error texts.
 *
 * The schema bounds the cost, regardless of the body: the items of an array that is too long are not checked, the search
 * ends after `validationErrorsMax` errors, and no check compares all pairs. Measurements: bench/RESULTS.md.
 */
import type { TSchema } from 'typebox';
import { IsDateTime } from 'typebox/format';
import { Compile } from 'typebox/schema';
import { documentedAs, limits } from '@keyreeve/contract';
import { DomainError, type FieldError } from '../foundation/errors.ts';

/** The part of JSON Schema that the contract uses. `test/validation.test.ts` reports missing keywords. */
interface Node {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Node;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly [documentedAs]?: Node;
}

/** The text of each keyword's error, which states the expected value. */
export const errorTexts = {
  type: ({ type }: Node, value: unknown) =>
    `Expected ${articled(type ?? 'value')}, but found ${articled(kindOf(value))}${type === 'integer' && typeof value === 'number' ? ' with a fraction' : ''}.`,
  required: () => 'This field is required.',
  additionalProperties: ({ properties = {} }: Node) =>
    `This field is unknown. Known fields are: ${Object.keys(properties).join(', ')}.`,
  minProperties: ({ properties = {} }: Node) => `Expected at least one of: ${Object.keys(properties).join(', ')}.`,
  maxProperties: ({ properties = {}, maxProperties = 0 }: Node) =>
    `Expected at most ${maxProperties} of: ${Object.keys(properties).join(', ')}.`,
  minimum: ({ minimum = 0 }: Node) => `Expected at least ${minimum}.`,
  maximum: ({ maximum = 0 }: Node) => `Expected at most ${maximum}.`,
  minItems: ({ minItems = 0 }: Node) => `Expected at least ${counted(minItems, 'item')}.`,
  maxItems: ({ maxItems = 0 }: Node, value: unknown) =>
    `Expected at most ${counted(maxItems, 'item')}, but found ${(value as unknown[]).length}.`,
  uniqueItems: (_node: Node, value: unknown) =>
    `Expected each item only once, but ${JSON.stringify(value)} is repeated.`,
  minLength: ({ minLength = 0 }: Node) =>
    minLength === 1
      ? 'Expected text, but found an empty string.'
      : `Expected at least ${counted(minLength, 'character')}.`,
  maxLength: ({ maxLength = 0 }: Node) => `Expected at most ${counted(maxLength, 'character')}.`,
  pattern: ({ pattern = '', examples: [example] = [], [documentedAs]: number }: Node) =>
    number?.type === 'integer'
      ? `Expected a whole number from ${number.minimum} to ${number.maximum}.`
      : `Expected text of the form ${pattern}${example === undefined ? '' : `, such as ${JSON.stringify(example)}`}.`,
  format: () => 'Expected a date and time with its zone (RFC 3339), such as "2026-11-21T09:30:00Z".',
  const: (node: Node) => `Expected ${JSON.stringify(node.const)}.`,
  enum: (node: Node) => `Expected one of ${(node.enum ?? []).map((value) => JSON.stringify(value)).join(', ')}.`,
  anyOf: ({ anyOf = [] }: Node, value: unknown) =>
    `Expected ${anyOf.map(({ type }) => articled(type ?? 'value')).join(' or ')}, but found ${articled(kindOf(value))}.`,
} as const;

/** For clients that show a sentence of their own. */
export const fieldReasons: Readonly<
  Record<keyof typeof errorTexts, (node: Node) => Pick<FieldError, 'code' | 'limit'>>
> = {
  type: () => ({ code: 'wrong_type' }),
  required: () => ({ code: 'required' }),
  additionalProperties: () => ({ code: 'unknown_member' }),
  minProperties: ({ minProperties = 0 }) => ({ code: 'too_few', limit: minProperties }),
  maxProperties: ({ maxProperties = 0 }) => ({ code: 'too_many', limit: maxProperties }),
  minimum: ({ minimum = 0 }) => ({ code: 'too_small', limit: minimum }),
  maximum: ({ maximum = 0 }) => ({ code: 'too_large', limit: maximum }),
  minItems: ({ minItems = 0 }) => ({ code: 'too_few', limit: minItems }),
  maxItems: ({ maxItems = 0 }) => ({ code: 'too_many', limit: maxItems }),
  uniqueItems: () => ({ code: 'repeated' }),
  minLength: ({ minLength = 0 }) => ({ code: 'too_short', limit: minLength }),
  maxLength: ({ maxLength = 0 }) => ({ code: 'too_long', limit: maxLength }),
  pattern: () => ({ code: 'wrong_form' }),
  format: () => ({ code: 'wrong_time' }),
  const: () => ({ code: 'wrong_value' }),
  enum: () => ({ code: 'wrong_value' }),
  anyOf: () => ({ code: 'wrong_type' }),
};

type Validate = (value: unknown) => unknown;
type Check = (value: unknown) => boolean;

/** Compiling all schemas takes longer than the rest of the start of an app. */
const checks = new WeakMap<TSchema, Check>();

/** @returns a function that throws DomainError `invalid_request`, with a JSON pointer for each error */
export function validator(schema: TSchema): Validate {
  // The library decides. A value that only it rejects gets an error without pointers.
  const check = checkOf(schema);
  return (value) => {
    const found = new Findings();
    find(found, schema, value, '');
    if (found.errors.length > 0) throw new DomainError('invalid_request', { errors: found.errors });
    if (!check(value)) throw new DomainError('invalid_request');
    return value;
  };
}

/** @returns whether {@link validator} accepts a value. It does not compare the items of an array with each other */
export function checkOf(schema: TSchema): Check {
  const known = checks.get(schema);
  if (known) return known;
  const compiled = Compile(withoutUniqueItems(schema));
  const check = (value: unknown): boolean => compiled.Check(value);
  checks.set(schema, check);
  return check;
}

class Findings {
  readonly errors: FieldError[] = [];

  get isFull(): boolean {
    return this.errors.length >= limits.validationErrorsMax;
  }

  add(keyword: keyof typeof errorTexts, node: Node, value: unknown, pointer: string): void {
    if (!this.isFull)
      this.errors.push({ pointer, detail: errorTexts[keyword](node, value), ...fieldReasons[keyword](node) });
  }
}

function find(found: Findings, node: Node, value: unknown, pointer: string): void {
  if (found.isFull) return;
  if (node.anyOf) return findInOneOf(found, node, value, pointer);
  if (node.type !== undefined && !isOfType(node.type, value)) return found.add('type', node, value, pointer);
  if (node.const !== undefined && value !== node.const) return found.add('const', node, value, pointer);
  if (node.enum && !node.enum.includes(value)) return found.add('enum', node, value, pointer);
  if (typeof value === 'number') findInNumber(found, node, value, pointer);
  else if (typeof value === 'string') findInText(found, node, value, pointer);
  else if (Array.isArray(value)) findInItems(found, node, value, pointer);
  else if (typeof value === 'object' && value !== null) findInFields(found, node, value, pointer);
}

/** The alternatives differ in type, so at most one applies. */
function findInOneOf(found: Findings, node: Node, value: unknown, pointer: string): void {
  const meant = node.anyOf?.find(({ type }) => type === undefined || isOfType(type, value));
  if (meant) find(found, meant, value, pointer);
  else found.add('anyOf', node, value, pointer);
}

function findInNumber(found: Findings, node: Node, value: number, pointer: string): void {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = node;
  if (value < minimum) found.add('minimum', node, value, pointer);
  else if (value > maximum) found.add('maximum', node, value, pointer);
}

function findInText(found: Findings, node: Node, value: string, pointer: string): void {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format } = node;
  if (value.length < minLength) found.add('minLength', node, value, pointer);
  else if (isLonger(value, maxLength)) found.add('maxLength', node, value, pointer);
  else if (pattern !== undefined && !patternOf(pattern).test(value)) found.add('pattern', node, value, pointer);
  else if (format === 'date-time' && !IsDateTime(value)) found.add('format', node, value, pointer);
}

function findInItems(found: Findings, node: Node, value: readonly unknown[], pointer: string): void {
  const { items, minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems = false } = node;
  // Before all other checks: the items of an array that is too long are not checked.
  if (value.length > maxItems) return found.add('maxItems', node, value, pointer);
  if (value.length < minItems) return found.add('minItems', node, value, pointer);
  for (const [index, item] of value.entries()) {
    if (found.isFull) return;
    if (items) find(found, items, item, `${pointer}/${index}`);
  }
  if (uniqueItems) findRepeated(found, node, value, pointer);
}

/** Reports only the first repeated item. Supports only strings: other items would need another comparison. */
function findRepeated(found: Findings, node: Node, value: readonly unknown[], pointer: string): void {
  const seen = new Set<unknown>();
  const repeated = value.find((item) => typeof item === 'string' && (seen.has(item) || !seen.add(item)));
  if (typeof repeated === 'string')
    found.add('uniqueItems', node, repeated.slice(0, limits.errorNameCharsMax), pointer);
}

function findInFields(found: Findings, node: Node, value: object, pointer: string): void {
  const { properties = {}, required = [], additionalProperties = true } = node;
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = node;
  const members = value as Readonly<Record<string, unknown>>;
  const names = Object.keys(members);
  // Unknown members have an error of their own.
  const knownCount = names.filter((name) => Object.hasOwn(properties, name)).length;
  if (names.length < minProperties) found.add('minProperties', node, value, pointer);
  else if (knownCount > maxProperties) found.add('maxProperties', node, value, pointer);
  for (const name of required)
    if (!Object.hasOwn(members, name)) found.add('required', node, undefined, `${pointer}/${escaped(name)}`);
  for (const name of names) {
    if (found.isFull) return;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property) find(found, property, members[name], `${pointer}/${escaped(name)}`);
    else if (!additionalProperties) found.add('additionalProperties', node, undefined, `${pointer}/${escaped(name)}`);
  }
}

/** Compares in code points, but does not count those of a text that is much too long. */
const isLonger = (text: string, codePointsMax: number): boolean =>
  text.length > codePointsMax && (text.length > 2 * codePointsMax || [...text].length > codePointsMax);

const compiledPatterns = new Map<string, RegExp>();

/** Bounded by the number of patterns in the contract. */
function patternOf(source: string): RegExp {
  const pattern = compiledPatterns.get(source) ?? new RegExp(source, 'u');
  compiledPatterns.set(source, pattern);
  return pattern;
}

/** RFC 6901 section 3. Names come from the client, so they are truncated. */
const escaped = (name: string): string =>
  name.slice(0, limits.errorNameCharsMax).replaceAll('~', '~0').replaceAll('/', '~1');

const kindOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);

const isOfType = (type: string, value: unknown): boolean =>
  type === 'integer' ? Number.isInteger(value) : kindOf(value) === type;

const articled = (type: string): string => (type === 'null' ? type : `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`);

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** The library would hash every item, at many times the cost of parsing it. {@link findInItems} checks uniqueness. */
function withoutUniqueItems(schema: TSchema): TSchema {
  return JSON.parse(JSON.stringify(schema), (name, value: unknown) =>
    name === 'uniqueItems' && typeof value === 'boolean' ? undefined : value,
  ) as TSchema;
}
