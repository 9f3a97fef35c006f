/**
 * The parser of the short path. It accepts a strict subset of the requests that node:http accepts, and interprets each of
 * them as node:http does. Undefined means that the request is not in the subset.
 */

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The part of a request that the handler of the short path reads. */
export interface BareRequest {
  readonly method: string;
  readonly url: string;
  /** Alternating names and values. */
  readonly rawHeaders: string[];
}

/** With the connection, which shows the IP address of the peer. */
export interface ShortRequest extends BareRequest {
  readonly socket: Pick<Socket, 'remoteAddress'>;
}

/** A longer request is not in the subset. */
const requestBytesMax = 8_192;

/** An absolute path without a fragment. */
const requestLine = /GET (\/[\w!$%&'()*+,./:;=?@~-]*) HTTP\/1\.1\r\n/y;

/** Framing, the connection or an expectation depends on these headers. */
const critical = [
  String.raw`connection(?!: ?keep-alive\r\n)`,
  'content-length',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
].join('|');

/** A name is a token (RFC 9110 section 5.6.2). A value is visible ASCII with single spaces, after at most one space. */
const headerLine = new RegExp(
  String.raw`(?!(?:${critical}):)([\w!#$%&'*+.^\x60|~-]+): ?([\x21-\x7e]+(?: [\x21-\x7e]+)*)\r\n`,
  'iy',
);

/** @returns the request, if the bytes are exactly one GET with one Host and no body */
export function parseShortRequest(bytes: Buffer): BareRequest | undefined {
  if (bytes.length > requestBytesMax) return undefined;
  const text = bytes.toString('latin1');
  requestLine.lastIndex = 0;
  const url = requestLine.exec(text)?.[1];
  if (url === undefined) return undefined;
  const rawHeaders: string[] = [];
  let hosts = 0;
  let at = (headerLine.lastIndex = requestLine.lastIndex);
  for (let line = headerLine.exec(text); line !== null; line = headerLine.exec(text)) {
    const [, name = '', value = ''] = line;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    rawHeaders.push(name, value);
    at = headerLine.lastIndex;
  }
  if (hosts !== 1 || text.length !== at + 2 || !text.endsWith('\r\n')) return undefined;
  return { method: 'GET', url, rawHeaders };
}

/** Whether {@link parseShortRequest} accepts the request when a client sends it with one space before each value. */
export function isShortRequest({ method, url, httpVersion, rawHeaders }: IncomingMessage): boolean {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  return parseShortRequest(Buffer.from(`${text}\r\n`, 'latin1')) !== undefined;
}
