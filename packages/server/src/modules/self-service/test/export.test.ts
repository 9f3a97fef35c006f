/** The export of an account's own data: everything of the account, no secret, bounded. */
import assert from 'node:assert/strict';
import type { AccountExport, CreatedKey } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newAccountClient } from '../../../../test-kit/account-client.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { insertEvents, insertKeys } from '../../../../test-kit/many-rows.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { ada } from '../../../../test-kit/openid-provider.ts';
import { addPasskey } from '../../../../test-kit/passkeys.ts';
import { newAppWithProvider, SingleSignOnClient } from '../../../../test-kit/single-sign-on.ts';

const path = '/auth/account/export';

test('an export has account, sessions, passkeys, service accounts, keys and activity, and no secret', async () => {
  await using app = await newApp();
  const { account, accessToken, refreshToken } = await app.signIn();
  const other = await app.signIn();
  const headers = bearer(accessToken);
  const key = (await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'k' } })).json as CreatedKey;
  await app.call('POST', '/auth/api-keys', { headers: bearer(other.accessToken), json: { nickname: 'of other' } });
  await app.call('POST', '/auth/service-accounts', { headers, json: { name: 'nightly' } });
  const { status, json, text, headers: received } = await app.call('GET', path, { headers });
  assert.equal(status, 200, text);
  const exported = json as AccountExport;
  assert.deepEqual(
    [exported.account.email, exported.sessions.map(({ current }) => current), exported.isActivityComplete],
    [account.email, [true], true],
  );
  assert.deepEqual(
    [exported.serviceAccounts.map(({ name }) => name), exported.apiKeys.map(({ nickname }) => nickname)],
    [['nightly'], ['k']],
  );
  assert.deepEqual(
    exported.activity.map(({ action }) => action),
    ['api_key.created', 'session.created', 'account.created'],
  );
  assert.equal(received.get('content-disposition'), 'attachment; filename="account.json"');
  for (const secret of [key.key, accessToken, refreshToken, 'of other', other.account.id])
    assert.ok(!text.includes(secret));
});

test('an export lists the passkeys of the account alone, without recovery codes', async () => {
  await using app = await newApp();
  const user = await app.signIn();
  const { passkey, recoveryCodes } = await addPasskey(app, user);
  const other = await app.signIn();
  await addPasskey(app, other);
  const { json, text } = await app.call('GET', path, { headers: bearer(user.accessToken) });
  const exported = json as AccountExport;
  assert.deepEqual(exported.passkeys, [passkey]);
  for (const code of recoveryCodes) assert.ok(!text.includes(code));
});

test('an export has the previous email addresses of 30 days, without the codes that undo the changes', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  const changeEmail = async (from: string, to: string): Promise<void> => {
    const code = await client.requestEmailChange(await client.signIn(from), to);
    assert.equal((await client.confirmEmailChange(code)).status, 200);
  };
  for (const email of ['first@example.com', 'other@example.com']) await app.createAccount(email);
  await changeEmail('other@example.com', 'another@example.com');
  const changedAt: string[] = [];
  for (const [from, to] of [
    ['first@example.com', 'second@example.com'],
    ['second@example.com', 'third@example.com'],
  ] as const) {
    app.clock.advance({ seconds: 60 });
    await changeEmail(from, to);
    changedAt.push(new Date(app.clock.now()).toISOString());
  }
  const read = async () => (await client.as(await client.signIn('third@example.com'), 'GET', path)).json;
  const { account, emailChanges, identities } = (await read()) as AccountExport;
  assert.deepEqual([account.email, identities], ['third@example.com', []]);
  assert.deepEqual(emailChanges, [
    { previousEmail: 'second@example.com', changedAt: changedAt[1] },
    { previousEmail: 'first@example.com', changedAt: changedAt[0] },
  ]);
  app.clock.advance({ seconds: 30 * 86_400 });
  assert.deepEqual(((await read()) as AccountExport).emailChanges, []);
});

