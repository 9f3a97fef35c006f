/** Parses a line of an import file: a JSON object with known fields of the right types, and no other fields. */
import { parseJson } from '../../foundation/json.ts';
import { DomainError } from '../../foundation/errors.ts';
import { LineRejectedError } from './run-import.ts';

const kinds = {
  text: (value: unknown): value is string => typeof value === 'string',
  flag: (value: unknown): value is boolean => typeof value === 'boolean',
  texts: (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((element) => typeof element === 'string'),
};
const kindNames = { text: 'a string', flag: 'true or false', texts: 'a list of strings' } as const;

type Kind = keyof typeof kinds;
type ValueOf<K extends Kind> = (typeof kinds)[K] extends ((value: unknown) => value is infer V) ? V : never;
export type FieldKinds = Readonly<Record<string, Kind>>;
/** A field that is missing or null is undefined. */
export type Fields<F extends FieldKinds> = { readonly [Name in keyof F]: ValueOf<F[Name]> | undefined };

const instantPattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** @throws LineRejectedError */
export function readFields<F extends FieldKinds>(bytes: Uint8Array, known: F): Fields<F> {
  const object = parseObject(bytes);
  for (const name of Object.keys(object)) {
    if (!Object.hasOwn(known, name)) throw new LineRejectedError(`the field “${name.slice(0, 64)}” is unknown`);
  }
  const entries = Object.entries(known).map(([name, kind]) => {
    const value = object[name] ?? undefined;
    if (value !== undefined && !kinds[kind](value)) throw new LineRejectedError(`${name} is not ${kindNames[kind]}`);
    return [name, value];
  });
  return Object.fromEntries(entries) as Fields<F>;
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new LineRejectedError(error.options.detail ?? 'it is not JSON in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LineRejectedError('it is not a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

/** @throws LineRejectedError for a missing or empty field */
export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new LineRejectedError(`${name} is missing`);
  return value;
}

/** @param text in RFC 3339 @returns milliseconds since 1970 @throws LineRejectedError */
export function instantOf(name: string, text: string): number {
  const ms = instantPattern.test(text) ? Date.parse(text) : Number.NaN;
  if (!(ms >= 0)) throw new LineRejectedError(`${name} is not a time like 2026-01-31T09:30:00Z`);
  return ms;
}

/** @returns when the other system created it, in milliseconds since 1970; `now` by default @throws LineRejectedError */
export function creationOf(text: string | undefined, now: number): number {
  const at = text === undefined ? now : instantOf('createdAt', text);
  if (at > now) throw new LineRejectedError('createdAt is in the future');
  return at;
}
