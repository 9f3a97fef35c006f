/** The accepted email addresses and their canonical form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseEmail } from '../email.ts';

const longDomain = `${`${'d'.repeat(62)}.`.repeat(3)}example`;

const accepted: readonly (readonly [text: string, key: string])[] = [
  ['ada@example.com', 'ada@example.com'],
  ['Ada.Lovelace@EXAMPLE.com', 'ada.lovelace@example.com'],
  ['ada+keys@example.com', 'ada+keys@example.com'],
  ['a.d.a@example.com', 'a.d.a@example.com'],
  ["!#$%&'*+/=?^_`{|}~-@example.com", "!#$%&'*+/=?^_`{|}~-@example.com"],
  ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
  ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
  ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
  ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
  ['ada@faß.example', 'ada@xn--fa-hia.example'],
  ['ada@1.2.3.4.example', 'ada@1.2.3.4.example'],
  [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  [
    `${'a'.repeat(254 - 1 - longDomain.length)}@${longDomain}`,
    `${'a'.repeat(254 - 1 - longDomain.length)}@${longDomain}`,
  ],
];

for (const [text, canonicalEmail] of accepted) {
  test(`the canonical form of ${text.slice(0, 40)} is ${canonicalEmail.slice(0, 40)}`, () => {
    assert.deepEqual(parseEmail(text), { email: text.normalize('NFC'), canonicalEmail });
  });
}

const rejected: Readonly<Record<string, string>> = {
  nothing: '',
  'no @': 'ada.example.com',
  'no local part': '@example.com',
  'no domain': 'ada@',
  'one label': 'ada@localhost',
  'two @': 'ada@home@example.com',
  'quoted local part': '"ada lovelace"@example.com',
  'a quoted @': '"ada@home"@example.com',
  comment: 'ada(comment)@example.com',
  'comment in the domain': 'ada@example.com(comment)',
  colon: 'ada:b@example.com',
  'name and brackets': 'Ada <ada@example.com>',
  'two addresses': 'ada@example.com,bob@example.com',
  'dots in a row': 'ada..b@example.com',
  'dot at the start': '.ada@example.com',
  'dot at the end': 'ada.@example.com',
  'space before': ' ada@example.com',
  'space after': 'ada@example.com ',
  'space inside': 'a da@example.com',
  'no-break space': 'ada\u00a0@example.com',
  'line end': 'ada@example.com\n',
  'header injection': 'ada@example.com\r\nBcc:x@example.com',
  'tab in the domain': 'ada@exam\tple.com',
  NUL: 'ada\u0000@example.com',
  'NUL in the domain': 'ada@example.com\u0000',
  'non-ASCII local part': 'adä@example.com',
  'compatibility form: full width': 'ａda@example.com',
  'compatibility form: ligature': 'ada@oﬃce.example',
  'compatibility form: full-width dot': 'ada@example．com',
  'ideographic full stop': 'ada@example。com',
  'soft hyphen': 'ada@exa\u00admple.com',
  'joiner in the domain': 'ada@exa\u200dmple.com',
  'long s, whose upper case is S': 'ſam@example.com',
  'dotted capital I': 'İda@example.com',
  'lone surrogate': 'ada@example\ud800.com',
  'IPv4 literal': 'ada@127.0.0.1',
  'IPv4 in brackets': 'ada@[127.0.0.1]',
  'IPv6 literal': 'ada@[::1]',
  'IPv6 literal as RFC 5321 writes it': 'ada@[IPv6:::1]',
  'IPv4 in hexadecimal': 'ada@0x7f.1',
  'dot at the end of the domain': 'ada@example.com.',
  'hyphen at the start of a label': 'ada@-example.com',
  'hyphen at the end of a label': 'ada@example-.com',
  underscore: 'ada@exa_mple.com',
  'label of 64 characters': `ada@${'d'.repeat(64)}.example`,
  'local part of 65 characters': `${'a'.repeat(65)}@example.com`,
  '255 characters': `${'a'.repeat(255 - 1 - longDomain.length)}@${longDomain}`,
  'domain whose ASCII form is too long': `${'a'.repeat(60)}@${`${'ü'.repeat(40)}.`.repeat(4)}example`,
  'percent-encoded letter': 'ada@ex%61mple.com',
  'path after the domain': 'ada@example.com/x',
  'query after the domain': 'ada@example.com?x',
  'fragment after the domain': 'ada@example.com#x',
  'backslash after the domain': 'ada@example.com\\x',
  'port after the domain': 'ada@example.com:25',
};

for (const [name, text] of Object.entries(rejected)) {
  test(`rejected: ${name}`, { tags: ['asvs:1.3.3'] }, () => assert.equal(parseEmail(text), undefined));
}

test('a canonical form is its own canonical form', () => {
  for (const [, key] of accepted) assert.equal(parseEmail(key)?.canonicalEmail, key);
});
