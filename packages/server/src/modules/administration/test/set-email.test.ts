/** An administrator or an operator sets the email address of an account, or restores the previous one after a theft. */
import assert from 'node:assert/strict';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { codeIn, Mailbox } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, operator, type Answered, type SignedIn } from '../../../../test-kit/new-app.ts';
import { administer, problemCode, detailOf, newAdministrator } from '../../../../test-kit/administrators.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, enrol, nextStep, signInWith } from '../../../../test-kit/authenticator.ts';
import { ada } from '../../../../test-kit/openid-provider.ts';
import { newAppWithProvider, SingleSignOnClient } from '../../../../test-kit/single-sign-on.ts';

const owner = 'owner@example.com';
const thief = 'thief@example.com';
const fresh = 'fresh@example.com';

/** An administrator who has signed in with a second factor. */
async function newAdministratorWithFactor(client: AccountClient): Promise<SignedIn> {
  const administrator = await newAdministrator(client.app);
  const { secret } = await enrol(client.app, administrator);
  nextStep(client.app);
  const session = await signInWith(client.app, administrator.account.email, codeAt(secret, client.app.clock.now()));
  return { ...session, account: administrator.account };
}

const setEmail = (client: AccountClient, by: SignedIn, id: string, email = fresh): Promise<Answered> =>
  administer(client.app, by, 'PUT', `accounts/${id}/email`, { email });
const accept = (client: AccountClient, code: string, email = fresh): Promise<Answered> =>
  client.post('/auth/account/email/accept', { code, email });
const report = (client: AccountClient, by: SignedIn, id: string, body?: object): Promise<Answered> =>
  administer(client.app, by, 'POST', `accounts/${id}/compromised`, body);
const emailOf = async (client: AccountClient, id: string): Promise<string> =>
  (await client.app.service.services.accounts.find(id)).email;

/** @returns the code of the undo link */
async function changeEmail(client: AccountClient, from: string, to: string): Promise<string> {
  const tokens = await client.signIn(from);
  const code = await client.requestEmailChange(tokens, to);
  assert.equal((await client.confirmEmailChange(code)).status, 200);
  return codeIn(await client.mailbox.next({ to: from, subject: /email address.*was changed/ }));
}

test('an email address that an administrator sets takes effect when it is confirmed; the current one gets a mail', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministratorWithFactor(client);
  const { account, ...tokens } = await client.app.signIn(owner);
  const requested = await setEmail(client, administrator, account.id);
  assert.deepEqual([requested.status, (requested.json as { email: string }).email], [202, owner]);
  const announcement = await client.mailbox.next({ to: owner, subject: /was set/ });
  assert.ok(announcement.text.includes(fresh) && !announcement.text.includes('krvc_'));
  const code = await client.nextCode(fresh, 'Confirm your new email');
  // A password change by a thief does not invalidate the code.
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await client.as(tokens, 'PUT', '/auth/account/password', body)).status, 200);
  assert.equal(await client.isSignedIn(tokens), true);
  assert.equal((await accept(client, code)).status, 200);
  assert.equal(await emailOf(client, account.id), fresh);
  assert.equal(await client.isSignedIn(tokens), false);
  assertRejected(await accept(client, code), 'code_invalid');
  const notice = await client.mailbox.next({ to: owner, subject: /email address.*was changed/ });
  assert.ok(
    !notice.text.includes('krvc_'),
    'there is no undo link, because the owner may have lost the previous mailbox',
  );
  await client.signIn(fresh, otherPassword);
});

