/** Attempts that share a counter of sign-ins: forms of one client IP or email address, and forwarded client IPs. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { newApp } from '../../../../test-kit/new-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import {
  assertEmailLimited,
  assertLimited,
  attempt,
  behindProxy,
  email,
  home,
  otherIp,
  signIn,
} from './sign-in-attempts.ts';

/** Each group is several forms of one range, and another range. */
const spellings: readonly (readonly [what: string, same: readonly string[], other: string])[] = [
  [
    'IPv6 neighbours in one /64',
    [
      '2001:db8:0:1::1',
      '2001:db8:0:1::2',
      '2001:db8:0:1:ffff:ffff:ffff:ffff',
      '2001:db8:0:1:a:b:c:d',
      '2001:db8:0:1::',
    ],
    '2001:db8:0:2::1',
  ],
  [
    'spellings of one IPv6 address',
    ['2001:db8::1', '2001:DB8::1', '2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::0:1', '2001:db8:0::1'],
    '2001:db8:1::1',
  ],
  [
    'spellings of one IPv4 address',
    ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207', '0:0:0:0:0:FFFF:192.0.2.7', '::FFFF:C000:0207'],
    '192.0.2.8',
  ],
  [
    'entries that are not an IP address',
    ['unknown', '_hidden', '300.1.1.1', '192.0.2.7:4711', '[2001:db8::1]:4711'],
    '192.0.2.8',
  ],
];
for (const [what, same, other] of spellings) {
  test(`${what} share their failures`, async () => {
    await using app = await newApp({ environment: behindProxy });
    for (const from of same) assert.equal((await attempt(app, { from })).status, 401, from);
    for (const from of same) assertLimited(await attempt(app, { from }), 1, { quota: 5 }, from);
    assert.equal((await attempt(app, { from: other })).status, 401);
  });
}

test('a forwarded text that is no IP address is logged at most once a minute, without the text', async () => {
  await using app = await newApp({ environment: behindProxy });
  for (const from of ['secret-host', 'secret-host:1']) assert.equal((await attempt(app, { from })).status, 401);
  const warnings = app.logLines.filter((line) => line.includes('forwarded_for_malformed'));
  assert.equal(warnings.length, 1);
  assert.ok(warnings[0]?.includes('"proxy":"127.0.0.1"'));
  assert.ok(!app.logLines.join('').includes('secret-host'));
});

test('forms of one email address share their failures', { tags: ['asvs:6.3.1'] }, async () => {
  await using app = await newApp();
  const same = [
    'Jo@Bücher.example',
    'jo@bücher.example',
    'JO@BÜCHER.EXAMPLE',
    'jo@xn--bcher-kva.example',
    'Jo@XN--BCHER-KVA.Example',
  ];
  for (const user of same) assert.equal((await attempt(app, { email: user })).status, 401, user);
  for (const user of same) assertLimited(await attempt(app, { email: user }), 1, { quota: 5 }, user);
  assert.equal((await attempt(app, { email: 'jo@bucher.example' })).status, 401);
});

test('an email with a tag is also counted without the tag', { tags: ['asvs:6.3.1'] }, async () => {
  await using app = await newApp({ environment: behindProxy });
  await app.createAccount(email);
  for (let n = 0; n < limits.signInEmailFailuresMax; n++) {
    assert.equal((await attempt(app, { email: `you+${n}@example.com`, from: otherIp(n) })).status, 401);
  }
  assertEmailLimited(await attempt(app, { email: 'you+x@example.com', from: otherIp(998) }));
  assertEmailLimited(await signIn(app, otherIp(999)));
  assert.equal((await attempt(app, { email: 'me@example.com', from: otherIp(999) })).status, 401);
  // The owner is locked out only for a short time, in any range.
  app.clock.advance({ seconds: limits.signInEmailLeakSeconds });
  assert.equal((await signIn(app, otherIp(999))).status, 200);
});

test(
  'a forwarded client IP is ignored unless a trusted proxy sent it',
  { tags: ['asvs:4.1.3', 'asvs:15.3.4'] },
  async () => {
    await using app = await newApp();
    for (let n = 0; n < 5; n++) assert.equal((await attempt(app, { from: otherIp(n) })).status, 401);
    assertLimited(await attempt(app, { from: otherIp(5) }), 1, { quota: 5 });
  },
);

test(
  'behind a trusted proxy the client IP is the one that the proxy added',
  { tags: ['asvs:4.1.3', 'asvs:15.3.4'] },
  async () => {
    await using app = await newApp({ environment: behindProxy });
    for (let n = 0; n < 5; n++)
      assert.equal((await attempt(app, { from: `${otherIp(n)}, ${home}, 127.0.0.1` })).status, 401);
    assertLimited(await attempt(app, { from: `${otherIp(5)}, ${home}` }), 1, { quota: 5 });
    assert.equal((await attempt(app, { from: `${home}, ${otherIp(6)}` })).status, 401);
  },
);
