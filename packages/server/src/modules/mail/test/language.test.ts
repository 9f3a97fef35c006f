/** The language of mail: set at sign-up, changed by the account, and used for its last mail. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { goodPassword } from '../../../../test-kit/new-app.ts';
import { assertRejected, newAccountClient } from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'ada@example.com';

test('mail has the language of the sign-up until the account chooses another', async () => {
  await using client = await newAccountClient();
  const answer = await client.app.call('POST', '/auth/accounts', {
    headers: { 'accept-language': 'fr;q=0.9, de-CH' },
    json: { email, password: goodPassword },
  });
  assert.equal(answer.status, 202, answer.text);
  const code = await client.nextCode(email, /^Bestätigen Sie Ihre E-Mail-Adresse für Example$/);
  assert.equal((await client.verifyEmail(code)).status, 200);
  const tokens = await client.signIn(email);
  assert.equal(((await client.as(tokens, 'GET', '/auth/account')).json as { language: string }).language, 'de');

  await client.post('/auth/password-resets', { email });
  assert.match((await client.mailbox.next({ to: email })).subject ?? '', /^Setzen Sie ein neues Passwort/);
  assert.equal((await client.as(tokens, 'PUT', '/auth/account/language', { language: 'en' })).status, 204);
  await client.post('/auth/password-resets', { email });
  assert.match((await client.mailbox.next({ to: email })).subject ?? '', /^Set a new password/);

  assert.equal((await client.as(tokens, 'PUT', '/auth/account/language', { language: 'de' })).status, 204);
  const deleted = await client.as(tokens, 'DELETE', '/auth/account', { currentPassword: goodPassword });
  assert.equal(deleted.status, 204, deleted.text);
  assert.match((await client.mailbox.next({ to: email })).subject ?? '', /wurde gelöscht$/);
});

test('mail to an account without a language has the operator’s language', async () => {
  await using client = await newAccountClient({ KEYREEVE_LANGUAGE: 'de' });
  await client.app.createAccount(email);
  await client.post('/auth/password-resets', { email });
  assert.match((await client.mailbox.next({ to: email })).subject ?? '', /^Setzen Sie ein neues Passwort/);
});

test('an unsupported language is rejected', async () => {
  await using client = await newAccountClient();
  const { accessToken } = await client.app.signIn();
  for (const language of ['fr', 'EN', '', null, 1]) {
    const { status } = await client.as({ accessToken, refreshToken: '' }, 'PUT', '/auth/account/language', {
      language,
    });
    assert.equal(status, 400, String(language));
  }
});

test('changes of the language are limited per hour and account', async () => {
  await using client = await newAccountClient();
  const [tokens, other] = [await client.app.signIn(), await client.app.signIn()];
  const languages = ['de', 'en'] as const;
  const choose = (by: typeof tokens, n: number) =>
    client.as(by, 'PUT', '/auth/account/language', { language: languages[n % languages.length] });
  const max = limits.languageChangesPerHourMax;
  for (let n = 0; n < max; n++) {
    for (const again of [n, n])
      assert.equal((await choose(tokens, again)).status, 204, 'the same one again is not counted');
  }
  assertRejected(await choose(tokens, max), 'too_many_requests');
  const changes = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.language_changed');
  assert.equal(changes.length, max);
  assert.equal((await choose(other, 0)).status, 204);
  client.app.clock.advance({ seconds: 3_600 });
  const { refreshToken } = tokens;
  const refreshed = await client.app.call('POST', '/auth/token/refresh', { json: { refreshToken } });
  assert.equal((await choose({ ...tokens, ...(refreshed.json as object) }, max)).status, 204);
});