test('an export has the mail to the account, also to its previous email address, without content and failures', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  const { mailLog } = app.service.services;
  await client.newAccount('other@example.com');
  await client.newAccount('ada@example.com');
  const code = await client.requestEmailChange(await client.signIn('ada@example.com'), 'new@example.com');
  await client.untilOutboxEmpty();
  const before = await client.as(await client.signIn('ada@example.com'), 'GET', path);
  assert.ok(
    !before.text.includes('new@example.com'),
    'an export does not say whether another account has the email address',
  );
  assert.equal((await client.confirmEmailChange(code)).status, 200);
  await mailbox.next({ to: 'ada@example.com', subject: 'changed' });
  await client.untilOutboxEmpty();
  const answer = await client.as(await client.signIn('new@example.com'), 'GET', path);
  const { mails } = answer.json as AccountExport;
  const at = new Date(app.clock.now()).toISOString();
  const mail = (to: string, purpose: string) => ({ to, purpose, createdAt: at, deliveredAt: at });
  assert.deepEqual(
    new Set(mails),
    new Set([
      mail('ada@example.com', 'verify_email'),
      mail('new@example.com', 'change_email'),
      mail('ada@example.com', 'email_change_requested'),
      mail('ada@example.com', 'email_changed_with_undo'),
    ]),
  );
  assert.equal((await mailLog.page({})).mails.length, mails.length + 1);
  assert.ok(!answer.text.includes(code));
});

test('an export has the identities of single sign-on of the account alone', async () => {
  await using both = await newAppWithProvider();
  const { app, provider } = both;
  const createdAt = new Date(app.clock.now()).toISOString();
  const client = new SingleSignOnClient(both);
  assert.equal((await client.singleSignOn()).status, 303);
  app.clock.advance({ seconds: 60 });
  assert.equal((await client.singleSignOn()).status, 303);
  const lastUsedAt = new Date(app.clock.now()).toISOString();
  const { account, accessToken } = await app.signIn();
  assert.equal(await app.service.services.singleSignOn?.identities.link(operator, account.id, 'person-2'), true);
  const { identities } = (await client.call('GET', `/api${path}`)).json as AccountExport;
  assert.deepEqual(identities, [{ issuer: provider.issuer, subject: ada.sub, createdAt, lastUsedAt }]);
  const ofOther = (await app.call('GET', path, { headers: bearer(accessToken) })).json as AccountExport;
  const expected = { issuer: provider.issuer, subject: 'person-2', createdAt: lastUsedAt, lastUsedAt: null };
  assert.deepEqual(ofOther.identities, [expected]);
});

test('an export of 10,000 keys and 20,000 events contains each of them once', async () => {
  await using app = await newApp();
  const { account, accessToken } = await app.signIn();
  const now = app.clock.now();
  const keys = Array.from({ length: 10_000 }, (_, n) => ({ id: n + 1, nickname: `k${n}`, createdAt: now - (n % 7) }));
  await insertKeys(app.db, account.id, keys);
  const events = Array.from({ length: 20_000 }, (_, n) => ({ at: now, accountId: account.id, target: `t${n}` }));
  await insertEvents(app.db, events);
  const exported = (await app.call('GET', path, { headers: bearer(accessToken) })).json as AccountExport;
  assert.equal(new Set(exported.apiKeys.map(({ id }) => id)).size, 10_000);
  assert.equal(exported.apiKeys.length, 10_000);
  assert.equal(new Set(exported.activity.map(({ target }) => target)).size, 20_000 + 2);
  assert.equal(exported.activity.length, 20_000 + 2);
});

test('an account exports its data six times an hour', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'on' } });
  const headers = bearer((await app.signIn()).accessToken);
  for (let n = 0; n < 6; n++) assert.equal((await app.call('GET', path, { headers })).status, 200);
  assertProblem(fromFetch(await app.call('GET', path, { headers })), 'too_many_requests');
  assertProblem(fromFetch(await app.call('GET', path)), 'missing_access_token');
});
