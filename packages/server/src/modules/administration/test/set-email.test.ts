/** An administrator or an operator sets an email address, and names whose address is the owner's after a theft. */
import assert from 'node:assert/strict';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, operator, type Answered, type SignedIn } from '../../../../test-kit/new-app.ts';
import { administer, problemCode, detailOf, newAdministrator } from '../../../../test-kit/administrators.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, enrol, nextStep, signInWith } from '../../../../test-kit/authenticator.ts';

const owner = 'owner@example.com';
const thief = 'thief@example.com';
const fresh = 'fresh@example.com';

/** Signed in with a second factor. */
async function provenAdministrator(client: AccountClient): Promise<SignedIn> {
  const administrator = await newAdministrator(client.app);
  const { secret } = await enrol(client.app, administrator);
  nextStep(client.app);
  const session = await signInWith(client.app, administrator.account.email, codeAt(secret, client.app.clock.now()));
  return { ...session, account: administrator.account };
}

const setEmail = (client: AccountClient, by: SignedIn, id: string, email = fresh): Promise<Answered> =>
  administer(client.app, by, 'PUT', `accounts/${id}/email`, { email });
const accept = (client: AccountClient, code: string): Promise<Answered> =>
  client.post('/auth/account/email/accept', { code });
const report = (client: AccountClient, by: SignedIn, id: string, body?: object): Promise<Answered> =>
  administer(client.app, by, 'POST', `accounts/${id}/compromised`, body);
const emailOf = async (client: AccountClient, id: string): Promise<string> =>
  (await client.app.service.services.accounts.find(id)).email;

/** @returns the code of the undo link */
async function changeEmail(client: AccountClient, from: string, to: string): Promise<string> {
  const tokens = await client.signIn(from);
  await client.as(tokens, 'PUT', '/auth/account/email', { email: to, currentPassword: goodPassword });
  const code = await client.nextCode(to, 'Confirm your new email');
  assert.equal((await client.post('/auth/account/email/confirm', { code, password: goodPassword })).status, 200);
  return codeIn(await client.mailbox.next({ to: from, subject: /email address.*was changed/ }));
}

test('an address that an administrator sets is in force once it is confirmed; the present one is told', async () => {
  await using client = await newAccountClient();
  const administrator = await provenAdministrator(client);
  const { account, ...tokens } = await client.app.signIn(owner);
  const asked = await setEmail(client, administrator, account.id);
  assert.deepEqual([asked.status, (asked.json as { email: string }).email], [202, owner]);
  const told = await client.mailbox.next({ to: owner, subject: /was set/ });
  assert.ok(told.text.includes(fresh) && !told.text.includes('krvc_'));
  const code = await client.nextCode(fresh, 'Confirm your new email');
  // A thief in the account can't void it.
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await client.as(tokens, 'PUT', '/auth/account/password', body)).status, 200);
  assert.equal(await client.isSignedIn(tokens), true);
  assert.equal((await accept(client, code)).status, 200);
  assert.equal(await emailOf(client, account.id), fresh);
  assert.equal(await client.isSignedIn(tokens), false);
  assertRejected(await accept(client, code), 'code_invalid');
  const notice = await client.mailbox.next({ to: owner, subject: /email address.*was changed/ });
  assert.ok(!notice.text.includes('krvc_'), 'the mailbox before may be the lost one');
  await client.signIn(fresh, otherPassword);
});

test('setting an address needs a sign-in with a second factor, and is for no administrator’s account', async () => {
  await using client = await newAccountClient();
  const { account } = await client.app.signIn(owner);
  const plain = await newAdministrator(client.app);
  assert.equal(problemCode(await setEmail(client, plain, account.id)), 'second_factor_not_enrolled');
  await enrol(client.app, plain);
  assert.equal(problemCode(await setEmail(client, plain, account.id)), 'reauth_required', 'its session began before');
  const administrator = await provenAdministrator(client);
  for (const { id } of [plain.account, administrator.account])
    assert.equal(problemCode(await setEmail(client, administrator, id)), 'administrator_protected');
  assert.equal(problemCode(await setEmail(client, administrator, account.id, plain.account.email)), 'account_exists');
  assert.equal(problemCode(await setEmail(client, administrator, account.id, owner)), 'email_invalid');
  const set = await setEmail(client, administrator, account.id);
  assert.equal(set.status, 202, set.text);
  const code = await client.nextCode(fresh, 'Confirm your new email');
  // It becomes an administrator meanwhile.
  await client.app.service.services.accounts.setRole(operator, account.id, 'admin');
  assertRejected(await accept(client, code), 'code_invalid');
  client.app.clock.advance({ seconds: 301 });
  assert.equal(problemCode(await setEmail(client, administrator, account.id)), 'reauth_required');
});

