/** `GET /admin/settings`: the settings in force without secrets, and checks of the installation. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SettingsInForce } from '@keyreeve/contract';
import { administer, newAccessToken, newAdministrator } from '../../../test-kit/administrators.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';
import { newApp, type TestApp } from '../../../test-kit/new-app.ts';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { settings } from '../configuration/settings.ts';

const canary = 'q7ZcanaryZ7q';

async function read(app: TestApp, accessToken: string): Promise<SettingsInForce> {
  const answer = await administer(app, { accessToken }, 'GET', 'settings');
  assert.equal(answer.status, 200, answer.text);
  assert.ok(!answer.text.includes(canary), 'no secret');
  const { KEYREEVE_MASTER_KEY: masterKey } = app.place.environment;
  if (masterKey !== undefined) assert.ok(!answer.text.includes(masterKey));
  return answer.json as SettingsInForce;
}

test('an administrator reads each setting with its source and without secrets', async () => {
  using folder = newTempFolder();
  const file = join(folder.path, 'smtp');
  writeFileSync(file, `smtps://user:${canary}@mail.example.com`, { mode: 0o600 });
  await using app = await newApp({
    environment: {
      KEYREEVE_AUDIENCE: `https://user:${canary}@example.com`,
      KEYREEVE_SMTP_URL_FILE: file,
      KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
    },
  });
  const { accessToken } = await newAdministrator(app);
  const { version, settings: shown, checks } = await read(app, accessToken);
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.deepEqual(
    shown.map(({ name }) => name),
    Object.values(settings).map(({ name }) => name),
  );
  const of = (name: string) => shown.find((one) => one.name === name);
  for (const [name, value, source] of [
    ['KEYREEVE_LOG_LEVEL', 'trace', 'environment'],
    ['KEYREEVE_ADMIN_HOST', '127.0.0.1', 'default'],
    ['KEYREEVE_CORS_ORIGINS', '', 'default'],
    ['KEYREEVE_AUDIENCE', 'https://[redacted]@example.com', 'environment'],
    ['KEYREEVE_SMTP_URL', null, 'file'],
  ] as const)
    assert.deepEqual(of(name), { name, value, source });
  assert.deepEqual(
    checks.find(({ name }) => name === 'mail'),
    {
      name: 'mail',
      state: 'ok',
      detail: 'smtps://mail.example.com, from Example <accounts@example.com>; `keyreeve mail test` sends a test mail',
    },
  );
});

test('the checks report a risky setting and an old signing key', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  const { account, accessToken } = await newAdministrator(app);
  const stateOf = async (token: string, name: string) =>
    (await read(app, token)).checks.filter((check) => check.name === name).map(({ state }) => state);
  assert.deepEqual(await stateOf(accessToken, 'signing key'), ['ok']);
  assert.ok((await stateOf(accessToken, 'configuration')).includes('warning'));
  app.clock.advance({ seconds: 181 * 86_400 });
  const later = await newAccessToken(app, account.email);
  assert.deepEqual(await stateOf(later, 'signing key'), ['warning']);
});