test('an email address that was set is accepted only with it or the current one, which a mail scanner does not type', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministratorWithFactor(client);
  for (const [id, typed] of [
    ['first', 'fresh-first@example.com'],
    ['second', 'second@example.com'],
  ] as const) {
    const account = await client.app.createAccount(`${id}@example.com`);
    const wanted = `fresh-${id}@example.com`;
    assert.equal((await setEmail(client, administrator, account.id, wanted)).status, 202);
    const code = await client.nextCode(wanted, 'Confirm your new email');
    assertRejected(await client.post('/auth/account/email/accept', { code }), 'invalid_request');
    for (const email of ['fresh@example.com', 'fresh', ' '])
      assertRejected(await accept(client, code, email), 'email_wrong', email);
    assert.equal(await emailOf(client, account.id), `${id}@example.com`);
    assert.equal((await accept(client, code, typed)).status, 200);
    assert.equal(await emailOf(client, account.id), wanted);
  }
});

test('setting an email address requires a sign-in with a second factor, and cannot change an administrator', async () => {
  await using client = await newAccountClient();
  const { account } = await client.app.signIn(owner);
  const plain = await newAdministrator(client.app);
  assert.equal(problemCode(await setEmail(client, plain, account.id)), 'second_factor_not_enrolled');
  await enrol(client.app, plain);
  assert.equal(
    problemCode(await setEmail(client, plain, account.id)),
    'reauth_required',
    'the session began without the second factor',
  );
  const administrator = await newAdministratorWithFactor(client);
  for (const { id } of [plain.account, administrator.account])
    assert.equal(problemCode(await setEmail(client, administrator, id)), 'administrator_protected');
  assert.equal(problemCode(await setEmail(client, administrator, account.id, plain.account.email)), 'account_exists');
  assert.equal(problemCode(await setEmail(client, administrator, account.id, owner)), 'email_invalid');
  const set = await setEmail(client, administrator, account.id);
  assert.equal(set.status, 202, set.text);
  const code = await client.nextCode(fresh, 'Confirm your new email');
  // The account becomes an administrator before the code is used.
  await client.app.service.services.accounts.setRole(operator, account.id, 'admin');
  assertRejected(await accept(client, code), 'code_invalid');
  client.app.clock.advance({ seconds: 301 });
  assert.equal(problemCode(await setEmail(client, administrator, account.id)), 'reauth_required');
});

testOnBoth(
  'a session of single sign-on is no proof of the second factor, until it is confirmed with the second factor',
  { tags: ['asvs:6.8.4'] },
  async () => {
    await using mailbox = await Mailbox.start();
    await using both = await newAppWithProvider({ environment: mailbox.environment });
    const { app, provider } = both;
    const { singleSignOn } = app.service.services;
    const { account } = await app.signIn(owner);
    const administrator = await newAdministrator(app);
    await singleSignOn?.identities.link(operator, administrator.account.id, ada.sub ?? '');
    const client = new SingleSignOnClient(both);
    const set = async (): Promise<string | undefined> => {
      const answer = await client.call('PUT', `/api/admin/accounts/${account.id}/email`, { json: { email: fresh } });
      return answer.status === 202 ? 'set' : problemCode(answer);
    };
    assert.equal((await client.singleSignOn()).status, 303);
    const older = client.copy();
    const { secret } = await enrol(app, administrator);
    assert.equal(await set(), 'console_session_required', 'the new second factor has ended the earlier session');
    assert.equal(await older.isSignedIn(), false);
    nextStep(app);
    const seconds = (offset: number): number => app.clock.now() / 1000 + offset;
    // The last time is later than the session: the clock of the provider is ahead.
    for (const auth_time of [undefined, seconds(-20), seconds(0), seconds(20)]) {
      provider.person = { ...ada, auth_time };
      assert.equal((await client.singleSignOn()).status, 303);
      assert.equal(await set(), 'reauth_required', String(auth_time));
    }
    app.clock.advance({ seconds: 1 });
    assert.equal(problemCode(await client.confirm()), 'second_factor_required');
    assert.equal((await client.confirm(goodPassword, codeAt(secret, app.clock.now()))).status, 200);
    assert.equal(await set(), 'set');
    assert.equal((await client.singleSignOn()).status, 303);
    assert.equal(await set(), 'reauth_required', 'the next session proves nothing');
  },
);

