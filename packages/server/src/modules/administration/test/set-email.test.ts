/** An administrator or an operator sets an email address, and names whose address is the owner's after a theft. */
import assert from 'node:assert/strict';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, operator, type Answered, type SignedIn } from '../../../../test-kit/new-app.ts';
import { administer, codeOf, detailOf, newAdministrator } from '../../../../test-kit/administrators.ts';
import { assertRefused, newLife, otherPassword, type Life } from '../../../../test-kit/mailed-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt, enrol, nextStep, signInWith } from '../../../../test-kit/authenticator.ts';

const owner = 'owner@example.com';
const thief = 'thief@example.com';
const fresh = 'fresh@example.com';

/** Signed in with a second factor. */
async function provenAdministrator(life: Life): Promise<SignedIn> {
  const administrator = await newAdministrator(life.app);
  const { secret } = await enrol(life.app, administrator);
  nextStep(life.app);
  const session = await signInWith(life.app, administrator.account.email, codeAt(secret, life.app.clock.now()));
  return { ...session, account: administrator.account };
}

const setEmail = (life: Life, by: SignedIn, id: string, email = fresh): Promise<Answered> =>
  administer(life.app, by, 'PUT', `accounts/${id}/email`, { email });
const accept = (life: Life, code: string): Promise<Answered> => life.post('/auth/account/email/accept', { code });
const report = (life: Life, by: SignedIn, id: string, body?: object): Promise<Answered> =>
  administer(life.app, by, 'POST', `accounts/${id}/compromised`, body);
const emailOf = async (life: Life, id: string): Promise<string> =>
  (await life.app.service.services.accounts.find(id)).email;

/** @returns the code of the undo link */
async function changeEmail(life: Life, from: string, to: string): Promise<string> {
  const tokens = await life.signIn(from);
  await life.as(tokens, 'PUT', '/auth/account/email', { email: to, currentPassword: goodPassword });
  const code = await life.code(to, 'Confirm your new email');
  assert.equal((await life.post('/auth/account/email/confirm', { code, password: goodPassword })).status, 200);
  return codeIn(await life.mailbox.next({ to: from, subject: /email address.*was changed/ }));
}

test('an address that an administrator sets is in force once it is confirmed; the present one is told', async () => {
  await using life = await newLife();
  const administrator = await provenAdministrator(life);
  const { account, ...tokens } = await life.app.signIn(owner);
  const asked = await setEmail(life, administrator, account.id);
  assert.deepEqual([asked.status, (asked.json as { email: string }).email], [202, owner]);
  const told = await life.mailbox.next({ to: owner, subject: /was set/ });
  assert.ok(told.text.includes(fresh) && !told.text.includes('krvc_'));
  const code = await life.code(fresh, 'Confirm your new email');
  // A thief in the account can't void it.
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await life.as(tokens, 'PUT', '/auth/account/password', body)).status, 200);
  assert.equal(await life.isLive(tokens), true);
  assert.equal((await accept(life, code)).status, 200);
  assert.equal(await emailOf(life, account.id), fresh);
  assert.equal(await life.isLive(tokens), false);
  assertRefused(await accept(life, code), 'code_invalid');
  const notice = await life.mailbox.next({ to: owner, subject: /email address.*was changed/ });
  assert.ok(!notice.text.includes('krvc_'), 'the mailbox before may be the lost one');
  await life.signIn(fresh, otherPassword);
});

test('setting an address needs a sign-in with a second factor, and is for no administrator’s account', async () => {
  await using life = await newLife();
  const { account } = await life.app.signIn(owner);
  const plain = await newAdministrator(life.app);
  assert.equal(codeOf(await setEmail(life, plain, account.id)), 'second_factor_not_enrolled');
  await enrol(life.app, plain);
  assert.equal(codeOf(await setEmail(life, plain, account.id)), 'reauth_required', 'its session began before');
  const administrator = await provenAdministrator(life);
  for (const { id } of [plain.account, administrator.account])
    assert.equal(codeOf(await setEmail(life, administrator, id)), 'administrator_protected');
  assert.equal(codeOf(await setEmail(life, administrator, account.id, plain.account.email)), 'account_exists');
  assert.equal(codeOf(await setEmail(life, administrator, account.id, owner)), 'email_invalid');
  const set = await setEmail(life, administrator, account.id);
  assert.equal(set.status, 202, set.text);
  const code = await life.code(fresh, 'Confirm your new email');
  // It becomes an administrator meanwhile.
  await life.app.service.services.accounts.setRole(operator, account.id, 'admin');
  assertRefused(await accept(life, code), 'code_invalid');
  life.app.clock.advance({ seconds: 301 });
  assert.equal(codeOf(await setEmail(life, administrator, account.id)), 'reauth_required');
});

