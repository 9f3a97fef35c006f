/** The lines of an import file. Lines that hold only white space are left out, and so is a byte order mark. */
import { limits } from '@keyreeve/contract';
import { linesOf, type Line } from '../../foundation/lines.ts';

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export async function* importLinesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  for await (const line of linesOf(source, limits.importLineBytesMax)) {
    const bytes = line.number === 1 ? line.bytes && withoutMark(line.bytes) : line.bytes;
    if (bytes === undefined || !isBlank(bytes)) yield { ...line, bytes };
  }
}

const withoutMark = (bytes: Buffer): Buffer => (byteOrderMark.equals(bytes.subarray(0, 3)) ? bytes.subarray(3) : bytes);

/** Whether it holds only white space of JSON. */
const isBlank = (bytes: Buffer): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a);
