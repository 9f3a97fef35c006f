/** The records in JSON of any layout, in bounded memory: a record is not parsed here. */
import { limits } from '@keyreeve/contract';
import type { Line } from '../../foundation/lines.ts';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const lineFeed = 0x0a;
const isOpening = (byte: number): boolean => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number): boolean => byte === 0x7d || byte === 0x5d;
const openingBracket = 0x5b;
const nameBytesMax = 64;
const isWhite = (byte: number): boolean => byte === 0x20 || byte === 0x09 || byte === 0x0d || byte === 0x0a;

/**
 * Yields each value of a top-level array, each value of an array that is a member of the top-level object with one of the names,
 * and otherwise each top-level value.
 * @param wrappers names of such members
 * @returns each record with the line where it begins; without `bytes` if it is longer than a line may be
 */
export async function* jsonRecordsOf(
  source: AsyncIterable<Uint8Array>,
  wrappers: readonly string[],
): AsyncGenerator<Line> {
  const scanner = new Scanner(wrappers);
  for await (const chunk of source) yield* scanner.scan(chunk);
  yield* scanner.end();
}

class Scanner {
  readonly #wrappers: readonly string[];
  /** Open arrays and objects. */
  #depth = 0;
  /** The depth at which records begin. */
  #recordDepth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The text of the last string at depth 1, which is the name of a member if a value follows. */
  #name: number[] = [];
  #isInRecord = false;
  /** A string, number or word in the place of a record. */
  #isScalar = false;
  #parts: Uint8Array[] = [];
  #length = 0;
  #line = 1;
  #startLine = 1;

  constructor(wrappers: readonly string[]) {
    this.#wrappers = wrappers;
  }

  *scan(chunk: Uint8Array): Generator<Line> {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === lineFeed) this.#line++;
      if (this.#isInString) {
        this.#scanString(byte);
        continue;
      }
      if (this.#isScalar && (byte === comma || isClosing(byte) || (this.#recordDepth === 0 && isWhite(byte))))
        yield* this.#finish(chunk.subarray(start, at));
      if (isOpening(byte)) {
        if (this.#depth === this.#recordDepth && !this.#isInRecord) {
          if (this.#depth === 0 && byte === openingBracket) this.#recordDepth = 1;
          else start = this.#begin(at);
        } else if (this.#isWrapper(byte)) this.#unwrap();
        this.#depth++;
      } else if (isClosing(byte)) {
        this.#depth = Math.max(0, this.#depth - 1);
        if (this.#isInRecord && this.#depth === this.#recordDepth) yield* this.#finish(chunk.subarray(start, at + 1));
        else if (this.#depth < this.#recordDepth) this.#recordDepth = this.#depth === 0 ? 0 : Infinity;
        if (this.#depth === 0) this.#recordDepth = 0;
      } else if (this.#depth === this.#recordDepth && !this.#isInRecord && byte !== comma && !isWhite(byte)) {
        if (this.#depth === 0 && isByteOrderMark(byte)) continue;
        start = this.#begin(at);
        this.#isScalar = true;
      }
      if (byte === quote) {
        this.#isInString = true;
        if (this.#depth === 1) this.#name = [];
      }
    }
    if (this.#isInRecord) this.#keep(chunk.subarray(start));
  }

  *end(): Generator<Line> {
    if (this.#isScalar || (this.#isInRecord && this.#depth > this.#recordDepth))
      yield* this.#finish(Buffer.of(), false);
    else if (this.#depth > 0) yield { number: this.#line, bytes: Buffer.of(), isEnded: false };
  }

  #scanString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isInString = false;
    else if (this.#depth === 1 && this.#name.length <= nameBytesMax) this.#name.push(byte);
  }

  #begin(at: number): number {
    this.#isInRecord = true;
    this.#startLine = this.#line;
    return at;
  }

  /** Whether an array begins that has the records. The object around it then is none. */
  #isWrapper(byte: number): boolean {
    if (byte !== openingBracket || this.#depth !== 1) return false;
    if (this.#recordDepth !== 0 && this.#recordDepth !== Infinity) return false;
    return this.#wrappers.includes(Buffer.from(this.#name).toString());
  }

  #unwrap(): void {
    this.#recordDepth = 2;
    this.#isInRecord = false;
    this.#parts = [];
    this.#length = 0;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    if (this.#length <= limits.importLineBytesMax) this.#parts.push(part);
    else this.#parts = [];
  }

  *#finish(part: Uint8Array, isEnded = true): Generator<Line> {
    this.#keep(part);
    const isShort = this.#length <= limits.importLineBytesMax;
    yield { number: this.#startLine, bytes: isShort ? Buffer.concat(this.#parts) : undefined, isEnded };
    this.#parts = [];
    this.#length = 0;
    this.#isInRecord = false;
    this.#isScalar = false;
  }
}

/** Any byte of the mark in UTF-8, which only precedes the first value. */
const isByteOrderMark = (byte: number): boolean => byte === 0xef || byte === 0xbb || byte === 0xbf;
