/** Mail templates: values stay text, and mistakes in an operator's templates are reported. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { languages } from '@keyreeve/contract';
import type { MailMessage } from '../mail.ts';
import { render } from '../render.ts';
import { fill } from '../templates/fill.ts';
import { samples } from '../templates/samples.ts';
import { readTemplates, templateNames } from '../templates/templates.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';

const { templates: builtIn } = readTemplates(undefined);

const sample = (template: (typeof templateNames)[number]): MailMessage => ({
  to: 'ada@example.com',
  template,
  data: samples[template],
});

const suspicious = (userAgent: string): MailMessage => ({
  to: 'ada@example.com',
  template: 'suspicious_sign_in',
  data: { ...samples.suspicious_sign_in, userAgent },
});

const inEachLanguage = templateNames.flatMap((name) => languages.map((language) => ({ name, language })));
for (const { name, language } of inEachLanguage) {
  test(`the template ${name} (${language}) contains all values, in text and in HTML, and no open placeholder`, () => {
    const { subject, text, html } = render(builtIn, 'Example & Sons', sample(name), language);
    assert.match(subject, /^[^\n]{10,100}$/);
    assert.match(subject, /Example & Sons/);
    assert.ok(html.startsWith(`<!doctype html>\n<html lang="${language}">`), html);
    assert.match(html, /Example &amp; Sons/);
    for (const form of [subject, text, html]) assert.doesNotMatch(form, /\{\{|\}\}|undefined|\[object/);
    const values = Object.values(samples[name])
      .flatMap((value: unknown) => value)
      .map(String);
    for (const value of values.filter((candidate) => !/^\d{4}-/.test(candidate))) {
      assert.ok(text.includes(value), `${name}.txt without ${value}`);
      assert.ok(html.includes(value), `${name}.html without ${value}`);
    }
    const links = html.match(/href="[^"]*"/g) ?? [];
    assert.equal(links.length, values.filter((value) => value.startsWith('https:')).length);
    // A link is a button with a label, with its URL below as text.
    assert.equal(links.length, (html.match(/<a\s[^>]*>[^<{}]+<\/a>/g) ?? []).length);
    assert.doesNotMatch(html, /<a\s[^>]*>\s*https:/);
    // A mail program fetches nothing: no tracking, no script, no style sheet.
    assert.doesNotMatch(html, /<(?:img|script|link|iframe|form|svg|base)|url\(|src=/i);
  });
}

const hostile: Readonly<Record<string, string>> = {
  'another placeholder': '{{link}} {{product}} {{ at }}',
  'markup that ends a paragraph': '</p><script>alert(1)</script><a href="https://evil.example">',
  'quotes and entities': `" ' & &lt; onmouseover="x"`,
  'a line break and a header': 'x\r\nBcc: eve@example.com\r\n\r\n<b>',
  'replacement patterns': "$& $1 $` $' $$",
  'direction marks': '\u202egnp.exe \u2066x\u2069 \u200f',
  'invisible characters and line separators': 'a\u200bb\u2028c\u2029d\u0085e\0f\u001b[31m',
};

for (const [what, userAgent] of Object.entries(hostile)) {
  test(`a value with ${what} stays text`, { tags: ['asvs:1.1.2', 'asvs:1.2.1', 'asvs:1.3.7', 'asvs:1.3.11'] }, () => {
    const harmless = render(builtIn, 'Example', suspicious('PROGRAM'), 'en');
    const { subject, text, html } = render(builtIn, 'Example', suspicious(userAgent), 'en');
    assert.equal(subject, harmless.subject);
    const printed = userAgent.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
    assert.equal(
      text,
      harmless.text.replace('PROGRAM', () => printed),
    );
    const escaped = printed
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&#39;');
    assert.equal(
      html,
      harmless.html.replace('PROGRAM', () => escaped),
    );
  });
}

test('a subject is one line of bounded length for any value', () => {
  const { subject } = render(builtIn, `A\r\nBcc: eve@example.com ${'x'.repeat(500)}`, sample('invitation'), 'en');
  assert.match(subject, /^You are invited to A Bcc: eve@example\.com x+$/);
  assert.equal(subject.length, 200);
});

test('a list has one line for each item, and an empty list is stated', () => {
  const values = new Map([['keys', ['laptop', 'a\nb', '<b>']]]);
  assert.equal(fill('Keys:\n{{keys}}', values, 'text'), 'Keys:\nlaptop\na b\n<b>');
  assert.equal(fill('{{keys}}', values, 'html'), 'laptop<br>\na b<br>\n&lt;b&gt;');
  assert.equal(fill('{{keys}}', values, 'subject'), 'laptop, a b, <b>');
  assert.equal(fill('{{keys}}', new Map([['keys', []]]), 'text'), 'none');
  assert.equal(fill('{{keys}}', new Map([['keys', []]]), 'text', 'de'), 'keine');
});

test('times are printed in a readable form', () => {
  const values = new Map<string, string | number>([
    ['at', '2026-11-21T09:30:00.000Z'],
    ['left', 7],
  ]);
  assert.equal(fill('{{at}}: {{left}}', values, 'text'), '2026-11-21 09:30 UTC: 7');
});

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string | Uint8Array>>): { path: string } & Disposable {
  const folder = newTempFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder.path, name), content);
  return folder;
}

const own = {
  'verify_email.subject.txt': 'Welcome to {{product}}\n',
  'verify_email.txt': 'Hello.\r\n\r\n{{ link }}\r\n',
  'verify_email.html':
    '<style>@media print { p { color: red }}</style><p>Hello.</p><a href="{{link}}">Go</a> until {{expiresAt}}',
};

test('an operator’s template replaces only the built-in template of its name', { tags: ['asvs:1.3.7'] }, () => {
  using folder = folderOf({ ...own, 'README.md': '{{anything}}' });
  const { templates, mistakes } = readTemplates(folder.path);
  assert.deepEqual(mistakes, []);
  const { link } = samples.verify_email;
  assert.deepEqual(render(templates, 'Acme', sample('verify_email'), 'de'), {
    subject: 'Welcome to Acme',
    text: `Hello.\n\n${link}\n`,
    html: `<style>@media print { p { color: red }}</style><p>Hello.</p><a href="${link}">Go</a> until 2026-11-22 09:30 UTC`,
  });
  for (const language of languages)
    assert.deepEqual({ ...templates[language], verify_email: builtIn[language].verify_email }, builtIn[language]);
});

test('an operator’s template for one language replaces only the template of that language', () => {
  const german = Object.entries(own).map(([name, text]) => [name.replace('verify_email', 'verify_email.de'), text]);
  using folder = folderOf(Object.fromEntries(german) as Record<string, string>);
  const { templates, mistakes } = readTemplates(folder.path);
  assert.deepEqual(mistakes, []);
  assert.deepEqual(templates.en, builtIn.en);
  assert.equal(render(templates, 'Acme', sample('verify_email'), 'de').subject, 'Welcome to Acme');
});

const mistaken: Readonly<Record<string, readonly [files: Record<string, string | Uint8Array>, reasons: RegExp[]]>> = {
  'a file that is missing': [
    { 'verify_email.txt': own['verify_email.txt'] },
    [/subject\.txt can’t be read/, /html can’t/],
  ],
  'an unknown placeholder': [
    { ...own, 'verify_email.txt': '{{link}} {{name}}' },
    [
      /verify_email\.txt contains \{\{name\}\}, which is not a placeholder of this template: it has product, link, code, expiresAt$/,
    ],
  ],
  'no link where one is needed': [{ ...own, 'verify_email.html': 'Hello' }, [/html must contain \{\{link\}\}/]],
  'its link in the subject': [
    { ...own, 'verify_email.subject.txt': 'Go to {{link}}' },
    [/subject\.txt must not contain \{\{link\}\}/],
  ],
  'a subject of two lines': [{ ...own, 'verify_email.subject.txt': 'a\nBcc: b' }, [/has more than one line/]],
  'an empty text': [{ ...own, 'verify_email.subject.txt': ' \n' }, [/is empty/]],
  'unmatched braces': [
    { ...own, 'verify_email.txt': '{{link}} {{#if}} {{ x' },
    [/contains \{\{#if\}\}/, /contains \{\{ that does not begin a placeholder/],
  ],
  'a misspelt name': [{ 'verify-email.txt': 'x' }, [/verify-email\.txt belongs to no template/]],
  'bytes that are not UTF-8': [{ ...own, 'verify_email.txt': Uint8Array.of(0x7b, 0xff) }, [/is not UTF-8/]],
  'too many bytes': [{ ...own, 'verify_email.txt': `{{link}}${'x'.repeat(65_536)}` }, [/has more than 65536 bytes/]],
};

for (const [what, [files, reasons]] of Object.entries(mistaken)) {
  test(`a template with ${what} is rejected, and each mistake names its file`, () => {
    using folder = folderOf(files);
    const { mistakes } = readTemplates(folder.path);
    assert.equal(mistakes.length, reasons.length, mistakes.join('\n'));
    for (const [index, reason] of reasons.entries()) assert.match(mistakes[index] ?? '', reason);
    assert.ok(mistakes.every((mistake) => mistake.startsWith(folder.path)));
  });
}

test('all mistakes are reported together, and a missing folder is one', () => {
  using folder = folderOf({ ...own, 'verify_email.txt': 'x', 'invitation.txt': '{{who}}', 'typo.html': '' });
  assert.equal(readTemplates(folder.path).mistakes.length, 6);
  assert.deepEqual(readTemplates(join(folder.path, 'none')).mistakes, [
    `${join(folder.path, 'none')} can't be read as a folder`,
  ]);
  mkdirSync(join(folder.path, 'invitation.html'));
  assert.match(readTemplates(folder.path).mistakes.join('\n'), /invitation\.html can’t be read/);
});
