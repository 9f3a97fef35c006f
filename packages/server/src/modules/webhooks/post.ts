/**
 * One request to an endpoint: to a vetted address and no other, without redirects, proxies or patience. Of the answer
 * only its status is ever known.
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

/** Nobody answered in time. */
export class TimedOut extends Error {}

/**
 * @param msMax for all of it: resolving, connecting, TLS, and the answer
 * @returns the status of the answer, whatever it is
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
    const addresses = await Promise.race([guard.vet(request.url), late]);
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
    // Of its own: the global one may have been told of a proxy, and a kept connection was made to yesterday's address.
    agent: new Agent({ keepAlive: false }),
    // The name stays for TLS and Host; where it leads has been settled.
    lookup: lookupOf(addresses),
    signal,
    maxHeaderSize: limits.headerBytesMax,
    insecureHTTPParser: false,
    // Said here, no variable of the environment can unsay it.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
  });
  sent.on('error', reject);
  sent.on('response', (answer) => {
    let bytes = 0;
    // Read so that the other side can finish what it says; cut when it doesn't stop.
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.webhookAnswerBytesMax) answer.destroy();
    });
    answer.on('error', () => undefined);
    // A status was given: what becomes of the rest changes nothing.
    answer.on('close', () => resolve(answer.statusCode ?? 0));
    signal.addEventListener('abort', () => resolve(answer.statusCode ?? 0));
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
