/** Parses one HTTP/1.1 response at a time: whether it is complete, and whether it is the expected one. */

/** Offset of the first digit of the status. */
const statusAt = 'HTTP/1.1 '.length;
const digitTwo = 0x32;
const headEnd = '\r\n\r\n';
const chunkedEnd = '0\r\n\r\n';

export class AnswerReader {
  /** Valid after a complete response. */
  isExpected = false;
  readonly #expected: Buffer | undefined;
  /** Remaining bytes of the body; undefined while the head is incomplete, Infinity for a chunked body. */
  #missingBytes: number | undefined;
  /** The incomplete head, or the last bytes of a chunked body. */
  #kept: Buffer = Buffer.alloc(0);
  #isFound = false;

  constructor(expected?: string) {
    this.#expected = expected === undefined ? undefined : Buffer.from(expected);
  }

  begin(): void {
    this.#missingBytes = undefined;
    this.#isFound = this.#expected === undefined;
  }

  /** @returns whether the response is complete */
  take(chunk: Buffer): boolean {
    if (this.#missingBytes !== undefined) return this.#takeBody(chunk);
    const received = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    const end = received.indexOf(headEnd);
    if (end < 0) {
      this.#kept = received;
      return false;
    }
    this.#kept = Buffer.alloc(0);
    this.isExpected = received[statusAt] === digitTwo;
    const bodyAt = end + headEnd.length;
    // Most responses have no body. This test recognizes them without parsing the head.
    if (bodyAt === received.length && this.#expected === undefined && received.includes('Content-Length: 0\r\n'))
      return true;
    const head = received.toString('latin1', 0, bodyAt);
    const length = /^content-length: *(\d+)/im.exec(head)?.[1];
    this.#missingBytes = length !== undefined ? Number(length) : /^transfer-encoding:/im.test(head) ? Infinity : 0;
    return this.#takeBody(received.subarray(bodyAt));
  }

  #takeBody(bytes: Buffer): boolean {
    // A server that splits the expected text over two chunks is counted as a failure. The text is short and at the front.
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
    this.isExpected &&= this.#isFound;
    return true;
  }
}
