/**
 * The records of an import file: from bytes to objects. Keyreeve's own format is JSON Lines in UTF-8. Files of other systems
 * can be JSON of any layout or CSV, compressed with gzip, in UTF-8 or UTF-16.
 */
import { limits } from '@keyreeve/contract';
import { parseJson } from '../../foundation/json.ts';
import { DomainError } from '../../foundation/errors.ts';
import type { Line } from '../../foundation/lines.ts';
import { csvRecordsOf } from './csv-records.ts';
import { decode, peek } from './decoded.ts';
import { FileDamagedError, LineRejectedError, type FileObject, type FileRecord } from './file-record.ts';
import { jsonRecordsOf } from './json-records.ts';
import { importLinesOf } from './lines.ts';
import { shapeOf, shapeNames } from './shapes.ts';

/**
 * Reads the records of a file.
 * @param warn reports something unusual in the record that begins in the line
 */
export type Records = (
  source: AsyncIterable<Uint8Array>,
  warn: (line: number, reason: string) => void,
) => AsyncIterable<FileRecord>;

/** JSON Lines in UTF-8. A file of another kind is one rejected record, which names the kind. */
export async function* jsonLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<FileRecord> {
  const { prefix, all } = await peek(source, limits.importLineBytesMax);
  const shape = shapeOf(prefix);
  if (shape === 'lines') return yield* objectsOf(importLinesOf(all));
  const from = shape === 'csv' ? 'csv' : 'json';
  const remedy = shape === 'zip' ? 'unpack it' : `add --from ${from}, or the name of the system it is from`;
  yield { line: 1, object: new LineRejectedError(`the file is ${shapeNames[shape]}, not JSON Lines: ${remedy}`) };
}

/**
 * JSON of any layout (JSON Lines, an array, one object after the other, or an object with a member that is an array of the
 * records) or CSV with a line of names.
 * @param wrappers names of members that are arrays of records
 */
export const anyShape = (wrappers: readonly string[]): Records =>
  async function* (source) {
    const { prefix, all } = await peek(decode(source), limits.importLineBytesMax);
    const shape = shapeOf(prefix);
    if (shape === 'csv') return yield* csvRecordsOf(all);
    if (shape === 'zip') throw new FileDamagedError('the file is a ZIP archive: unpack it');
    const hasOwnLines = shape === 'lines' && !isOneLine(prefix, wrappers);
    yield* objectsOf(hasOwnLines ? importLinesOf(all) : jsonRecordsOf(all, wrappers), foreignDepthMax);
  };

/** Objects of other systems have metadata of any depth, which an import does not read. */
const foreignDepthMax = 64;

/** Whether the first line is an object with a wrapper, or has no end nearby. */
function isOneLine(prefix: Buffer, wrappers: readonly string[]): boolean {
  const end = prefix.indexOf('\n');
  if (end < 0 && prefix.length > limits.importLineBytesMax) return true;
  const line = prefix.toString('utf8', 0, end < 0 ? undefined : end);
  return wrappers.some((name) => new RegExp(`"${name}"\\s{0,9}:\\s{0,9}\\[`).test(line));
}

/** The objects in texts of JSON. */
async function* objectsOf(
  lines: AsyncIterable<Line>,
  depthMax: number = limits.jsonDepthMax,
): AsyncGenerator<FileRecord> {
  for await (const line of lines) yield { line: line.number, object: objectOf(line, depthMax) };
}

function objectOf({ bytes, isEnded }: Line, depthMax: number): FileObject | LineRejectedError {
  if (bytes === undefined) return new LineRejectedError(`it is longer than ${limits.importLineBytesMax} bytes`);
  let value: unknown;
  try {
    value = parseJson(bytes, depthMax);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (!isEnded && endsEarly(bytes)) return new LineRejectedError('the file is cut off in this line');
    return new LineRejectedError(error.options.detail ?? 'it is not JSON in UTF-8');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new LineRejectedError('it is not a JSON object');
  return value as FileObject;
}

const closingBrace = 0x7d;
/** The beginning of an object is not valid JSON, so a line that is cut off never imports half an object. */
const endsEarly = (bytes: Uint8Array): boolean => bytes.findLast((byte) => byte > 0x20) !== closingBrace;
