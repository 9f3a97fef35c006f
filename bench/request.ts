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
  /** What the status of a response begins with. Default: 2; an empty text accepts every status. */
  readonly status?: string;
  /** A text that the response must contain. */
  readonly contains?: string;
}

export interface Pool {
  readonly path: string;
  readonly recordBytes: number;
  /** Takes records in order, from this one. Default: draws them at random, with repetition. */
  readonly first?: number;
}

/** Pads the records with spaces to one length. A header value may end with spaces. */
export function writePool(path: string, records: readonly string[]): Pool {
  const recordBytes = Math.max(...records.map((record) => record.length));
  writeFileSync(path, records.map((record) => record.padEnd(recordBytes)).join(''), 'latin1');
  return { path, recordBytes };
}

/** Of the client IPs of {@link withIps}. */
export const ipBytes = '10.255.255.255'.length;
const ipsMin = 1_000;

/** @returns the records, repeated if they are few, each behind a client IP in a /24 range of its own. Each call starts at another range. */
export function withIps(records: readonly string[]): string[] {
  const first = Math.floor(Math.random() * 2 ** 16);
  return Array.from({ length: Math.max(records.length, ipsMin) }, (_, index) => {
    const range = (first + index) % 2 ** 16;
    return `${`10.${range >> 8}.${range % 256}.1`.padEnd(ipBytes)}${records[index % records.length]}`;
  });
}

/** A placeholder for a number that is unique over all loads within eleven days. */
export const serial = '\u0001'.repeat(12);

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

/** The same request for the server with a constant, empty response. */
export const constantRequest = ({ text, pool }: RequestTemplate): RequestTemplate => ({
  text,
  ...(pool ? { pool } : {}),
});
