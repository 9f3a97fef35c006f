/** Ranges of IP addresses, as limits and trusted proxies use them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coarseRange, ipRange, isLoopback, isWithin, toCidr } from '../ip-address.ts';

const ranges: Readonly<Record<string, string>> = {
  '192.0.2.1': '192.0.2.1/32',
  '::ffff:192.0.2.1': '192.0.2.1/32',
  '::FFFF:C000:0201': '192.0.2.1/32',
  '2001:db8::1': '2001:db8:0:0:0:0:0:0/64',
  '2001:DB8:0:0:FFFF::1': '2001:db8:0:0:0:0:0:0/64',
  '2001:0db8:0000:0000:dead:beef:0000:0001': '2001:db8:0:0:0:0:0:0/64',
  '2001:db8:0:1::1': '2001:db8:0:1:0:0:0:0/64',
  'fe80::1%eth0': 'fe80:0:0:0:0:0:0:0/64',
  'fe80::2%25wlan0': 'fe80:0:0:0:0:0:0:0/64',
  '::1': '0:0:0:0:0:0:0:0/64',
};

for (const [ip, range] of Object.entries(ranges)) {
  test(`${ip} is in the range ${range}`, () => assert.equal(ipRange(ip), range));
}

test('the range that is stored instead of a client IP has 256 addresses, or the network of one IPv6 customer', () => {
  const coarse = {
    '192.0.2.77': '192.0.2.0/24',
    '::ffff:192.0.2.77': '192.0.2.0/24',
    '2001:db8:1:2::3': '2001:db8:1::/48',
  };
  for (const [ip, range] of Object.entries(coarse)) assert.equal(coarseRange(ip), range);
  assert.equal(coarseRange('unknown'), null);
});

test('all texts that are no IP addresses share one range', () => {
  for (const text of [
    '',
    'unknown',
    'example.com',
    '192.0.2.256',
    '192.0.2.1:80',
    '1.2.3.4, 5.6.7.8',
    ':::',
    '%eth0',
    'a'.repeat(10_000),
  ]) {
    assert.equal(ipRange(text), 'unknown', text);
  }
});

const within: readonly (readonly [ip: string, cidr: string, isInside: boolean])[] = [
  ['10.255.255.255', '10.0.0.0/8', true],
  ['11.0.0.0', '10.0.0.0/8', false],
  ['::ffff:10.0.0.1', '10.0.0.0/8', true],
  ['10.0.0.1', '10.0.0.1/32', true],
  ['10.0.0.2', '10.0.0.1/32', false],
  ['2001:db8::ffff', '2001:db8::/32', true],
  ['2001:db9::', '2001:db8::/32', false],
  ['10.0.0.1', '::/0', false],
  ['::1', '0.0.0.0/0', false],
  ['fe80::1%eth0', 'fe80::/10', true],
  ['nonsense', '0.0.0.0/0', false],
  ['', '::/0', false],
];

for (const [ip, cidr, isInside] of within) {
  test(`${ip} is ${isInside ? '' : 'not '}within ${cidr}`, () => assert.equal(isWithin(ip, cidr), isInside));
}

test('an IP address becomes a network of one address, and any other text is rejected', () => {
  assert.equal(toCidr('192.0.2.7'), '192.0.2.7/32');
  assert.equal(toCidr('2001:db8::7'), '2001:db8::7/128');
  assert.equal(toCidr('10.0.0.0/8'), '10.0.0.0/8');
  assert.equal(toCidr('::/0'), '::/0');
  for (const text of [
    '',
    '10',
    '10.0',
    '10.0.0',
    '10.0/8',
    '0x0a.0.0.1',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '::/129',
    'fe80::1%eth0',
    'proxy.example',
    '10.0.0.0-10.0.0.9',
    ' 10.0.0.1',
  ]) {
    assert.equal(toCidr(text), undefined, text);
  }
});

test('only IP addresses of this machine are loopback', () => {
  for (const host of ['localhost', '127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1'])
    assert.equal(isLoopback(host), true, host);
  for (const host of [
    '0.0.0.0',
    '::',
    '10.0.0.1',
    '128.0.0.1',
    'localhost.example',
    'example',
    '',
    '192.168.1.1',
    'fe80::1',
  ]) {
    assert.equal(isLoopback(host), false, host);
  }
});
