/** The targets that webhooks may reach: each special IP range, in all notations and by name. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AddressGuard, isPublicAddress, RefusedTarget, type AllowedTarget } from '../address-guard.ts';

/** The first and last IP address of each range, and IP addresses that are known from attacks. */
const internal: readonly string[] = [
  // This network, private, shared, loopback, link-local (with the metadata services of the clouds)
  '0.0.0.0',
  '0.255.255.255',
  '10.0.0.0',
  '10.255.255.255',
  '100.64.0.0',
  '100.100.100.200',
  '100.127.255.255',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.0.1',
  '169.254.169.254',
  '169.254.255.255',
  '168.63.129.16',
  '172.16.0.0',
  '172.31.255.255',
  '192.168.0.0',
  '192.168.255.255',
  // Protocol assignments, documentation, AS112, 6to4 relays, benchmarking, multicast, reserved, broadcast
  '192.0.0.0',
  '192.0.0.192',
  '192.0.0.255',
  '192.0.2.1',
  '192.31.196.1',
  '192.52.193.1',
  '192.88.99.1',
  '192.175.48.1',
  '198.18.0.0',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.255',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.254',
  '255.255.255.255',
  // IPv6: unspecified, loopback, mapped, compatible, translated
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:10.0.0.1',
  '::127.0.0.1',
  '::7f00:1',
  '::ffff:169.254.169.254',
  '0:0:0:0:0:ffff:0a00:0001',
  // NAT64, of the well-known prefix and of the local one; 6to4 and Teredo with any embedded address
  '64:ff9b::a00:1',
  '64:ff9b::8.8.8.8',
  '64:ff9b:1::a00:1',
  '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
  '2002:7f00:1::',
  '2002:a00:1::1',
  '2002:808:808::1',
  '2001::1',
  '2001:0:a00:1::',
  '2001:0:ffff::1',
  // Unique local, link-local, site-local, multicast, discard, dummy, segment routing
  'fc00::1',
  'fd00:ec2::254',
  'fdff:ffff::1',
  'fe80::1',
  'fe80::1%eth0',
  'febf::1',
  'fec0::1',
  'feff::1',
  'ff00::1',
  'ff02::1',
  'ff0e::1',
  '100::1',
  '100:0:0:1::1',
  '5f00::1',
  // Protocol assignments, benchmarking, ORCHID, documentation
  '2001:1::1',
  '2001:2::1',
  '2001:3::1',
  '2001:4:112::1',
  '2001:10::1',
  '2001:20::1',
  '2001:30::1',
  '2001:db8::1',
  '3fff::1',
  '3fff:fff:ffff::1',
  '2620:4f:8000::1',
  // Unallocated
  '4000::1',
  '8000::1',
  'e000::1',
  '1::1',
  '200::1',
  '2606:4700::1%lo',
  // No IP addresses
  '',
  'localhost',
  '1.2.3',
  '127.1',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '2130706433',
  '1.2.3.4.5',
  '256.1.1.1',
  '[::1]',
];

const open: readonly string[] = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  '2001:4860:4860::8888',
  '2001:200::1',
  '2003::1',
  '3ffe::1',
  '2600::',
];

for (const address of internal) {
  test(`${address || 'nothing'} cannot be reached by webhooks`, { tags: ['asvs:1.3.6', 'asvs:13.2.5'] }, () =>
    assert.equal(isPublicAddress(address), false),
  );
}
for (const address of open) {
  test(`${address} is a public IP address`, () => assert.equal(isPublicAddress(address), true));
}

const noResolver = (): Promise<string[]> => Promise.reject(new Error('a name was resolved'));
const resolveAllowed = (url: string, targets: readonly AllowedTarget[] = [], answers?: readonly string[]) =>
  new AddressGuard(targets, answers === undefined ? noResolver : () => Promise.resolve(answers)).resolveAllowed(
    new URL(url),
  );

