/** What kind of file the first bytes of an import file show. */

export const shapeNames = {
  gzip: 'compressed with gzip',
  zip: 'a ZIP archive',
  'utf-16le': 'text in UTF-16',
  'utf-16be': 'text in UTF-16',
  array: 'a JSON array',
  layout: 'JSON with an object on several lines',
  csv: 'CSV',
} as const;

/** `lines`: JSON Lines, or a text of no other kind. */
export type Shape = keyof typeof shapeNames | 'lines';

const startsWith = (bytes: Uint8Array, ...start: readonly number[]): boolean =>
  start.every((byte, index) => bytes[index] === byte);

/** @param prefix the first bytes, at least the first line unless it is too long */
export function shapeOf(prefix: Buffer): Shape {
  if (startsWith(prefix, 0x1f, 0x8b)) return 'gzip';
  if (startsWith(prefix, 0x50, 0x4b, 0x03, 0x04)) return 'zip';
  if (startsWith(prefix, 0xff, 0xfe) || (isAscii(prefix[0]) && prefix[1] === 0)) return 'utf-16le';
  if (startsWith(prefix, 0xfe, 0xff) || (prefix[0] === 0 && isAscii(prefix[1]))) return 'utf-16be';
  return shapeOfText(prefix.toString('utf8'));
}

const isAscii = (byte: number | undefined): boolean => byte !== undefined && byte > 0 && byte < 0x80;

function shapeOfText(prefix: string): Shape {
  const text = prefix.replace(/^\uFEFF/, '').trimStart();
  const [line = '', ...others] = text.split('\n', 2).map((each) => each.trim());
  if (line.startsWith('[')) return 'array';
  if (line.startsWith('{')) {
    // A line of JSON Lines that is cut off does not end like this.
    const isOpen = /[[{,]$/.test(line);
    return isOpen && others.length > 0 ? 'layout' : 'lines';
  }
  return headOf(line) === undefined ? 'lines' : 'csv';
}

/**
 * The delimiter of a line of names, as CSV begins with.
 * @returns undefined for a text that is no such line
 */
export function headOf(line: string): ',' | ';' | '\t' | undefined {
  const delimiters = ([',', ';', '\t'] as const).toSorted((one, other) => count(line, other) - count(line, one));
  const [delimiter] = delimiters;
  if (delimiter === undefined || count(line, delimiter) === 0) return undefined;
  const names = line.split(delimiter).map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  return names.every((name) => /^[\p{L}_][\p{L}\p{N} _.()/-]{0,63}$/u.test(name)) ? delimiter : undefined;
}

const count = (text: string, part: string): number => text.split(part).length - 1;
