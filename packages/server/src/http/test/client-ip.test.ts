/** The client IP: which entries of X-Forwarded-For count, and what happens at an entry that is not an IP address. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { clientIpOf } from '../client-ip.ts';

const trusted = ['10.0.0.0/8', '2001:db8:1::/48'];

/** The client IP of a request from `peer`, and the proxies that sent an entry that is not an IP address. */
function clientOf(peer: string, forwardedFor?: string | string[]): readonly [client: string, malformedFrom: string[]] {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  const malformed: string[] = [];
  const request = { socket: { remoteAddress: peer }, headers } as unknown as IncomingMessage;
  const client = clientIpOf(request, trusted, (proxy) => malformed.push(proxy));
  return [client, malformed];
}

const table: readonly (readonly [peer: string, forwardedFor: string | string[] | undefined, client: string])[] = [
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', ' 192.0.2.7 ', '192.0.2.7'],
  ['::ffff:10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['2001:db8:1::1', '2001:db8:2::7', '2001:db8:2::7'],
  // Right to left, through trusted proxies, to the first that is not one.
  ['10.0.0.1', '192.0.2.7, 10.0.0.2', '192.0.2.7'],
  ['10.0.0.1', ['192.0.2.7', '10.0.0.2'], '192.0.2.7'],
  ['10.0.0.1', '198.51.100.1, 192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  // Entries from an untrusted peer are ignored.
  ['192.0.2.9', '198.51.100.1', '192.0.2.9'],
  ['192.0.2.9', '10.0.0.2', '192.0.2.9'],
  // Entries to the left of the client IP are ignored.
  ['10.0.0.1', 'unknown, 192.0.2.7', '192.0.2.7'],
];

for (const [peer, forwardedFor, client] of table) {
  test(`a request from ${peer} with X-Forwarded-For ${JSON.stringify(forwardedFor)} has the client IP ${client}`, () =>
    assert.deepEqual(clientOf(peer, forwardedFor), [client, []]));
}

const malformed: readonly string[] = [
  'unknown',
  '_hidden',
  'client.example.com',
  'localhost',
  '192.0.2.7:4711',
  '[2001:db8::7]',
  '[2001:db8::7]:4711',
  '"192.0.2.7"',
  'for=192.0.2.7',
  '2001:db8::7%eth0',
  '192.0.2.256',
  '192.0.2',
  '192.0.2.007',
  '0xc0000207',
  '3221225991',
  '192.0.2.7/32',
  '192.0.2.7 198.51.100.1',
  '-',
  ', ',
];

for (const entry of malformed) {
  test(`the entry ${JSON.stringify(entry)} is not a client IP: the proxy that wrote it is`, () => {
    assert.deepEqual(clientOf('10.0.0.1', entry), ['10.0.0.1', ['10.0.0.1']]);
    assert.deepEqual(clientOf('10.0.0.1', `198.51.100.1, ${entry}`), ['10.0.0.1', ['10.0.0.1']]);
    assert.deepEqual(clientOf('10.0.0.1', `${entry}, 10.0.0.2`), ['10.0.0.2', ['10.0.0.2']]);
  });
}
