/** German has a sentence for each one that the server writes in English about checks and deliveries. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { serverSentences } from '../src/text/de/admin/server-sentences.ts';
import { translationIn } from '../src/text/server-sentences.ts';

const server = new URL('../../server/src/', import.meta.url);
/** Files whose texts of several words are details of checks, or reasons of failed deliveries. */
const sources = [
  'app/installation/checks.ts',
  'app/installation/disk-check.ts',
  'app/installation/verifier-check.ts',
  'app/configuration/config-warnings.ts',
  'app/key-files/master-key-checks.ts',
  'foundation/database/durability.ts',
  'foundation/outgoing/address-guard.ts',
  'foundation/outgoing/guarded-request.ts',
  'modules/api-keys/key-prefixes.ts',
  'modules/audit-retention/block-details.ts',
  'modules/issuers/key-set.ts',
  'modules/issuers/key-sets.ts',
  'modules/mail/smtp-failure.ts',
  'modules/mail/templates/templates.ts',
  'modules/scope-catalogue/warnings.ts',
  'modules/webhooks/sender.ts',
];
/** Texts of these files that administrators do not see there, or that are the same in German. */
const others = [
  'a select without a table returned no row',
  ', Node',
  ', SQLite',
  'The public keys of the issuer cannot be fetched.',
];

/** @returns the literals of a source, each as its parts between placeholders */
function literalsOf(source: string): string[][] {
  const found: string[][] = [];
  const code = source.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  const read = (start: number, end: RegExp): number => {
    let place = start;
    while (place < code.length && !end.test(code[place]!)) {
      const quote = code[place]!;
      if (quote === "'" || quote === '"' || quote === '`') place = readLiteral(place + 1, quote);
      else if (quote === '{') place = read(place + 1, /\}/) + 1;
      else place++;
    }
    return place;
  };
  const readLiteral = (start: number, quote: string): number => {
    const parts = [''];
    let place = start;
    while (code[place] !== quote) {
      if (quote === '`' && code.startsWith('${', place)) {
        place = read(place + 2, /\}/) + 1;
        parts.push('');
      } else {
        if (code[place] === '\\') place++;
        parts.push(`${parts.pop()}${code[place++]}`);
      }
      assert.ok(place < code.length, 'the literal ends');
    }
    found.push(parts);
    return place + 1;
  };
  read(0, /$^/);
  return found;
}

const english = serverSentences.map(([sentence]) => sentence).join('\n');

test('every sentence of a check and of a failed delivery has a German one', () => {
  const missing = sources.flatMap((path) => {
    const parts = literalsOf(readFileSync(new URL(path, server), 'utf8'))
      .filter((literal) => literal.join('').split(' ').length > 2)
      .flat()
      .map((part) => part.trim())
      .filter((part) => /\p{L}{3}/u.test(part) && !/^(?:select|insert|update)\b/.test(part));
    assert.ok(parts.length > 0, path);
    return parts.filter((part) => !english.includes(part) && !others.includes(part)).map((part) => `${path}: ${part}`);
  });
  assert.deepEqual(missing, []);
});

test('every German sentence has the values of the English one', () => {
  const valuesIn = (sentence: string): string[] => [...new Set(sentence.match(/\{\d\}/g))].toSorted();
  for (const [from, to] of serverSentences) assert.deepEqual(valuesIn(to), valuesIn(from), from);
});

test('values are translated too, and texts of other servers stay as they are', () => {
  for (const [from, to] of [
    ['mk_1, 12 days old', 'mk_1, Alter: 12 Tage'],
    ['2 verifiers, 1 processor', '2 Prüfprozesse, 1 Prozessor'],
    [
      'PostgreSQL 18.1: acknowledged commits are on its disk',
      'PostgreSQL 18.1: Bestätigte Transaktionen sind auf seinem Datenträger',
    ],
    [
      'the mail server: connect ECONNREFUSED 10.0.0.1. Check the host name in KEYREEVE_SMTP_URL',
      'Der Mailserver: connect ECONNREFUSED 10.0.0.1. Prüfen Sie den Hostnamen in KEYREEVE_SMTP_URL',
    ],
    ['/etc/mail/a.txt must contain {{link}}', '/etc/mail/a.txt muss {{link}} enthalten'],
    ['550 no such user', undefined],
  ] as const)
    assert.equal(translationIn(serverSentences, from), to, from);
});