/** URLs that parsers turn into internal IP addresses. */
const disguises: readonly string[] = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://１２７.0.0.1/',
  'https://127。0。0。1/',
  'https://%31%32%37.0.0.1/',
  'https://0/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::127.0.0.1]/',
  'https://[fe80::1]/',
  'https://[64:ff9b::127.0.0.1]/',
  'https://[2002:7f00:1::]/',
  'https://169.254.169.254/',
  'https://0xa9fea9fe/',
];
for (const url of disguises) {
  test(`${url} is rejected`, async () => {
    await assert.rejects(resolveAllowed(url), RefusedTarget);
    assert.throws(() => new AddressGuard([]).assertPossible(new URL(url)), RefusedTarget);
  });
}

test(
  'a name is rejected if one of its IP addresses is internal, at any place among them',
  { tags: ['asvs:1.3.6', 'asvs:13.2.4'] },
  async () => {
    const url = 'https://example.com/';
    assert.deepEqual(await resolveAllowed(url, [], ['8.8.8.8', '2600::1']), ['8.8.8.8', '2600::1']);
    for (const bad of ['10.0.0.1', '::ffff:10.0.0.1', 'fe80::1', '64:ff9b::a00:1', '169.254.169.254', 'no address']) {
      await assert.rejects(resolveAllowed(url, [], [bad]), RefusedTarget, bad);
      await assert.rejects(resolveAllowed(url, [], ['8.8.8.8', '1.1.1.1', bad]), RefusedTarget, bad);
      await assert.rejects(resolveAllowed(url, [], [bad, '8.8.8.8']), RefusedTarget, bad);
    }
    await assert.rejects(resolveAllowed(url, [], []), RefusedTarget);
  },
);

test(
  'only https on port 443 is accepted without a configured target',
  { tags: ['asvs:1.3.6', 'asvs:12.3.1', 'asvs:13.2.5'] },
  async () => {
    for (const url of [
      'http://example.com/',
      'https://example.com:8443/',
      'https://example.com:80/',
      'http://example.com:443/',
    ]) {
      await assert.rejects(resolveAllowed(url, [], ['8.8.8.8']), RefusedTarget, url);
      assert.throws(() => new AddressGuard([]).assertPossible(new URL(url)), RefusedTarget, url);
    }
    assert.deepEqual(await resolveAllowed('https://example.com:443/', [], ['8.8.8.8']), ['8.8.8.8']);
  },
);

test('a configured target allows its port of its host, and nothing else', { tags: ['asvs:13.2.4'] }, async () => {
  const targets = [{ kind: 'host', host: 'hooks.internal', port: 8080 }] as const;
  for (const url of ['http://hooks.internal:8080/x', 'https://hooks.internal:8080/x']) {
    assert.deepEqual(await resolveAllowed(url, targets, ['10.0.0.1']), ['10.0.0.1']);
    new AddressGuard(targets).assertPossible(new URL(url));
  }
  for (const url of ['http://hooks.internal:8081/', 'https://hooks.internal/', 'http://a.hooks.internal:8080/']) {
    await assert.rejects(resolveAllowed(url, targets, ['10.0.0.1']), RefusedTarget, url);
  }
});

test('a configured network allows all ports of its IP addresses, and nothing else', async () => {
  const targets = [
    { kind: 'network', cidr: '10.1.0.0/16' },
    { kind: 'network', cidr: 'fd00::/8' },
  ] as const;
  for (const [url, answers] of [
    ['http://10.1.2.3:9000/', undefined],
    ['http://[fd00::1]:9000/', undefined],
    ['http://hooks.internal:9000/', ['10.1.0.1', 'fd12::1']],
    ['https://hooks.internal/', ['10.1.0.1', '8.8.8.8']],
  ] as const) {
    assert.ok((await resolveAllowed(url, targets, answers)).length > 0, url);
    new AddressGuard(targets).assertPossible(new URL(url));
  }
  for (const [url, answers] of [
    ['http://10.2.0.1:9000/', undefined],
    ['http://hooks.internal:9000/', ['10.1.0.1', '10.2.0.1']],
    ['http://hooks.internal:9000/', ['10.1.0.1', '8.8.8.8']],
    ['http://hooks.internal:9000/', ['::ffff:10.2.0.1']],
  ] as const) {
    await assert.rejects(resolveAllowed(url, targets, answers), RefusedTarget, url);
  }
});
