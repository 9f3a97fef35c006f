/** The rules for secret scanners find every key, and nothing that has another length. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formOf, makeKey } from '../key-format.ts';
import { scanRules, type ScanFormat } from '../scan-rules.ts';

const prefixes = ['krv', 'acme_live', 'a1'];
const keys = Array.from({ length: 2_000 }, (_, index) => makeKey(prefixes[index % prefixes.length] ?? '').reveal());

/** Reads the parts of a rule that decide what a scanner finds. */
const parts: Readonly<Record<ScanFormat, { readonly regex: RegExp; readonly keywords: RegExp }>> = {
  gitleaks: { regex: /^regex = '''(.*)'''$/m, keywords: /"(\w+_)"/g },
  trufflehog: { regex: /^ {6}key: '(.*)'$/m, keywords: /^ {6}- (\w+_)$/gm },
};

/** As a scanner: without a keyword in the text, the pattern is not applied. */
function scannerOf(format: ScanFormat, rules: string): (text: string) => readonly string[] {
  const pattern = new RegExp(parts[format].regex.exec(rules)?.[1] ?? '(?!)', 'g');
  const keywords = [...rules.matchAll(parts[format].keywords)].map(([, word = '']) => word);
  return (text) =>
    keywords.some((word) => text.includes(word)) ? [...text.matchAll(pattern)].map(([match]) => match) : [];
}

for (const format of ['gitleaks', 'trufflehog'] as const) {
  test(`the rules for ${format} find each of 2,000 keys in the texts that contain keys`, () => {
    const scan = scannerOf(format, scanRules(format, prefixes));
    for (const key of keys) {
      assert.equal(formOf(key, prefixes), 'key');
      for (const text of [key, `KEY="${key}"`, `X-API-Key: ${key}\n`, `key%3D${key}&a`, `${key}, ${key}`])
        assert.deepEqual(scan(text), text.includes(',') ? [key, key] : [key], text);
    }
  });

  test(`the rules for ${format} do not match a key of another length or prefix, or another credential`, () => {
    const scan = scannerOf(format, scanRules(format, prefixes));
    for (const key of keys) {
      const tail = key.slice(-49);
      for (const text of [
        key.slice(0, -1),
        `${key}0`,
        `${key}_`,
        key.replace('_', '-'),
        key.toUpperCase(),
        `other_${tail}`,
        `krvr_${tail}${tail}`,
        `krvc_${tail}`,
        tail,
      ])
        assert.deepEqual(scan(text), [], text);
    }
  });
}

test('the rules are complete files', () => {
  assert.equal(
    scanRules('gitleaks', ['krv', 'acme']),
    `[[rules]]
id = "keyreeve-api-key"
description = "API key of Keyreeve"
regex = '''(?:krv|acme)_[0-9A-Za-z]{49}\\b'''
keywords = ["krv_", "acme_"]
`,
  );
  assert.equal(
    scanRules('trufflehog', ['krv']),
    `detectors:
  - name: keyreeve-api-key
    description: API key of Keyreeve
    keywords:
      - krv_
    regex:
      key: '(krv_[0-9A-Za-z]{49}\\b)'
`,
  );
});
