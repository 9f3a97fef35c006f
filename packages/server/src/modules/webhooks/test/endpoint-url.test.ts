/** The URLs of endpoints that are accepted, and their normalised form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DomainError } from '../../../foundation/errors.ts';
import { AddressGuard } from '../../../foundation/outgoing/address-guard.ts';
import { acceptUrl } from '../endpoint-url.ts';

const guard = new AddressGuard([]);

const accepted: Readonly<Record<string, string>> = {
  'https://example.com': 'https://example.com/',
  'https://example.com/hooks?tenant=1': 'https://example.com/hooks?tenant=1',
  'https://EXAMPLE.com:443/Hooks': 'https://example.com/Hooks',
  'https://bücher.example/ä': 'https://xn--bcher-kva.example/%C3%A4',
  'https://ｅｘａｍｐｌｅ.com/': 'https://example.com/',
  'https://8.8.8.8/': 'https://8.8.8.8/',
  'https://[2600::1]/': 'https://[2600::1]/',
};
for (const [text, kept] of Object.entries(accepted)) {
  test(`${text} is stored as ${kept}`, () => assert.equal(acceptUrl(text, guard), kept));
}

const refused: Readonly<Record<string, RegExp>> = {
  '': /like https:/,
  'example.com/hooks': /like https:/,
  'ftp://example.com/': /like https:/,
  'file:///etc/passwd': /like https:/,
  'gopher://example.com/': /like https:/,
  'data:text/plain,x': /like https:/,
  'https://': /like https:/,
  'https://exa mple.com/': /like https:/,
  ' https://example.com/': /like https:/,
  'https://example.com/\n': /like https:/,
  'https://exam\tple.com/': /like https:/,
  'https://example.com\r\nHost: internal/': /like https:/,
  'https://user@example.com/': /user or a password/,
  'https://user:pass@example.com/': /user or a password/,
  'https://:pass@example.com/': /user or a password/,
  'https://example.com@127.0.0.1/': /user or a password/,
  'https://example.com/#x': /fragment/,
  'https://example.com/#': /fragment/,
  'https://example.com./': /dot/,
  'http://example.com/': /must be https/,
  'https://example.com:8443/': /port must be 443/,
  'http://localhost:8080/': /must be https/,
  'https://127.0.0.1/': /internal address/,
  'https://0x7f.1/': /internal address/,
  'https://169.254.169.254/latest/': /internal address/,
  'https://[::1]/': /internal address/,
  'https://[::ffff:10.0.0.1]/': /internal address/,
  [`https://example.com/${'a'.repeat(1_005)}`]: /like https:/,
  [`https://example.com/${'ä'.repeat(500)}`]: /too long/,
};
for (const [text, why] of Object.entries(refused)) {
  test(`rejected: ${JSON.stringify(text.slice(0, 60))}`, () => {
    assert.throws(
      () => acceptUrl(text, guard),
      (error) => error instanceof DomainError && error.code === 'webhook_url_refused' && why.test(error.message),
    );
  });
}

test('a URL of the maximum length is accepted', () => {
  const longest = `https://example.com/${'a'.repeat(1_004)}`;
  assert.equal(acceptUrl(longest, guard), longest);
});

test('a configured target is accepted over http too', () => {
  const named = new AddressGuard([
    { kind: 'host', host: 'hooks.internal', port: 8080 },
    { kind: 'network', cidr: '10.0.0.0/8' },
  ]);
  for (const url of ['http://hooks.internal:8080/', 'http://10.0.0.1:1/']) assert.equal(acceptUrl(url, named), url);
  assert.throws(() => acceptUrl('http://127.0.0.1/', named), DomainError);
});
