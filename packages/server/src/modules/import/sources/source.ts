/** What a source is: it turns a record of another system into records in Keyreeve's own format. */
import type { Warn } from '../fields.ts';
import { LineRejectedError, type FileObject, type FileRecord } from '../file-record.ts';
import { anyShape, type Records } from '../records.ts';
import { timeOf } from '../times.ts';

/**
 * @returns records in Keyreeve's own format; none for a record that is no account or key
 * @throws LineRejectedError
 */
export type Convert = (record: FileObject, warn: Warn) => readonly FileObject[];

/** @param wrappers names of members that are arrays of records */
export const source =
  (convert: Convert, wrappers: readonly string[] = []): Records =>
  (bytes, warn) =>
    converted(anyShape(wrappers)(bytes, warn), convert, warn);

export async function* converted(
  records: AsyncIterable<FileRecord>,
  convert: Convert,
  warn: (line: number, reason: string) => void,
): AsyncGenerator<FileRecord> {
  for await (const { line, object } of records) {
    const results = object instanceof LineRejectedError ? [object] : tried(object, convert, (text) => warn(line, text));
    for (const result of results) yield { line, object: result };
  }
}

function tried(object: FileObject, convert: Convert, warn: Warn): readonly (FileObject | LineRejectedError)[] {
  try {
    return convert(object, warn);
  } catch (error) {
    if (!(error instanceof LineRejectedError)) throw error;
    return [error];
  }
}

/** A member as text. A number becomes its digits. Undefined for nothing, an empty text and any other value. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A member that is an object; one without members for any other value. */
export const objectOf = (value: unknown): FileObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as FileObject) : {};

/** A member that is a list of objects; empty for any other value. */
export const objectsOf = (value: unknown): readonly FileObject[] => (Array.isArray(value) ? value.map(objectOf) : []);

const flags = new Map<unknown, boolean>([
  [true, true],
  [1, true],
  ['1', true],
  ['t', true],
  ['true', true],
  ['yes', true],
  [false, false],
  [0, false],
  ['0', false],
  ['f', false],
  ['false', false],
  ['no', false],
]);

/**
 * A member that is true or false, also as databases and CSV write it.
 * @returns undefined for nothing
 * @throws LineRejectedError for another value: such a member can restrict the account
 */
export function flagOf(name: string, value: unknown): boolean | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const flag = flags.get(typeof value === 'string' ? value.trim().toLowerCase() : value);
  if (flag === undefined) throw new LineRejectedError(`${name} is not true or false`);
  return flag;
}

/**
 * Whether a ban that ends at the time is in force. A time that cannot be read is in force: the account stays disabled.
 * @param value undefined, null or empty for no ban
 */
export function isInForceUntil(value: unknown, now: number): boolean {
  if (value === undefined || value === null || value === '') return false;
  const end = timeOf(value);
  return end === undefined || end > now;
}

/** Without the members that are undefined. */
export const present = (record: FileObject): FileObject =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null));
