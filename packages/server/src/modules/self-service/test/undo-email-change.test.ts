/** A thief changes the email address of an account: the address before gets the account back, by one link. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { forgetOldEmailChanges } from '../../accounts/email-change-store.ts';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { listAuditEvents } from '../../../../test-kit/audit-trail.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { goodPassword, operator, type Answered } from '../../../../test-kit/new-app.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
  type Tokens,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt } from '../../../../test-kit/authenticator.ts';

const owner = 'owner@example.com';
const thief = 'thief@example.com';
const dayMs = 86_400_000;
const countChanges = sql<{ count: number }>('test_email_changes', 'select count(*) as count from email_changes');

/** @returns the code of the undo link that the address before is sent */
async function changeEmail(client: AccountClient, from: string, to: string, password = goodPassword): Promise<string> {
  const tokens = await client.signIn(from, password);
  const asked = await client.as(tokens, 'PUT', '/auth/account/email', { email: to, currentPassword: password });
  assert.equal(asked.status, 202, asked.text);
  const code = await client.nextCode(to, 'Confirm your new email');
  const confirmed = await client.post('/auth/account/email/confirm', { code, password });
  assert.equal(confirmed.status, 200, confirmed.text);
  return codeIn(await client.mailbox.next({ to: from, subject: /email address.*was changed/ }));
}

const undo = (client: AccountClient, code: string, more: object = {}): Promise<Answered> =>
  client.post('/auth/account/email/undo', { code, ...more });

const emailOf = async (client: AccountClient, id: string): Promise<string> =>
  (await client.app.service.services.accounts.find(id)).email;

interface Stolen {
  readonly client: AccountClient;
  readonly id: string;
  readonly code: string;
  readonly tokens: Tokens;
}

/** The thief has the password and has changed the address. */
async function steal(client: AccountClient): Promise<Stolen> {
  const { id } = await client.app.createAccount(owner);
  const code = await changeEmail(client, owner, thief);
  return { client, id, code, tokens: await client.signIn(thief) };
}

test('the previous address undoes the change without a sign-in: its password is void, every session ends', async () => {
  await using client = await newAccountClient();
  const { id, code, tokens } = await steal(client);
  const before = (await listAuditEvents(client.app.db)).length;
  const answer = await undo(client, code);
  assert.deepEqual([answer.status, (answer.json as { apiKeys: unknown[] }).apiKeys], [200, []]);
  assert.equal(await emailOf(client, id), owner);
  assert.equal(await client.isSignedIn(tokens), false);
  for (const email of [owner, thief]) assertRejected(await client.trySignIn(email), 'invalid_credentials');
  const notice = await client.mailbox.next({ to: thief, subject: /was changed/ });
  assert.ok(!notice.text.includes('krvc_'), 'the thief gets no link');
  assert.equal((await client.confirmReset(await client.nextCode(owner, /restored/))).status, 200);
  await client.signIn(owner, otherPassword);
  const recorded = (await listAuditEvents(client.app.db)).slice(before);
  assert.deepEqual(
    recorded.slice(0, 1).map(({ actor, action, accountId }) => [actor, action, accountId]),
    [['mailbox', 'account.email_change_undone', id]],
  );
  assert.ok(!JSON.stringify(recorded).includes('example.com'), 'no email is in the audit log');
});

test('a thief who changes the address twice and the password loses the account to the first undo link', async () => {
  await using client = await newAccountClient();
  const { id, code, tokens } = await steal(client);
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await client.as(tokens, 'PUT', '/auth/account/password', body)).status, 200);
  const thiefsCode = await changeEmail(client, thief, 'second@example.com', otherPassword);
  assert.equal((await undo(client, code)).status, 200);
  assert.equal(await emailOf(client, id), owner);
  assertRejected(await undo(client, thiefsCode), 'code_invalid');
  assert.equal(await emailOf(client, id), owner);
});

