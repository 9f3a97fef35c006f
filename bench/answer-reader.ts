/** Tells when an HTTP/1.1 answer is complete, and whether it is the expected one; one answer at a time. */

/** The first digit of the status. */
const statusAt = 'HTTP/1.1 '.length;
const digitTwo = 0x32;
const headEnd = '\r\n\r\n';
const chunkedEnd = '0\r\n\r\n';

export class AnswerReader {
  /** After a complete answer. */
  isRight = false;
  readonly #expected: Buffer | undefined;
  /** Of the body; undefined while the head isn't complete, Infinity when it comes in chunks. */
  #missingBytes: number | undefined;
  /** The head while it isn't complete; after it the last bytes of a body in chunks. */
  #kept: Buffer = Buffer.alloc(0);
  #isFound = false;

  constructor(expected?: string) {
    this.#expected = expected === undefined ? undefined : Buffer.from(expected);
  }

  begin(): void {
    this.#missingBytes = undefined;
    this.#isFound = this.#expected === undefined;
  }

  /** @returns whether the answer is complete */
  take(chunk: Buffer): boolean {
    if (this.#missingBytes !== undefined) return this.#takeBody(chunk);
    const seen = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const end = seen.indexOf(headEnd);
    if (end < 0) {
      this.#kept = seen;
      return false;
    }
    this.#kept = Buffer.alloc(0);
    this.isRight = seen[statusAt] === digitTwo;
    const bodyAt = end + headEnd.length;
    // An answer without a body ends with its head: the common case, decided without reading it.
    if (bodyAt === seen.length && this.#expected === undefined && seen.includes('Content-Length: 0\r\n')) return true;
    const head = seen.toString('latin1', 0, bodyAt);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    this.#missingBytes = length !== undefined ? Number(length) : /^transfer-encoding:/im.test(head) ? Infinity : 0;
    return this.#takeBody(seen.subarray(bodyAt));
  }

  #takeBody(bytes: Buffer): boolean {
    // The expected text is short and at the front: a server that cut it in two would be seen as a failure, not missed.
    this.#isFound ||= this.#expected !== undefined && bytes.includes(this.#expected);
    let isComplete: boolean;
    if (this.#missingBytes === Infinity) {
      this.#kept = Buffer.concat([this.#kept, bytes]).subarray(-chunkedEnd.length);
      isComplete = this.#kept.toString('latin1') === chunkedEnd;
    } else {
      this.#missingBytes = (this.#missingBytes ?? 0) - bytes.length;
      isComplete = this.#missingBytes <= 0;
    }
    if (!isComplete) return false;
    this.#kept = Buffer.alloc(0);
    this.isRight &&= this.#isFound;
    return true;
  }
}
