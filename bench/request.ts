/**
 * Requests for the load generator: the bytes of one HTTP/1.1 request, with blanks that are filled anew for each use from
 * a record of a pool file. What differs between two requests has a fixed length, so nothing else changes with it.
 */
import { writeFileSync } from 'node:fs';

export interface RequestTemplate {
  /**
   * Each run of NUL is a blank. Blanks take the bytes of a record in order; when it is used up, the next blank draws
   * another, so that a batch of a hundred keys draws a hundred.
   */
  readonly text: string;
  /** Where records come from. */
  readonly pool?: Pool;
  /** What a right answer contains, beyond a status of 2xx. */
  readonly expected?: string;
  /** Whether a refusal is what is expected. */
  readonly mayFail?: boolean;
}

export interface Pool {
  readonly path: string;
  readonly recordBytes: number;
  /** Drawn evenly with repetition, or each one once, in order; the load ends when none is left. */
  readonly draw: 'random' | 'once';
  /** Where drawing once begins. */
  readonly first?: number;
}

/** Writes records of one length; what is missing is white space, which a header may end with. */
export function writePool(path: string, records: readonly string[], draw: Pool['draw'] = 'random'): Pool {
  const recordBytes = Math.max(...records.map((record) => record.length));
  writeFileSync(path, records.map((record) => record.padEnd(recordBytes)).join(''), 'latin1');
  return { path, recordBytes, draw };
}

/** A number that no other request of the same load has: its blank is filled with digits. */
export const serialBytes = 12;
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
  // JSON would write a blank's bytes as escapes.
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

/** What one connection needs to make its requests. */
export interface RequestMaker {
  /** The request's bytes, overwritten by the next call; undefined when the pool is used up. */
  next(): Buffer | undefined;
}

/** Hands out records of one pool to all connections. */
export class Records {
  readonly #bytes: Buffer;
  readonly #recordBytes: number;
  readonly #isOnce: boolean;
  #nextRecord: number;
  #nextSerial = Date.now();

  constructor(bytes: Buffer, pool: Pool | undefined) {
    this.#bytes = bytes;
    this.#recordBytes = pool?.recordBytes ?? 1;
    this.#isOnce = pool?.draw === 'once';
    this.#nextRecord = pool?.first ?? 0;
  }

  /** @returns where the record begins; undefined when none is left */
  draw(): number | undefined {
    const records = this.#bytes.length / this.#recordBytes;
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

/** Where a byte stands, run by run. */
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
