/** The fields of a line: known ones of their type, and no others. */
import { parseJson } from '../../foundation/json.ts';
import { DomainError } from '../../foundation/errors.ts';
import { LineRefused } from './run-import.ts';

const kinds = {
  text: (value: unknown): value is string => typeof value === 'string',
  flag: (value: unknown): value is boolean => typeof value === 'boolean',
  texts: (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((element) => typeof element === 'string'),
};
const kindNames = { text: 'a string', flag: 'true or false', texts: 'a list of strings' } as const;

type Kind = keyof typeof kinds;
type ValueOf<K extends Kind> = (typeof kinds)[K] extends (value: unknown) => value is infer V ? V : never;
export type FieldKinds = Readonly<Record<string, Kind>>;
/** What isn't given, or null, is undefined. */
export type Fields<F extends FieldKinds> = { readonly [Name in keyof F]: ValueOf<F[Name]> | undefined };

const instantPattern = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** @throws LineRefused */
export function readFields<F extends FieldKinds>(bytes: Uint8Array, known: F): Fields<F> {
  const object = parseObject(bytes);
  for (const name of Object.keys(object)) {
    if (!Object.hasOwn(known, name)) throw new LineRefused(`it has no field “${name.slice(0, 64)}”`);
  }
  const entries = Object.entries(known).map(([name, kind]) => {
    const value = object[name] ?? undefined;
    if (value !== undefined && !kinds[kind](value)) throw new LineRefused(`${name} is not ${kindNames[kind]}`);
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
    throw new LineRefused(error.options.detail ?? 'it is not JSON in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new LineRefused('it is not a JSON object');
  return value as Readonly<Record<string, unknown>>;
}

/** @returns it @throws LineRefused when it is missing or empty */
export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new LineRefused(`${name} is missing`);
  return value;
}

/** RFC 3339 @returns milliseconds @throws LineRefused */
export function instantOf(name: string, text: string): number {
  const ms = instantPattern.test(text) ? Date.parse(text) : Number.NaN;
  if (!(ms >= 0)) throw new LineRefused(`${name} is not a time like 2026-01-31T09:30:00Z`);
  return ms;
}

/** When it was made elsewhere. @throws LineRefused */
export function creationOf(text: string | undefined, now: number): number {
  const at = text === undefined ? now : instantOf('createdAt', text);
  if (at > now) throw new LineRefused('createdAt lies in the future');
  return at;
}
