/** Rules about what the client accepts from its caller. */
import assert from 'node:assert/strict';
import { HeldTransport, settled } from './held-transport.ts';
import { held, many, outcomeNow, serviceKey, type Rule } from './rule.ts';

export const questionRules: readonly Rule[] = [
  {
    name: 'text that cannot be a credential is refused without a request, by its length only',
    async check(library) {
      const { client, sent } = held(library);
      for (const text of ['', 'k'.repeat(4_097), 'é'.repeat(2_049), '語'.repeat(1_366)]) {
        const refused = await outcomeNow(client.verify(text));
        assert.deepEqual(refused, { status: 'fulfilled', value: { valid: false, code: 'malformed' } });
      }
      assert.equal(sent.length, 0);
      const accepted = ['k'.repeat(4_096), 'é'.repeat(2_048), 'sk-other', 'a,b c', ' ', '\ud800'];
      const verified = accepted.map((text) => client.verify(text));
      await settled();
      sent[0]?.answer();
      for (const one of await Promise.all(verified)) assert.equal(one.valid, true);
    },
  },
  {
    name: 'plain HTTP is allowed to loopback only',
    check({ Client }) {
      const transport = () => new HeldTransport();
      const open = (url: string, allowPlainHttp?: boolean) =>
        new Client({ url, serviceKey, allowPlainHttp }, transport);
      const allowed = [
        'https://auth.example.com',
        'http://localhost:1',
        'http://127.0.0.1',
        'http://127.9.9.9',
        'http://[::1]:1/x',
      ];
      for (const url of allowed) assert.doesNotThrow(() => open(url), url);
      for (const url of [
        'http://auth.example.com',
        'http://127.0.0.1.example.com',
        'http://localhost.example.com',
        'http://10.0.0.1',
        'http://[::2]',
      ]) {
        assert.throws(() => open(url), { name: 'TypeError', message: /plain HTTP is allowed to loopback only/ }, url);
        assert.doesNotThrow(() => open(url, true), url);
      }
      for (const url of [
        '',
        'auth.example.com',
        'ftp://localhost',
        'https://a:b@localhost',
        'https://a/?b',
        'https://a/#b',
      ])
        assert.throws(() => open(url), { name: 'TypeError', message: /expected the URL of Keyreeve/ }, url);
      assert.throws(() => new Client({ url: 'https://a', serviceKey: 'a\nb' }, transport), /expected an API key/);
    },
  },
  {
    name: 'options that the service rejects are an error of the caller, and no question',
    async check(library) {
      const { client, sent } = held(library);
      const wrong: [object, RegExp][] = [
        [{ scopes: many(33, String) }, /^scopes/],
        [{ scopes: ['a b'] }, /^scopes/],
        [{ scopes: [''] }, /^scopes/],
        [{ scopes: ['a'.repeat(65)] }, /^scopes/],
        [{ environments: [] }, /^environments/],
        [{ environments: ['Live'] }, /^environments/],
        [{ address: '127.0.0.1:80' }, /^address/],
        [{ address: '' }, /^address/],
        ...[0, 3_001, NaN].map((timeoutMs): [object, RegExp] => [{ timeoutMs }, /^timeoutMs/]),
        ...[-1, 0.5, 10_001, NaN].map((cost): [object, RegExp] => [{ cost }, /^cost/]),
      ];
      for (const [options, message] of wrong)
        await assert.rejects(client.verify('a', options), { name: 'TypeError', message }, JSON.stringify(options));
      await settled();
      assert.equal(sent.length, 0);
    },
  },
  {
    name: 'an IP address has no port, brackets, prefix or zone',
    check({ isIpAddress }) {
      for (const ip of ['0.0.0.0', '203.0.113.7', '255.255.255.255', '::', '::1', '2001:db8::7', '::ffff:192.0.2.1'])
        assert.ok(isIpAddress(ip), ip);
      for (const text of [
        '',
        '1.2.3',
        '1.2.3.4.5',
        '01.2.3.4',
        '256.1.1.1',
        '1.2.3.4:5',
        '1.2.3.4/8',
        '[::1]',
        'fe80::1%eth0',
        ':::',
        'localhost',
        '1',
      ])
        assert.ok(!isIpAddress(text), text);
    },
  },
];