test('an operator can set the email address of a disabled administrator; a newer one replaces it', async () => {
  await using client = await newAccountClient();
  const { emailSetting, accounts } = client.app.service.services;
  const { account } = await newAdministrator(client.app, owner);
  await newAdministrator(client.app);
  await accounts.disable(operator, account.id);
  await emailSetting.request(operator, account.id, 'wrong@example.com');
  const older = await client.nextCode('wrong@example.com', 'Confirm your new email');
  await emailSetting.request(operator, account.id, fresh);
  assertRejected(await accept(client, older), 'code_invalid');
  assert.equal((await accept(client, await client.nextCode(fresh, 'Confirm your new email'))).status, 200);
  const { email, disabledAt } = await accounts.find(account.id);
  assert.deepEqual([email, disabledAt !== null], [fresh, true]);
});

test('setting an email address invalidates the undo links of earlier changes', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  const undo = await changeEmail(client, owner, thief);
  await client.app.service.services.emailSetting.request(operator, id, fresh);
  assert.equal((await accept(client, await client.nextCode(fresh, 'Confirm your new email'))).status, 200);
  assertRejected(await client.post('/auth/account/email/undo', { code: undo, email: owner }), 'code_invalid');
  assert.equal(await emailOf(client, id), fresh);
});

test('marking an account compromised after an email change requires a choice of email address for the link', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  const undo = await changeEmail(client, owner, thief);
  const stolen = await client.signIn(thief);
  const rejected = await report(client, administrator, id);
  assert.deepEqual([rejected.status, problemCode(rejected)], [409, 'email_changed_recently']);
  assert.equal(problemCode(await report(client, administrator, id, {})), 'email_changed_recently');
  assert.equal(await client.isSignedIn(stolen), true, 'nothing changed');
  const { emailChanges } = await detailOf(client.app, administrator, id);
  assert.deepEqual(
    emailChanges.map(({ previousEmail }) => previousEmail),
    [owner],
  );
  const done = await report(client, administrator, id, { resetTo: 'previous' });
  assert.deepEqual([done.status, (done.json as { email: string }).email], [200, owner], done.text);
  assert.equal(await client.isSignedIn(stolen), false);
  assertRejected(await client.trySignIn(owner), 'invalid_credentials');
  assert.equal((await client.confirmReset(await client.nextCode(owner, 'Set a new password'))).status, 200);
  assertRejected(await client.post('/auth/account/email/undo', { code: undo, email: owner }), 'code_invalid');
  await client.untilOutboxEmpty();
  assert.ok(!client.mailbox.messages.some(({ to, text }) => to.includes(thief) && text.includes('reset-password')));
  // The change is undone, so no choice is required.
  assert.equal((await report(client, administrator, id)).status, 200);
});

test('choosing the current email address invalidates the undo links of earlier changes', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  const undo = await changeEmail(client, owner, fresh);
  assert.equal((await report(client, administrator, id, { resetTo: 'current' })).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode(fresh, 'Set a new password'))).status, 200);
  assertRejected(await client.post('/auth/account/email/undo', { code: undo, email: owner }), 'code_invalid');
  assert.equal(await emailOf(client, id), fresh);
});

test('after several email changes the request must contain one of the previous email addresses', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  await changeEmail(client, owner, thief);
  await changeEmail(client, thief, 'second@example.com');
  const to = (body: object) => report(client, administrator, id, { resetTo: 'previous', ...body });
  assert.equal(problemCode(await to({})), 'email_changed_recently');
  assert.equal(problemCode(await to({ previousEmail: 'second@example.com' })), 'invalid_request');
  for (const body of [{ previousEmail: owner }, { resetTo: 'current', previousEmail: owner }]) {
    const rejected = await report(client, administrator, id, body);
    assertRejected(rejected, 'invalid_request');
    assert.match(rejected.text, /"pointer":"\/previousEmail"/);
  }
  assert.equal((await to({ previousEmail: 'Owner@example.com' })).status, 200);
  assert.equal(await emailOf(client, id), owner);
  assert.deepEqual((await detailOf(client.app, administrator, id)).emailChanges, []);
});

