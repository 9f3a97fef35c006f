/**
 * Sends one request to a target of a caller's choice: only to an allowed IP address, without redirects and proxies, within a
 * time limit.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { limits } from '@keyreeve/contract';
import { RefusedTarget, type AddressGuard } from './address-guard.ts';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The time limit was reached before a response. */
export class TimedOut extends Error {}

/** The target has sent another response than expected. */
export class WrongResponse extends Error {}

/**
 * @param msMax bounds name resolution, connection, TLS and response together
 * @returns the status of the response, also of an error
 * @throws RefusedTarget, TimedOut, or the error of the connection
 */
export async function post(guard: AddressGuard, request: Post, msMax: number = limits.webhookMsMax): Promise<number> {
  const { status } = await send(guard, request, { msMax, bytesMax: limits.webhookAnswerBytesMax });
  return status;
}

/**
 * @param bounds as in {@link post}; `bytesMax` bounds the body of the response
 * @returns the body of a 200 response
 * @throws as {@link post}; WrongResponse for another status and for an incomplete or larger body
 */
export async function get(guard: AddressGuard, url: URL, bounds: Bounds): Promise<Buffer> {
  const { status, body } = await send(guard, { url, headers: { accept: 'application/json' } }, bounds);
  if (status !== 200) throw new WrongResponse(`it answered ${status}`);
  if (!body) throw new WrongResponse(`its response is not complete within ${bounds.bytesMax} bytes`);
  return body;
}

export interface Bounds {
  readonly msMax: number;
  readonly bytesMax: number;
  /** Certificates of authorities, in PEM, that are accepted besides those of Node. */
  readonly authorities?: readonly string[];
}

/** Contains no IP address and nothing from the response. */
export function failureOf(error: unknown): { readonly text: string; readonly isRefused: boolean } {
  if (error instanceof RefusedTarget || error instanceof TimedOut || error instanceof WrongResponse)
    return { text: error.message, isRefused: error instanceof RefusedTarget };
  // Only the code: the message may contain IP addresses.
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return { text: `the connection failed: ${code}`, isRefused: false };
}

/** A POST request with a body, or a GET request. */
type Sent = Omit<Post, 'body'> & { readonly body?: string };

interface Answer {
  readonly status: number;
  /** Undefined if it is incomplete or too large. */
  readonly body: Buffer | undefined;
}

async function send(guard: AddressGuard, request: Sent, { msMax, ...bounds }: Bounds): Promise<Answer> {
  const controller = new AbortController();
  const { signal } = controller;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TimedOut(`no answer within ${msMax / 1000} seconds`);
      controller.abort(error);
      reject(error);
    }, msMax);
  });
  try {
    const addresses = await Promise.race([guard.resolveAllowed(request.url), late]);
    return await Promise.race([exchange(request, { ...bounds, addresses, signal }), late]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

interface Connection extends Omit<Bounds, 'msMax'> {
  readonly addresses: readonly string[];
  readonly signal: AbortSignal;
}

function exchange(
  { url, headers, body }: Sent,
  { addresses, signal, bytesMax, authorities }: Connection,
): Promise<Answer> {
  const { request, Agent } = url.protocol === 'https:' ? https : http;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = request(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      'user-agent': 'Keyreeve',
      ...headers,
    },
    // A new agent: the global one may use a proxy, and a kept connection may lead to an outdated IP address.
    agent: new Agent({ keepAlive: false }),
    // TLS and the Host header use the name. The connection uses the allowed IP addresses.
    lookup: lookupOf(addresses),
    signal,
    maxHeaderSize: limits.headerBytesMax,
    insecureHTTPParser: false,
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(authorities ? { ca: [...getCACertificates(), ...authorities] } : {}),
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    const status = response.statusCode ?? 0;
    const chunks: Buffer[] = [];
    let bytes = 0;
    // The body is read, so that the receiver can finish its response, up to a bound.
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) response.destroy();
      else chunks.push(chunk);
    });
    response.on('error', () => undefined);
    // The status is known, so a failure of the rest does not matter to a delivery.
    response.on('close', () =>
      resolve({ status, body: response.complete && bytes <= bytesMax ? Buffer.concat(chunks) : undefined }),
    );
    signal.addEventListener('abort', () => resolve({ status, body: undefined }));
  });
  sent.end(body);
  return promise;
}

const lookupOf =
  (addresses: readonly string[]): LookupFunction =>
  (_, options, callback) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = all;
    if (options.all === true || !first) callback(null, all);
    else callback(null, first.address, first.family);
  };