test('an operator sets an address also of an administrator and of a disabled account; a newer one replaces it', async () => {
  await using life = await newLife();
  const { emailSetting, accounts } = life.app.service.services;
  const { account } = await newAdministrator(life.app, owner);
  await newAdministrator(life.app);
  await accounts.disable(operator, account.id);
  await emailSetting.request(operator, account.id, 'wrong@example.com');
  const older = await life.code('wrong@example.com', 'Confirm your new email');
  await emailSetting.request(operator, account.id, fresh);
  assertRefused(await accept(life, older), 'code_invalid');
  assert.equal((await accept(life, await life.code(fresh, 'Confirm your new email'))).status, 200);
  const { email, disabledAt } = await accounts.find(account.id);
  assert.deepEqual([email, disabledAt !== null], [fresh, true]);
});

test('an address that was set voids the links for undoing earlier changes', async () => {
  await using life = await newLife();
  const { id } = await life.app.createAccount(owner);
  const undo = await changeEmail(life, owner, thief);
  await life.app.service.services.emailSetting.request(operator, id, fresh);
  assert.equal((await accept(life, await life.code(fresh, 'Confirm your new email'))).status, 200);
  assertRefused(await life.post('/auth/account/email/undo', { code: undo }), 'code_invalid');
  assert.equal(await emailOf(life, id), fresh);
});

test('a report that an account is compromised sends no link to an address that was changed lately, until it is named', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { id } = await life.app.createAccount(owner);
  const undo = await changeEmail(life, owner, thief);
  const stolen = await life.signIn(thief);
  const refused = await report(life, administrator, id);
  assert.deepEqual([refused.status, codeOf(refused)], [409, 'email_changed_recently']);
  assert.equal(codeOf(await report(life, administrator, id, {})), 'email_changed_recently');
  assert.equal(await life.isLive(stolen), true, 'nothing was done');
  const { emailChanges } = await detailOf(life.app, administrator, id);
  assert.deepEqual(
    emailChanges.map(({ previousEmail }) => previousEmail),
    [owner],
  );
  const done = await report(life, administrator, id, { resetTo: 'previous' });
  assert.deepEqual([done.status, (done.json as { email: string }).email], [200, owner], done.text);
  assert.equal(await life.isLive(stolen), false);
  assertRefused(await life.trySignIn(owner), 'invalid_credentials');
  assert.equal((await life.reset(await life.code(owner, 'Set a new password'))).status, 200);
  assertRefused(await life.post('/auth/account/email/undo', { code: undo }), 'code_invalid');
  await life.settled();
  assert.ok(!life.mailbox.messages.some(({ to, text }) => to.includes(thief) && text.includes('reset-password')));
  // The change is undone, so nothing is left to be named.
  assert.equal((await report(life, administrator, id)).status, 200);
});

test('the current address can be named, and the links of earlier ones are void then', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { id } = await life.app.createAccount(owner);
  const undo = await changeEmail(life, owner, fresh);
  assert.equal((await report(life, administrator, id, { resetTo: 'current' })).status, 200);
  assert.equal((await life.reset(await life.code(fresh, 'Set a new password'))).status, 200);
  assertRefused(await life.post('/auth/account/email/undo', { code: undo }), 'code_invalid');
  assert.equal(await emailOf(life, id), fresh);
});

test('after several changes the previous address must be named, and must be one of them', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { id } = await life.app.createAccount(owner);
  await changeEmail(life, owner, thief);
  await changeEmail(life, thief, 'second@example.com');
  const to = (body: object) => report(life, administrator, id, { resetTo: 'previous', ...body });
  assert.equal(codeOf(await to({})), 'email_changed_recently');
  assert.equal(codeOf(await to({ previousEmail: 'second@example.com' })), 'invalid_request');
  for (const body of [{ previousEmail: owner }, { resetTo: 'current', previousEmail: owner }]) {
    const refused = await report(life, administrator, id, body);
    assertRefused(refused, 'invalid_request');
    assert.match(refused.text, /"pointer":"\/previousEmail"/);
  }
  assert.equal((await to({ previousEmail: 'Owner@example.com' })).status, 200);
  assert.equal(await emailOf(life, id), owner);
  assert.deepEqual((await detailOf(life.app, administrator, id)).emailChanges, []);
});

