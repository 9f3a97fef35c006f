/** Reads the lines of a stream in bounded memory. */

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without the line feed. Undefined for a line that is longer than the bound. */
  readonly bytes: Buffer | undefined;
  /** False for a last line without a line feed: the file may have been cut off there. Not known of a line that is too long. */
  readonly isEnded: boolean;
}

const lineFeed = 0x0a;

/** @param bytesMax a longer line is yielded once this is exceeded; the rest of it is skipped */
export async function* linesOf(source: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Line> {
  let number = 1;
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of source) {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(lineFeed, from);
      const isEnded = end >= 0;
      const part = chunk.subarray(from, isEnded ? end : chunk.length);
      const wasTooLong = length > bytesMax;
      length += part.length;
      if (length <= bytesMax) parts.push(part);
      else if (!wasTooLong) {
        parts = [];
        yield { number, bytes: undefined, isEnded: false };
      }
      if (isEnded) {
        if (length <= bytesMax) yield { number, bytes: Buffer.concat(parts), isEnded };
        parts = [];
        length = 0;
        number++;
      }
      from += part.length + 1;
    }
  }
  if (length > 0 && length <= bytesMax) yield { number, bytes: Buffer.concat(parts), isEnded: false };
}