test('an operator sets an address also of an administrator and of a disabled account; a newer one replaces it', async () => {
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

test('an address that was set voids the links for undoing earlier changes', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  const undo = await changeEmail(client, owner, thief);
  await client.app.service.services.emailSetting.request(operator, id, fresh);
  assert.equal((await accept(client, await client.nextCode(fresh, 'Confirm your new email'))).status, 200);
  assertRejected(await client.post('/auth/account/email/undo', { code: undo }), 'code_invalid');
  assert.equal(await emailOf(client, id), fresh);
});

test('a report that an account is compromised sends no link to an address that was changed lately, until it is named', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  const undo = await changeEmail(client, owner, thief);
  const stolen = await client.signIn(thief);
  const refused = await report(client, administrator, id);
  assert.deepEqual([refused.status, problemCode(refused)], [409, 'email_changed_recently']);
  assert.equal(problemCode(await report(client, administrator, id, {})), 'email_changed_recently');
  assert.equal(await client.isSignedIn(stolen), true, 'nothing was done');
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
  assertRejected(await client.post('/auth/account/email/undo', { code: undo }), 'code_invalid');
  await client.untilOutboxEmpty();
  assert.ok(!client.mailbox.messages.some(({ to, text }) => to.includes(thief) && text.includes('reset-password')));
  // The change is undone, so nothing is left to be named.
  assert.equal((await report(client, administrator, id)).status, 200);
});

test('the current address can be named, and the links of earlier ones are void then', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  const undo = await changeEmail(client, owner, fresh);
  assert.equal((await report(client, administrator, id, { resetTo: 'current' })).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode(fresh, 'Set a new password'))).status, 200);
  assertRejected(await client.post('/auth/account/email/undo', { code: undo }), 'code_invalid');
  assert.equal(await emailOf(client, id), fresh);
});

test('after several changes the previous address must be named, and must be one of them', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id } = await client.app.createAccount(owner);
  await changeEmail(client, owner, thief);
  await changeEmail(client, thief, 'second@example.com');
  const to = (body: object) => report(client, administrator, id, { resetTo: 'previous', ...body });
  assert.equal(problemCode(await to({})), 'email_changed_recently');
  assert.equal(problemCode(await to({ previousEmail: 'second@example.com' })), 'invalid_request');
  for (const body of [{ previousEmail: owner }, { resetTo: 'current', previousEmail: owner }]) {
    const refused = await report(client, administrator, id, body);
    assertRejected(refused, 'invalid_request');
    assert.match(refused.text, /"pointer":"\/previousEmail"/);
  }
  assert.equal((await to({ previousEmail: 'Owner@example.com' })).status, 200);
  assert.equal(await emailOf(client, id), owner);
  assert.deepEqual((await detailOf(client.app, administrator, id)).emailChanges, []);
});

test('thirty days after a change, and where there was none, nothing need be named', async () => {
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
  assert.equal(problemCode(body), 'unsupported_media_type', 'an optional body is read when there is one');
});

/** As a restore does: the email address is one that the account had changed. */
async function unconfirm(client: AccountClient, id: string): Promise<void> {
  client.app.clock.advance({ seconds: 1 });
  const at = client.app.clock.now();
  const changed = await client.app.db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id, at }], at));
  assert.deepEqual(changed, [id]);
}

test('an administrator sends no link to an email address that a restore brought back, until it is confirmed', async () => {
  await using client = await newAccountClient();
  const administrator = await provenAdministrator(client);
  const { account, ...tokens } = await client.app.signIn(owner);
  const key = await client.createKey(tokens);
  const invited = await administer(client.app, administrator, 'POST', 'accounts', { email: 'invited@example.com' });
  await client.mailbox.next({ to: 'invited@example.com' });
  const { id: invitedId } = invited.json as { id: string };
  for (const id of [account.id, invitedId]) await unconfirm(client, id);
  const post = (id: string, path: string) => administer(client.app, administrator, 'POST', `accounts/${id}/${path}`);
  for (const refused of [
    await post(account.id, 'reset-password'),
    await post(account.id, 'compromised'),
    await report(client, administrator, account.id, { resetTo: 'current' }),
    await post(invitedId, 'invite'),
  ]) {
    assertRejected(refused, 'email_unconfirmed');
    const { status, detail } = refused.json as { status: number; detail: string };
    assert.equal(status, 409);
    assert.match(detail, /keyreeve account confirm-email.*PUT \/admin\/accounts\/\{id\}\/email/);
  }
  assert.ok((await client.isSignedIn(tokens)) && (await client.isKeyAccepted(key.key)), 'nothing was done');
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

test('of an account whose email address a restore brought back, a report can name the previous one', async () => {
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
