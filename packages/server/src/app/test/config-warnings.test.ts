/** Warnings about settings that are valid but risky. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../configuration/config.ts';
import { warningsOf } from '../configuration/config-warnings.ts';

type Environment = Readonly<Record<string, string>>;

const publicHttps = { KEYREEVE_PUBLIC_URL: 'https://auth.example.com', KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' };
const consoleWarnings: readonly (readonly [environment: Environment, expected: readonly RegExp[]])[] = [
  [{}, []],
  [{ KEYREEVE_PUBLIC_URL: 'http://localhost:8787' }, []],
  [{ KEYREEVE_PUBLIC_URL: 'http://127.0.0.1:8787' }, []],
  [{ KEYREEVE_PUBLIC_URL: 'http://auth.localhost' }, []],
  [{ KEYREEVE_PUBLIC_URL: 'http://auth.example.com', KEYREEVE_CONSOLE: 'off' }, []],
  [{ KEYREEVE_PUBLIC_URL: 'http://auth.example.com', KEYREEVE_CONSOLE_URL: 'http://localhost:8787' }, []],
  [
    { KEYREEVE_PUBLIC_URL: 'http://auth.example.com' },
    [/^KEYREEVE_PUBLIC_URL is http, and KEYREEVE_CONSOLE_URL is not set: the network .* can read passwords/],
  ],
  [{ KEYREEVE_CONSOLE_URL: 'http://localhost:8787' }, []],
  [{ KEYREEVE_CONSOLE_URL: 'http://console.localhost:8787' }, []],
  [{ ...publicHttps, KEYREEVE_CONSOLE_URL: 'https://console.example.com' }, []],
  [{ ...publicHttps, KEYREEVE_CONSOLE_URL: 'http://localhost:8787' }, []],
  [
    { ...publicHttps, KEYREEVE_CONSOLE_URL: 'http://console.example.com' },
    [/^KEYREEVE_CONSOLE_URL is http, but KEYREEVE_PUBLIC_URL is https: the network .* can read passwords/],
  ],
  [
    { KEYREEVE_CONSOLE_URL: 'http://192.0.2.7' },
    [/^KEYREEVE_CONSOLE_URL is http: the network/, /^KEYREEVE_CONSOLE_URL has an IP address/],
  ],
  [{ KEYREEVE_CONSOLE_URL: 'http://[::1]:8787' }, [/^KEYREEVE_CONSOLE_URL has an IP address/]],
  [{ KEYREEVE_CONSOLE_URL: 'https://console.example.com' }, [/^KEYREEVE_CONSOLE_URL is https, which needs a proxy/]],
  [
    { KEYREEVE_CONSOLE: 'off', KEYREEVE_CONSOLE_URL: 'http://console.example.com' },
    [/^KEYREEVE_CONSOLE_URL is set, but KEYREEVE_CONSOLE is off/],
  ],
];

for (const [environment, expected] of consoleWarnings) {
  test(`warnings about the console: ${Object.entries(environment)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`, () => {
    const warnings = warningsOf(readConfig(environment));
    assert.equal(warnings.length, expected.length, warnings.join('\n'));
    for (const [index, pattern] of expected.entries()) assert.match(warnings[index] ?? '', pattern);
  });
}

test('an https public URL without a trusted proxy causes a warning', () => {
  const https = { KEYREEVE_HOST: '0.0.0.0', KEYREEVE_PUBLIC_URL: 'https://auth.example.com' };
  assert.match(warningsOf(readConfig(https)).join(), /^KEYREEVE_PUBLIC_URL is https/);
  assert.deepEqual(warningsOf(readConfig({ ...https, KEYREEVE_TRUSTED_PROXIES: '10.0.0.1' })), []);
});

test('a mail server that may be without TLS causes a warning, except within the machine and with TLS from the start', () => {
  const warningsFor = (url: string, accepted = 'accept'): string =>
    warningsOf(
      readConfig({
        KEYREEVE_SMTP_URL: url,
        KEYREEVE_MAIL_FROM: 'accounts@example.com',
        KEYREEVE_SMTP_WITHOUT_TLS: accepted,
      }),
    ).join();
  assert.match(
    warningsFor('smtp://relay.internal:25'),
    /^KEYREEVE_SMTP_WITHOUT_TLS is accept: everyone on the network/,
  );
  for (const url of ['smtp://localhost:25', 'smtp://[::1]:25', 'smtps://relay.internal'])
    assert.equal(warningsFor(url), '', url);
  assert.equal(warningsFor('smtp://relay.internal:25', 'refuse'), '');
});

test('the deletion journal is beside the SQLite database by default; PostgreSQL without a journal causes a warning', () => {
  const postgres = {
    KEYREEVE_DATABASE_URL: 'postgres://keyreeve@127.0.0.1/keyreeve',
    KEYREEVE_MASTER_KEY: Buffer.alloc(32, 0xfb).toString('base64url'),
  };
  const withJournal = { KEYREEVE_DELETION_JOURNAL: '/srv/deletions' };
  assert.equal(readConfig({ KEYREEVE_DATABASE_URL: 'sqlite:/a/b.db' }).deletionJournal, '/a/b.db.deletions');
  assert.equal(readConfig(withJournal).deletionJournal, '/srv/deletions');
  const [both, none] = [readConfig({ ...postgres, ...withJournal }), readConfig(postgres)];
  assert.match(warningsOf(none).join(), /^KEYREEVE_DELETION_JOURNAL is not set/);
  assert.deepEqual([both.deletionJournal, warningsOf(both), none.deletionJournal], ['/srv/deletions', [], undefined]);
});
