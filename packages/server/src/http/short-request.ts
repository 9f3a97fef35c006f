/**
 * The parser of the short path. It accepts a strict subset of the requests that node:http accepts, and interprets each of
 * them as node:http does. Undefined means that the request is not in the subset.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { limits } from '@keyreeve/contract';

/** The part of a request that the handler of the short path reads. */
export interface BareRequest {
  readonly method: string;
  readonly url: string;
  /** Alternating names and values. */
  readonly rawHeaders: string[];
  /** One character for each byte. Undefined if a part of it has not arrived. */
  readonly body: string | undefined;
}

/** With the connection, which shows the IP address of the peer. */
export interface ShortRequest extends BareRequest {
  readonly body: string;
  readonly socket: Pick<Socket, 'remoteAddress'>;
}

/** A longer request is not in the subset. */
const requestBytesMax = 8_192;

/** An absolute path without a fragment. */
const requestLine = /(GET|POST) (\/[\w!$%&'()*+,./:;=?@~-]*) HTTP\/1\.1\r\n/y;

/** Framing, the connection or an expectation depends on these headers. */
const critical = [
  String.raw`connection(?!: ?keep-alive\r\n)`,
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

/** Of a POST. A request without content has another form. */
const contentLength = /^[1-9]\d{0,3}$/;

/**
 * @returns the request, if the bytes are exactly one GET without a body, or one POST with a Content-Length of at most
 *   `limits.sharedReadBodyBytesMax`, with one Host; of a POST, also the head and a part of the body
 */
export function parseShortRequest(bytes: Buffer): BareRequest | undefined {
  if (bytes.length > requestBytesMax) return undefined;
  const text = bytes.toString('latin1');
  requestLine.lastIndex = 0;
  const [, method, url] = requestLine.exec(text) ?? [];
  if (method === undefined || url === undefined) return undefined;
  const rawHeaders: string[] = [];
  let hosts = 0;
  let length: string | undefined;
  let at = (headerLine.lastIndex = requestLine.lastIndex);
  for (let line = headerLine.exec(text); line !== null; line = headerLine.exec(text)) {
    const [, name = '', value = ''] = line;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
    else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (length !== undefined || method !== 'POST' || !contentLength.test(value)) return undefined;
      length = value;
    }
    rawHeaders.push(name, value);
    at = headerLine.lastIndex;
  }
  if (hosts !== 1 || !text.startsWith('\r\n', at)) return undefined;
  const rest = text.length - at - 2;
  if (method === 'GET') return rest === 0 ? { method, url, rawHeaders, body: '' } : undefined;
  const bodyBytes = Number(length);
  // Not a number without the header.
  if (!(rest <= bodyBytes && bodyBytes <= limits.sharedReadBodyBytesMax)) return undefined;
  return { method, url, rawHeaders, body: rest === bodyBytes ? text.slice(at + 2) : undefined };
}

/** Whether {@link parseShortRequest} accepts the request when a client sends it with one space before each value. */
export function isShortRequest({ method, url, httpVersion, rawHeaders }: IncomingMessage): boolean {
  let text = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let i = 0; i < rawHeaders.length; i += 2) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  return parseShortRequest(Buffer.from(`${text}\r\n`, 'latin1')) !== undefined;
}
