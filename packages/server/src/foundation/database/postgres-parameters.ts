/** Parameters of statements in PostgreSQL's formats. */
import type { SqlValue } from './sql.ts';

/** Text; or bytes in the binary format of the parameter's type. */
export type Parameter = string | Buffer | null;

/** The value of a parameter; or for an array parameter, values of one type. */
export type ParameterValue = SqlValue | readonly SqlValue[];

export function toParameter(value: ParameterValue): Parameter {
  if (value === null) return null;
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return bytesOf(value);
  return typeof value === 'number' ? String(value) : toArray(value);
}

const bytesOf = (value: Uint8Array): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(value.buffer, value.byteOffset, value.byteLength);

function toArray(values: readonly SqlValue[]): Parameter {
  if (values.every((value) => value instanceof Uint8Array)) return toByteaArray(values);
  // https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
  const items = values.map((value) => {
    if (value === null) return 'NULL';
    return typeof value === 'string' ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value;
  });
  return `{${items.join(',')}}`;
}

const byteaOid = 17;
const arrayHeaderBytes = 20;
const lengthBytes = 4;

/**
 * The binary format of `array_send`: number of dimensions, whether there are nulls, type of the elements, length, lower
 * bound; then each element with its length. Hexadecimal text would take twice the bytes, and time on both sides.
 */
function toByteaArray(values: readonly Uint8Array[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + lengthBytes + value.length, arrayHeaderBytes);
  const array = Buffer.allocUnsafe(bytes);
  let offset = 0;
  for (const number of [1, 0, byteaOid, values.length, 1]) offset = array.writeInt32BE(number, offset);
  for (const value of values) {
    offset = array.writeInt32BE(value.length, offset);
    array.set(value, offset);
    offset += value.length;
  }
  return array;
}
