/** Reads the fields of a record: known fields of the right types, and no other fields. */
import { LineRejectedError, type FileObject } from './file-record.ts';
import { timeOf } from './times.ts';

const kinds = {
  text: (value: unknown): value is string => typeof value === 'string',
  flag: (value: unknown): value is boolean => typeof value === 'boolean',
  texts: (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((element) => typeof element === 'string'),
  /** Any value: a wrong one costs a warning, and never the record. */
  cosmetic: (value: unknown): value is unknown => value !== undefined,
};
const kindNames = { text: 'a string', flag: 'true or false', texts: 'a list of strings', cosmetic: 'a value' } as const;

type Kind = keyof typeof kinds;
type ValueOf<K extends Kind> = (typeof kinds)[K] extends ((value: unknown) => value is infer V) ? V : never;
export type FieldKinds = Readonly<Record<string, Kind>>;
/** A field that is missing or null is undefined. */
export type Fields<F extends FieldKinds> = { readonly [Name in keyof F]: ValueOf<F[Name]> | undefined };

/** Reports something unusual in a record that is imported nevertheless. The text contains no value of the record. */
export type Warn = (reason: string) => void;

/** @throws LineRejectedError */
export function readFields<F extends FieldKinds>(object: FileObject, known: F): Fields<F> {
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

/** @throws LineRejectedError for a missing or empty field */
export function required(name: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new LineRejectedError(`${name} is missing`);
  return value;
}

/** @param value as {@link timeOf} reads it @returns milliseconds since 1970 @throws LineRejectedError */
export function instantOf(name: string, value: unknown): number {
  const ms = timeOf(value);
  if (ms === undefined) throw new LineRejectedError(`${name} is not a time like 2026-01-31T09:30:00Z`);
  return ms;
}

/**
 * When the other system created it. A time that cannot be read costs a warning: nothing depends on it.
 * @returns milliseconds since 1970; `now` by default
 */
export function creationOf(value: unknown, now: number, warn: Warn): number {
  if (value === undefined) return now;
  const at = timeOf(value);
  if (at !== undefined && at <= now) return at;
  const fault = at === undefined ? 'is not a time like 2026-01-31T09:30:00Z' : 'is in the future';
  warn(`createdAt ${fault}; the time of the import is stored`);
  return now;
}
