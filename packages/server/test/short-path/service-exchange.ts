/** Sends requests of services over the short path and over node:http, to one running service, and compares the responses. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect } from 'node:net';
import { awaited } from '../../test-kit/until.ts';
import { servicePackets, serviceRequest, type Presented, type ServicePacket } from './service-requests.ts';
import { randomOf } from './traffic.ts';

export interface ComparedExchanges {
  readonly requests: number;
  /** Number of requests that the short path answered. */
  readonly short: number;
}

/** node:http publishes it for each request that it parses. */
const parsed = 'http.server.request.start';

const responsesIn = (received: string): number => received.match(/HTTP\/1\.1 [2-5]\d\d /g)?.length ?? 0;

/** @returns all bytes that the service sends on a new connection, after those for `first`, until the connection is closed */
async function exchange(port: number, first: readonly string[], packets: readonly ServicePacket[], count: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let received = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  const closed = once(socket, 'end');
  const answered = (responses: number): Promise<void> =>
    awaited('the service has answered', async (signal) => {
      while (responsesIn(received) < responses && !socket.readableEnded && !signal.aborted)
        await new Promise(setImmediate);
    });
  for (const [index, bytes] of first.entries()) {
    socket.write(bytes);
    await answered(index + 1);
  }
  const start = received.length;
  for (const { bytes, responses } of packets) {
    socket.write(Buffer.from(bytes, 'latin1'));
    // In most cases, the server reads each packet by itself.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    await answered(responses === 0 ? 0 : first.length + responses);
  }
  await answered(first.length + count);
  socket.end();
  await closed;
  return normalized(received.slice(start));
}

/** Without what differs between two requests: dates, ids, and the rest of limits. */
const normalized = (received: string): string =>
  received
    .replaceAll(/^Date: .*$/gm, 'Date')
    .replaceAll(/"requestId":"[^"]+"/g, '"requestId"')
    .replaceAll(/"(remaining|resetSeconds)":\d+/g, '"$1"')
    .replaceAll(/^Content-Length: .*$/gm, 'Content-Length');

/** @throws AssertionError with the first requests that the two paths answer differently */
export async function compareExchanges(
  url: string,
  presented: Presented,
  seeds: Iterable<number>,
): Promise<ComparedExchanges> {
  const port = Number(new URL(url).port);
  const warm = `POST /auth/verify HTTP/1.1\r\nHost: a\r\n${presented.callers[0]}\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{"credential":"a"}`;
  // The space at the end is not in the subset, so the connection never has the short path.
  const general = warm.replace('Host: a', 'Host: a ');
  let onNode = 0;
  const count = (): void => void onNode++;
  subscribe(parsed, count);
  try {
    let requests = 0;
    let connections = 0;
    for (const seed of seeds) {
      const random = randomOf(seed);
      const sent = Array.from({ length: 1 + Math.floor(random() * 4) }, () => serviceRequest(presented, random));
      const packets = servicePackets(sent, random);
      const short = await exchange(port, [warm, warm], packets, sent.length);
      const node = await exchange(port, [general], packets, sent.length);
      const at = [...node].findIndex((char, index) => char !== short[index]);
      const where = `${JSON.stringify(short.slice(at, at + 200))} instead of ${JSON.stringify(node.slice(at, at + 200))}`;
      assert.ok(short === node, `seed ${seed}: ${where} for ${JSON.stringify(packets)}`);
      requests += sent.length;
      connections++;
    }
    return { requests, short: 2 * requests + 3 * connections - onNode };
  } finally {
    unsubscribe(parsed, count);
  }
}
