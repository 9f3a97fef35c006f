/** New passwords apply without a restart, for each secret that is in a file. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { latestSecret, readConfig } from '../configuration/config.ts';
import { bearer, newApp } from '../../../test-kit/new-app.ts';
import { newPlace } from '../../../test-kit/new-db.ts';
import { clientSecret, newOpenIdProvider } from '../../../test-kit/openid-provider.ts';
import { PostgresDatabases } from '../../../test-kit/postgres/databases.ts';
import { SingleSignOnClient } from '../../../test-kit/single-sign-on.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { until } from '../../../test-kit/until.ts';

const write = (path: string, text: string): void => writeFileSync(path, `${text}\n`, { mode: 0o600 });

test('a new password of the database applies to new connections', async () => {
  await using place = await newPlace('postgres', { isMigrated: true });
  using folder = newTempFolder();
  const file = join(folder.path, 'database-url');
  const admin = new PostgresDatabases(place.url);
  const role = `keyreeve_${randomBytes(8).toString('hex')}`;
  await admin.run(`create role ${role} login superuser password 'first'`);
  const urlWith = (password: string): string => {
    const url = new URL(place.url);
    url.username = role;
    url.password = password;
    return url.href;
  };
  write(file, urlWith('first'));
  const { KEYREEVE_DATABASE_URL: _, ...environment } = place.environment;
  await using app = await newApp({
    place: { ...place, environment: { ...environment, KEYREEVE_DATABASE_URL_FILE: file } },
  });
  const { accessToken } = await app.signIn();
  const list = async (): Promise<number> =>
    (await app.call('GET', '/auth/api-keys', { headers: bearer(accessToken) })).status;
  assert.equal(await list(), 200);
  const cutAll = (): Promise<void> =>
    admin.run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`);

  await admin.run(`alter role ${role} password 'second'`);
  await cutAll();
  assert.equal(await list(), 503);
  // An invalid value leaves the last one in force.
  write(file, 'postgres://');
  assert.equal(await list(), 503);
  write(file, urlWith('second'));
  // A request can share a connection that began with the earlier password.
  await until('a connection has the new password', async () => (await list()) === 200);
});

test('a new secret of the single sign-on client applies to the next sign-in', async () => {
  await using provider = await newOpenIdProvider();
  using folder = newTempFolder();
  const file = join(folder.path, 'client-secret');
  write(file, 'replaced at the provider');
  const { KEYREEVE_SSO_CLIENT_SECRET: _, ...environment } = provider.environment;
  await using app = await newApp({ environment: { ...environment, KEYREEVE_SSO_CLIENT_SECRET_FILE: file } });
  const client = new SingleSignOnClient({ app, provider });
  await client.singleSignOn();
  assert.ok(!client.cookie);
  write(file, clientSecret);
  await client.singleSignOn();
  assert.ok(client.cookie);
});

test('a secret of the environment stays, and one of a file is read again until the file is not valid', () => {
  using folder = newTempFolder();
  const file = join(folder.path, 'smtp-url');
  const [first, second] = ['smtp://a:first@127.0.0.1:25', 'smtp://a:second@127.0.0.1:25'];
  write(file, first);
  const mail = { KEYREEVE_MAIL_FROM: 'a@example.com' };
  const ofFile = { ...mail, KEYREEVE_SMTP_URL_FILE: file };
  const latest = latestSecret(readConfig(ofFile), 'smtpUrl', ofFile);
  const ofEnvironment = { ...mail, KEYREEVE_SMTP_URL: first };
  const fixed = latestSecret(readConfig(ofEnvironment), 'smtpUrl', ofEnvironment);
  assert.equal(latest(), first);
  write(file, second);
  assert.deepEqual([latest(), fixed()], [second, first]);
  for (const invalid of ['', 'smtp', 'https://127.0.0.1']) {
    write(file, invalid);
    assert.equal(latest(), second, invalid);
  }
});
