/** The client IP: which entries of X-Forwarded-For count, and what happens at an entry that is not an IP address. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certainIpOf, clientIpOf, forwardedIpOf, type ProxiedRequest } from '../client-ip.ts';

const trusted = ['10.0.0.0/8', '2001:db8:1::/48'];

/** The client IP of a request from `peer`, and the proxies that sent an entry that is not an IP address. */
function clientOf(peer: string, forwardedFor?: string | string[]): readonly [client: string, malformedFrom: string[]] {
  const malformed: string[] = [];
  const client = clientIpOf(requestOf(peer, forwardedFor), trusted, (proxy) => malformed.push(proxy));
  return [client, malformed];
}

const requestOf = (peer: string | undefined, lines: string | readonly string[] = []): ProxiedRequest => ({
  rawHeaders: [lines].flat().flatMap((line) => ['X-Forwarded-For', line]),
  socket: { remoteAddress: peer },
});

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

/** The client IP of a verification request from a proxy; undefined: not known. */
const forwarded: readonly (readonly [peer: string, lines: string | readonly string[], ip: string | undefined])[] = [
  ['10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['::ffff:10.0.0.1', '::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1::1', '2001:db8:2::7', '2001:db8:2::7'],
  ['10.0.0.1', '192.0.2.7, 10.0.0.2', '192.0.2.7'],
  ['10.0.0.1', ['192.0.2.7', '10.0.0.2'], '192.0.2.7'],
  // A client behind a proxy in the trusted networks.
  ['10.0.0.1', '10.0.0.9', '10.0.0.9'],
  // What the client has sent is on the left, in the same line or in an earlier one.
  ['10.0.0.1', '203.0.113.5, 192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', ['203.0.113.5', '192.0.2.7'], '192.0.2.7'],
  ['10.0.0.1', '203.0.113.5, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
  ['10.0.0.1', '203.0.113.5, 10.0.0.3, 192.0.2.7', '192.0.2.7'],
  ['10.0.0.1', 'unknown, 192.0.2.7', '192.0.2.7'],
  // The connection alone shows a proxy.
  ['10.0.0.1', [], undefined],
  ['10.0.0.1', '', undefined],
  // The peer is not a trusted proxy.
  ['192.0.2.9', '203.0.113.5', undefined],
  ['192.0.2.9', '203.0.113.5, 10.0.0.1', undefined],
];

for (const [peer, lines, ip] of forwarded) {
  test(`a verification request from ${peer} with X-Forwarded-For ${JSON.stringify(lines)} is about ${ip ?? 'an unknown client IP'}`, () =>
    assert.equal(forwardedIpOf(requestOf(peer, lines), trusted), ip));
}

test('an entry that is not an IP address leaves the client IP of a verification request unknown', () => {
  for (const entry of malformed) {
    const lists = [entry, `198.51.100.1, ${entry}`, ['198.51.100.1', entry], `${entry}, 10.0.0.2`];
    for (const list of lists) assert.equal(forwardedIpOf(requestOf('10.0.0.1', list), trusted), undefined, entry);
  }
});

test('without trusted proxies, and after the connection has closed, no client IP is known', () => {
  assert.equal(forwardedIpOf(requestOf('10.0.0.1', '192.0.2.7'), []), undefined);
  assert.equal(forwardedIpOf(requestOf(undefined, '192.0.2.7'), trusted), undefined);
  assert.equal(certainIpOf(requestOf(undefined, '192.0.2.7'), trusted, assert.fail), undefined);
});

test('no other header shows the client IP', () => {
  const names = ['X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP', 'Forwarded', 'X_Forwarded_For', 'X-Forwarded-For-'];
  for (const name of names) {
    const request = { ...requestOf('10.0.0.1'), rawHeaders: [name, '192.0.2.7'] };
    assert.equal(forwardedIpOf(request, trusted), undefined, name);
    assert.equal(clientIpOf(request, trusted), '10.0.0.1', name);
  }
});

test('for a key with IP ranges, a proxy that sends a malformed entry is not the client', () => {
  const proxies: string[] = [];
  const ipOf = (request: ProxiedRequest) => certainIpOf(request, trusted, (proxy) => proxies.push(proxy));
  assert.equal(ipOf(requestOf('192.0.2.9', '203.0.113.5')), '192.0.2.9');
  assert.equal(ipOf(requestOf('10.0.0.1', '192.0.2.7')), '192.0.2.7');
  assert.equal(ipOf(requestOf('10.0.0.1', '192.0.2.7:4711')), undefined);
  assert.deepEqual(proxies, ['10.0.0.1']);
});

test('for a key with IP ranges, a trusted proxy without X-Forwarded-For is not the client, except on loopback', () => {
  const ipOf = (peer: string, list?: string) => certainIpOf(requestOf(peer, list), all, assert.fail);
  const all = [...trusted, '127.0.0.0/8', '::1/128'];
  for (const proxy of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8:1::1']) {
    assert.equal(ipOf(proxy), undefined, proxy);
    assert.equal(ipOf(proxy, '192.0.2.7'), '192.0.2.7', proxy);
  }
  for (const local of ['127.0.0.1', '::ffff:127.0.0.1', '::1']) assert.equal(ipOf(local), local);
  assert.equal(ipOf('127.0.0.1', '192.0.2.7'), '192.0.2.7');
  assert.equal(ipOf('192.0.2.9'), '192.0.2.9');
});