test('the thief’s own undo link leaves the owner’s good', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  const thiefsCode = await changeEmail(client, thief, 'second@example.com');
  assert.equal((await undo(client, thiefsCode)).status, 200);
  assert.equal(await emailOf(client, id), thief);
  assert.equal((await undo(client, code)).status, 200);
  assert.equal(await emailOf(client, id), owner);
});

test('the link is good for seven days and once, and nothing else opens it', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  const reset = await client.resetCode(thief);
  assertRejected(await undo(client, reset), 'code_invalid');
  assertRejected(await client.confirmReset(code), 'code_invalid');
  assertRejected(await client.post('/auth/account/email/accept', { code }), 'code_invalid');
  assert.equal((await client.app.call('GET', '/account/undo-email-change')).status, 200);
  assert.equal(await emailOf(client, id), thief, 'a visit of the page changes nothing');
  client.app.clock.advance({ seconds: limits.emailUndoSeconds - 1 });
  assert.equal((await undo(client, code)).status, 200);
  assertRejected(await undo(client, code), 'code_invalid');

  await client.app.createAccount('late@example.com');
  const late = await changeEmail(client, 'late@example.com', 'later@example.com');
  client.app.clock.advance({ seconds: limits.emailUndoSeconds });
  assertRejected(await undo(client, late), 'code_invalid');
});

test('of sixteen that use one link at once one undoes the change', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' });
  const { id, code } = await steal(client);
  const answers = await Promise.all(Array.from({ length: 16 }, () => undo(client, code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  // A code may be presented ten times in an hour.
  for (const { status, text } of answers) assert.ok([200, 400, 429, 503].includes(status), text);
  assertRejected(await undo(client, code), 'code_invalid');
  const undone = (await listAuditEvents(client.app.db)).filter(
    ({ action }) => action === 'account.email_change_undone',
  );
  assert.deepEqual(
    undone.map(({ accountId }) => accountId),
    [id],
  );
});

test('a sign-up that took the address meanwhile gives way; a verified account keeps it, and the link stays good', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  await client.signUp(owner, otherPassword);
  const signUp = await client.verificationCode(owner);
  assert.equal((await client.verifyEmail(signUp, otherPassword)).status, 200);
  assertRejected(await undo(client, code), 'account_exists');
  assert.equal(await emailOf(client, id), thief);
  await client.signIn(thief);
  await client.app.service.services.accounts.delete(operator, owner);
  await client.signUp(owner, otherPassword);
  await client.untilOutboxEmpty();
  assert.equal((await undo(client, code)).status, 200);
  assert.equal((await client.app.service.services.accounts.find(owner)).id, id);
});

test('of an account that the thief has deleted the link is void', async () => {
  await using client = await newAccountClient();
  const { code, tokens } = await steal(client);
  assert.equal((await client.as(tokens, 'DELETE', '/auth/account', { currentPassword: goodPassword })).status, 204);
  assertRejected(await undo(client, code), 'code_invalid');
  assert.equal((await client.app.db.get(countChanges))?.count, 0);
});

test('a second factor stays in force, also the thief’s, until somebody who may removes it', async () => {
  await using client = await newAccountClient();
  const { id, code, tokens } = await steal(client);
  const secret = await client.enrol(tokens);
  assert.equal((await undo(client, code)).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode(owner, /restored/))).status, 200);
  assertRejected(await client.trySignIn(owner, otherPassword), 'second_factor_required');
  assert.ok(codeAt(secret, client.app.clock.now()));
  await client.app.service.services.administration.removeSecondFactor(operator, id, 'localhost');
  await client.signIn(owner, otherPassword);
});

