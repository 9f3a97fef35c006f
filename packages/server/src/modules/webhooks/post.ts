/**
 * Sends one request to an endpoint: only to an allowed IP address, without redirects and proxies, within a time limit.
 * Only the status of the response is used.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { limits } from '@keyreeve/contract';
import type { AddressGuard } from './address-guard.ts';

export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The time limit was reached before a response. */
export class TimedOut extends Error {}

/**
 * @param msMax bounds name resolution, connection, TLS and response together
 * @returns the status of the response, also of an error
 * @throws RefusedTarget, TimedOut, or the error of the connection
 */
export async function post(guard: AddressGuard, request: Post, msMax: number = limits.webhookMsMax): Promise<number> {
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
    return await Promise.race([exchange(request, addresses, signal), late]);
  } finally {
    clearTimeout(timer);
    controller.abort();
  }
}

function exchange({ url, headers, body }: Post, addresses: readonly string[], signal: AbortSignal): Promise<number> {
  const { request, Agent } = url.protocol === 'https:' ? https : http;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
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
  });
  sent.on('error', reject);
  sent.on('response', (response) => {
    let bytes = 0;
    // The body is read, so that the receiver can finish its response, up to a bound.
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.webhookAnswerBytesMax) response.destroy();
    });
    response.on('error', () => undefined);
    // The status is known, so a failure of the rest does not matter.
    response.on('close', () => resolve(response.statusCode ?? 0));
    signal.addEventListener('abort', () => resolve(response.statusCode ?? 0));
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