test('no choice is required without an email change within thirty days', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  await changeEmail(client, owner, fresh);
  client.app.clock.advance({ seconds: 30 * 86_400 });
  const administrator = await newAdministrator(client.app);
  assert.equal(problemCode(await report(client, administrator, id, { resetTo: 'previous' })), 'invalid_request');
  assert.equal((await report(client, administrator, id)).status, 200);
  const { account } = await client.app.signIn('other@example.com');
  const body = await client.app.call('POST', `/admin/accounts/${account.id}/compromised`, {
    headers: { ...bearer(administrator.accessToken), 'content-type': 'text/plain' },
    body: 'resetTo',
  });
  assert.equal(problemCode(body), 'unsupported_media_type', 'an optional body is validated if present');
});

/** Marks the email address as unconfirmed, as a restore does if the account changed it after the backup. */
async function unconfirm(client: AccountClient, id: string): Promise<void> {
  client.app.clock.advance({ seconds: 1 });
  const at = client.app.clock.now();
  const changed = await client.app.db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id, at }], at));
  assert.deepEqual(changed, [id]);
}

test('an administrator cannot send a link to an email address that a restore brought back until it is confirmed', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministratorWithFactor(client);
  const { account, ...tokens } = await client.app.signIn(owner);
  const key = await client.createKey(tokens);
  const invited = await administer(client.app, administrator, 'POST', 'accounts', { email: 'invited@example.com' });
  await client.mailbox.next({ to: 'invited@example.com' });
  const { id: invitedId } = invited.json as { id: string };
  for (const id of [account.id, invitedId]) await unconfirm(client, id);
  const post = (id: string, path: string) => administer(client.app, administrator, 'POST', `accounts/${id}/${path}`);
  for (const rejected of [
    await post(account.id, 'reset-password'),
    await post(account.id, 'compromised'),
    await report(client, administrator, account.id, { resetTo: 'current' }),
    await post(invitedId, 'invite'),
  ]) {
    assertRejected(rejected, 'email_unconfirmed');
    const { status, detail } = rejected.json as { status: number; detail: string };
    assert.equal(status, 409);
    assert.match(detail, /keyreeve account confirm-email.*PUT \/admin\/accounts\/\{id\}\/email/);
  }
  assert.ok((await client.isSignedIn(tokens)) && (await client.isKeyAccepted(key.key)), 'nothing changed');
  await client.untilOutboxEmpty();
  assert.deepEqual(
    client.mailbox.messages.filter(({ text }) => text.includes('krvc_')).map(({ to }) => to),
    [['invited@example.com']],
  );
  await client.app.service.services.accounts.confirmEmail(operator, account.id);
  assert.equal((await post(account.id, 'reset-password')).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode(owner, 'Set a new password'))).status, 200);
  await unconfirm(client, account.id);
  assert.equal((await setEmail(client, administrator, account.id)).status, 202);
  assert.equal((await accept(client, await client.nextCode(fresh, 'Confirm your new email'))).status, 200);
  assert.equal((await report(client, administrator, account.id, { resetTo: 'current' })).status, 200);
  await client.nextCode(fresh, 'Set a new password');
});

test('a report can choose the previous email address if a restore brought back the current one', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  await changeEmail(client, owner, fresh);
  await unconfirm(client, id);
  assert.equal(problemCode(await report(client, administrator, id)), 'email_changed_recently');
  assertRejected(await report(client, administrator, id, { resetTo: 'current' }), 'email_unconfirmed');
  assert.equal((await report(client, administrator, id, { resetTo: 'previous' })).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode(owner, 'Set a new password'))).status, 200);
});
