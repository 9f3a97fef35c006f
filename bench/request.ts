/**
 * Requests for the load generator: the bytes of one HTTP/1.1 request, with blanks that each use fills from a record of a
 * pool file. Blanks have a fixed length, so the rest of the request does not change.
 */
import { writeFileSync } from 'node:fs';

export interface RequestTemplate {
  /**
   * Each run of NUL is a blank. Blanks take the bytes of a record in order. When a record is used up, the next blank draws
   * another one: a batch of 100 keys draws 100 records.
   */
  readonly text: string;
  /** The source of the records. */
  readonly pool?: Pool;
  /** A text that the response must contain, beside a status of 2xx. */
  readonly expected?: string;
  /** Whether a rejection is the expected response. */
  readonly mayFail?: boolean;
}

export interface Pool {
  readonly path: string;
  readonly recordBytes: number;
  /** `random` draws uniformly with repetition; `once` draws each record once, in order, and the load ends after the last. */
  readonly draw: 'random' | 'once';
  /** The first record for `once`. Default: 0. */
  readonly first?: number;
  /** The load with `once` ends before this record. Default: the number of records. */
  readonly last?: number;
}

/** Pads the records with spaces to one length. A header value may end with spaces. */
export function writePool(path: string, records: readonly string[], draw: Pool['draw'] = 'random'): Pool {
  const recordBytes = Math.max(...records.map((record) => record.length));
  writeFileSync(path, records.map((record) => record.padEnd(recordBytes)).join(''), 'latin1');
  return { path, recordBytes, draw };
}

/** A placeholder for a number that is unique over all loads within eleven days. */
const serialBytes = 12;
export const serial = '\u0001'.repeat(serialBytes);

export const blank = (bytes: number): string => '\0'.repeat(bytes);

interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function requestText({ method, path, headers = {}, body }: RequestParts): string {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: 'bench', ...headers, ...length }).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

export const jsonRequest = (path: string, headers: Readonly<Record<string, string>>, body: unknown): string =>
  // JSON.stringify escapes the bytes of blanks.
  requestText({
    method: 'POST',
    path,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body).replaceAll('\\u0000', '\0').replaceAll('\\u0001', '\u0001'),
  });

export const formRequest = (path: string, headers: Readonly<Record<string, string>>, body: string): string =>
  requestText({
    method: 'POST',
    path,
    headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
    body,
  });

/** Creates the requests of one connection. */
export interface RequestMaker {
  /** @returns the bytes of a request, which the next call overwrites; undefined if the pool is used up */
  next(): Buffer | undefined;
}

/** Distributes the records of one pool to all connections. */
export class Records {
  readonly #bytes: Buffer;
  readonly #recordBytes: number;
  readonly #isOnce: boolean;
  readonly #last: number;
  #nextRecord: number;
  /** Microseconds: with milliseconds, a load of more than 1,000 requests/s used the numbers of the next load. */
  #nextSerial = Date.now() * 1_000;

  constructor(bytes: Buffer, pool: Pool | undefined) {
    this.#bytes = bytes;
    this.#recordBytes = pool?.recordBytes ?? 1;
    this.#isOnce = pool?.draw === 'once';
    this.#last = pool?.last ?? Infinity;
    this.#nextRecord = pool?.first ?? 0;
  }

  /** @returns the offset of the record; undefined if none is left */
  draw(): number | undefined {
    const records = Math.min(this.#last, this.#bytes.length / this.#recordBytes);
    const index = this.#isOnce ? this.#nextRecord++ : Math.floor(Math.random() * records);
    return index < records ? index * this.#recordBytes : undefined;
  }

  maker(text: string): RequestMaker {
    const request = Buffer.from(text, 'latin1');
    const blanks = runsOf(request, 0);
    const serialAt = request.indexOf(1);
    const next = (): Buffer | undefined => {
      let from = 0;
      let left = 0;
      for (const { at, bytes } of blanks) {
        if (left === 0) {
          const drawn = this.draw();
          if (drawn === undefined) return undefined;
          from = drawn;
          left = this.#recordBytes;
        }
        this.#bytes.copy(request, at, from, from + bytes);
        from += bytes;
        left -= bytes;
      }
      if (serialAt >= 0) request.write(String(this.#nextSerial++).slice(-serialBytes), serialAt, 'latin1');
      return request;
    };
    return { next };
  }
}

/** @returns the runs of a byte */
function runsOf(bytes: Buffer, byte: number): readonly { readonly at: number; readonly bytes: number }[] {
  const runs: { at: number; bytes: number }[] = [];
  for (let at = bytes.indexOf(byte); at >= 0; at = bytes.indexOf(byte, at)) {
    const start = at;
    while (bytes[at] === byte) at++;
    runs.push({ at: start, bytes: at - start });
    if (at >= bytes.length) break;
  }
  return runs;
}
