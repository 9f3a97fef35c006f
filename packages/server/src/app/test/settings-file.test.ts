/** The settings file: what is read, what wins, and which files are rejected. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { readConfig } from '../configuration/config.ts';
import { withSettingsFile } from '../configuration/settings-file.ts';

type Environment = Readonly<Record<string, string>>;

/** @param mode of the file */
function read(text: string, environment: Environment = {}, mode = 0o600) {
  using folder = newTempFolder();
  const path = join(folder.path, 'settings');
  writeFileSync(path, text);
  chmodSync(path, mode);
  try {
    return withSettingsFile(path, environment);
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(path, 'FILE') : error;
  }
}

test('the file has the settings that the environment does not have', () => {
  const text = `# a comment
KEYREEVE_PORT=8000
export KEYREEVE_ADMIN_PORT=8001
KEYREEVE_MAIL_FROM='Example <a@example.com> # 1'
KEYREEVE_HOST=127.0.0.1
KEYREEVE_SMTP_URL_FILE=/etc/keyreeve/smtp
KEYREEVE_TYPO=
KEYREEVE_DATABASE_URL=sqlite:/srv/keyreeve.db
NODE_OPTIONS=--inspect
`;
  const environment = { PATH: '/bin', KEYREEVE_HOST: '', KEYREEVE_SMTP_URL: 'smtps://b', KEYREEVE_SETTINGS_FILE: 'x' };
  assert.deepEqual(read(text, environment, 0o644), {
    PATH: '/bin',
    KEYREEVE_PORT: '8000',
    KEYREEVE_ADMIN_PORT: '8001',
    KEYREEVE_MAIL_FROM: 'Example <a@example.com> # 1',
    KEYREEVE_HOST: '',
    KEYREEVE_SMTP_URL: 'smtps://b',
    KEYREEVE_TYPO: '',
    KEYREEVE_DATABASE_URL: 'sqlite:/srv/keyreeve.db',
  });
});

test('an empty name of a file is none', () => {
  assert.deepEqual(readConfig({ KEYREEVE_SETTINGS_FILE: '' }), readConfig({}));
});

const secret = 'KEYREEVE_SMTP_URL=smtps://user:password@example.com\n';
const rejected: readonly (readonly [name: string, text: string, mode: number, message: string])[] = [
  [
    'others can write',
    'KEYREEVE_PORT=1\n',
    0o646,
    'the settings file FILE can be changed by others; it must have mode 0644 at most (chmod 644 FILE)',
  ],
  [
    'the group can write',
    'KEYREEVE_PORT=1\n',
    0o664,
    'the settings file FILE can be changed by others; it must have mode 0644 at most (chmod 644 FILE)',
  ],
  [
    'others can read a secret',
    secret,
    0o644,
    'the settings file FILE has a value of KEYREEVE_SMTP_URL and can be read by others; it must have mode 0600 (chmod 600 FILE)',
  ],
  [
    'a line without “=”',
    'KEYREEVE_PORT=1\nKEYREEVE_HOST 127.0.0.1\n',
    0o600,
    'the settings file FILE has no “=” in line 2',
  ],
  [
    'it names another file',
    'KEYREEVE_SETTINGS_FILE=/etc/other\n',
    0o600,
    'the settings file FILE must not name another one in KEYREEVE_SETTINGS_FILE',
  ],
];
for (const [name, text, mode, message] of rejected)
  test(`a settings file is rejected: ${name}`, () => assert.equal(read(text, {}, mode), message));

test('a secret is read from a file that only its owner can read, or that all can read where this is accepted', () => {
  const found = { KEYREEVE_SMTP_URL: 'smtps://user:password@example.com' };
  assert.deepEqual(read(secret), found);
  const accepting = { KEYREEVE_WORLD_READABLE_SECRETS: 'accept' };
  assert.deepEqual(read(secret, accepting, 0o644), { ...found, ...accepting });
  assert.match(String(read(secret, accepting, 0o646)), /can be changed by others/);
  for (const url of ['postgres://user:password@db/keyreeve', 'postgres:invalid'])
    assert.match(
      String(read(`KEYREEVE_DATABASE_URL=${url}\n`, {}, 0o644)),
      /has a value of KEYREEVE_DATABASE_URL and can be read/,
    );
});

test('a missing file is rejected', () => {
  assert.throws(() => withSettingsFile('/nonexistent/file', {}), {
    message: "the settings file /nonexistent/file can't be read",
  });
});