for (const revokeKeys of [false, true]) {
  test(`keys from after the change are deleted, older ones ${revokeKeys ? 'as well when asked' : 'are listed and stay'}`, async () => {
    await using client = await newAccountClient();
    await client.app.createAccount(owner);
    const old = await client.createKey(await client.signIn(owner), 'old');
    client.app.clock.advance({ seconds: 1 });
    const code = await changeEmail(client, owner, thief);
    client.app.clock.advance({ seconds: 1 });
    const later = await client.createKey(await client.signIn(thief), 'later');
    const answer = await undo(client, code, { revokeKeys });
    const { apiKeys } = answer.json as { apiKeys: { nickname: string }[] };
    assert.deepEqual(
      apiKeys.map(({ nickname }) => nickname),
      revokeKeys ? [] : ['old'],
    );
    assert.equal(await client.isKeyAccepted(later.key), false);
    assert.equal(await client.isKeyAccepted(old.key), !revokeKeys);
    const mail = await client.mailbox.next({ to: owner, subject: /restored/ });
    assert.equal(mail.text.includes('old\n'), !revokeKeys);
  });
}

test('a disabled account gets its address back and stays disabled', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  const { accounts } = client.app.service.services;
  await accounts.disable(operator, id);
  assert.equal((await undo(client, code)).status, 200);
  const { email, disabledAt } = await accounts.find(id);
  assert.deepEqual([email, disabledAt !== null], [owner, true]);
});

test('an address that nobody had verified gets no link', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  const unverify = sql('test_unverify', `update accounts set unverified_since = 1 where id = $1`);
  await client.app.db.transaction((tx) => tx.run(unverify, [id]));
  await client.app.service.services.accounts.setPassword(operator, id, new Secret(goodPassword));
  const tokens = await client.signIn(owner);
  await client.as(tokens, 'PUT', '/auth/account/email', { email: thief, currentPassword: goodPassword });
  const code = await client.nextCode(thief, 'Confirm your new email');
  assert.equal((await client.post('/auth/account/email/confirm', { code, password: goodPassword })).status, 200);
  const mail = await client.mailbox.next({ to: owner, subject: /was changed/ });
  assert.ok(!mail.text.includes('krvc_'));
  assert.equal((await client.app.db.get(countChanges))?.count, 0);
});

test('previous addresses are forgotten after thirty days, and no account keeps more than ten', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' });
  await client.app.createAccount('0@example.com');
  for (let n = 0; n < limits.emailChangesMax; n++)
    await changeEmail(client, `${n}@example.com`, `${n + 1}@example.com`);
  const tokens = await client.signIn(`${limits.emailChangesMax}@example.com`);
  await client.as(tokens, 'PUT', '/auth/account/email', { email: thief, currentPassword: goodPassword });
  const code = await client.nextCode(thief, 'Confirm your new email');
  const refused = await client.post('/auth/account/email/confirm', { code, password: goodPassword });
  assertRejected(refused, 'too_many_requests');
  const { db, clock } = client.app;
  const forget = () => forgetOldEmailChanges(db, clock.now() - limits.emailChangeKeptDays * dayMs, 100);
  clock.advance({ seconds: limits.emailChangeKeptDays * 86_400 - 1 });
  assert.equal(await forget(), 0);
  clock.advance({ seconds: 1 });
  assert.equal(await forget(), limits.emailChangesMax);
});

test('an email address that a restore brought back is sent no undo link: it may not be the owner’s', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  const at = client.app.clock.now();
  await client.app.db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id, at }], at));
  const tokens = await client.signIn(owner);
  const wanted = { email: 'new@example.com', currentPassword: goodPassword };
  assert.equal((await client.as(tokens, 'PUT', '/auth/account/email', wanted)).status, 202);
  const code = await client.nextCode(wanted.email, 'Confirm your new email');
  assert.equal((await client.post('/auth/account/email/confirm', { code, password: goodPassword })).status, 200);
  const notice = await client.mailbox.next({ to: owner, subject: /was changed/ });
  assert.ok(!notice.text.includes('krvc_'));
  assert.equal(await emailOf(client, id), wanted.email);
});