test('thirty days after a change, and where there was none, nothing need be named', async () => {
  await using life = await newLife();
  const { id } = await life.app.createAccount(owner);
  await changeEmail(life, owner, fresh);
  life.app.clock.advance({ seconds: 30 * 86_400 });
  const administrator = await newAdministrator(life.app);
  assert.equal(codeOf(await report(life, administrator, id, { resetTo: 'previous' })), 'invalid_request');
  assert.equal((await report(life, administrator, id)).status, 200);
  const { account } = await life.app.signIn('other@example.com');
  const body = await life.app.call('POST', `/admin/accounts/${account.id}/compromised`, {
    headers: { ...bearer(administrator.accessToken), 'content-type': 'text/plain' },
    body: 'resetTo',
  });
  assert.equal(codeOf(body), 'unsupported_media_type', 'an optional body is read when there is one');
});

/** As a restore does: the email address is one that the account had changed. */
async function unconfirm(life: Life, id: string): Promise<void> {
  life.app.clock.advance({ seconds: 1 });
  const at = life.app.clock.now();
  const changed = await life.app.db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id, at }], at));
  assert.deepEqual(changed, [id]);
}

test('an administrator sends no link to an email address that a restore brought back, until it is confirmed', async () => {
  await using life = await newLife();
  const administrator = await provenAdministrator(life);
  const { account, ...tokens } = await life.app.signIn(owner);
  const key = await life.createKey(tokens);
  const invited = await administer(life.app, administrator, 'POST', 'accounts', { email: 'invited@example.com' });
  await life.mailbox.next({ to: 'invited@example.com' });
  const { id: invitedId } = invited.json as { id: string };
  for (const id of [account.id, invitedId]) await unconfirm(life, id);
  const post = (id: string, path: string) => administer(life.app, administrator, 'POST', `accounts/${id}/${path}`);
  for (const refused of [
    await post(account.id, 'reset-password'),
    await post(account.id, 'compromised'),
    await report(life, administrator, account.id, { resetTo: 'current' }),
    await post(invitedId, 'invite'),
  ]) {
    assertRefused(refused, 'email_unconfirmed');
    const { status, detail } = refused.json as { status: number; detail: string };
    assert.equal(status, 409);
    assert.match(detail, /keyreeve account confirm-email.*PUT \/admin\/accounts\/\{id\}\/email/);
  }
  assert.ok((await life.isLive(tokens)) && (await life.works(key.key)), 'nothing was done');
  await life.settled();
  assert.deepEqual(
    life.mailbox.messages.filter(({ text }) => text.includes('krvc_')).map(({ to }) => to),
    [['invited@example.com']],
  );
  await life.app.service.services.accounts.confirmEmail(operator, account.id);
  assert.equal((await post(account.id, 'reset-password')).status, 200);
  assert.equal((await life.reset(await life.code(owner, 'Set a new password'))).status, 200);
  await unconfirm(life, account.id);
  assert.equal((await setEmail(life, administrator, account.id)).status, 202);
  assert.equal((await accept(life, await life.code(fresh, 'Confirm your new email'))).status, 200);
  assert.equal((await report(life, administrator, account.id, { resetTo: 'current' })).status, 200);
  await life.code(fresh, 'Set a new password');
});

test('of an account whose email address a restore brought back, a report can name the previous one', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { id } = await life.app.createAccount(owner);
  await changeEmail(life, owner, fresh);
  await unconfirm(life, id);
  assert.equal(codeOf(await report(life, administrator, id)), 'email_changed_recently');
  assertRefused(await report(life, administrator, id, { resetTo: 'current' }), 'email_unconfirmed');
  assert.equal((await report(life, administrator, id, { resetTo: 'previous' })).status, 200);
  assert.equal((await life.reset(await life.code(owner, 'Set a new password'))).status, 200);
});
