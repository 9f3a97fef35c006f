/** The lines of a file that may be of any length and of any content, one at a time. */
import { limits } from '@keyreeve/contract';

export interface Line {
  /** From 1 on. */
  readonly number: number;
  /** Undefined for a line that is too long. */
  readonly bytes: Uint8Array | undefined;
  /** False for a last one that no line feed ends: the file may have been cut there. */
  readonly isEnded: boolean;
}

const lineFeed = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** In bounded memory: of a line that is too long nothing is kept. Lines of white space alone are left out. */
export async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  const take = (isEnded: boolean): Line | undefined => {
    const isTooLong = length > limits.importLineBytesMax;
    const whole = Buffer.concat(isTooLong ? [] : parts);
    const bytes = number === 1 && whole.subarray(0, 3).equals(byteOrderMark) ? whole.subarray(3) : whole;
    const line = { number, bytes: isTooLong ? undefined : bytes, isEnded };
    parts = [];
    length = 0;
    number++;
    return isTooLong || !isBlank(bytes) ? line : undefined;
  };
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      keep(chunk.subarray(from, end));
      const line = take(true);
      if (line) yield line;
      from = end + 1;
    }
    keep(chunk.subarray(from));
  }
  const last = length > 0 ? take(false) : undefined;
  if (last) yield last;

  function keep(part: Uint8Array): void {
    length += part.length;
    if (length <= limits.importLineBytesMax) parts.push(part);
    else parts = [];
  }
}

/** Of JSON's white space only. */
const isBlank = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a);
