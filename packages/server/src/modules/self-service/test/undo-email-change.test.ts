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
import { assertRefused, newLife, otherPassword, type Life, type Tokens } from '../../../../test-kit/mailed-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { codeAt } from '../../../../test-kit/authenticator.ts';

const owner = 'owner@example.com';
const thief = 'thief@example.com';
const dayMs = 86_400_000;
const countChanges = sql<{ count: number }>('test_email_changes', 'select count(*) as count from email_changes');

/** @returns the code of the undo link that the address before is sent */
async function changeEmail(life: Life, from: string, to: string, password = goodPassword): Promise<string> {
  const tokens = await life.signIn(from, password);
  const asked = await life.as(tokens, 'PUT', '/auth/account/email', { email: to, currentPassword: password });
  assert.equal(asked.status, 202, asked.text);
  const code = await life.code(to, 'Confirm your new email');
  const confirmed = await life.post('/auth/account/email/confirm', { code, password });
  assert.equal(confirmed.status, 200, confirmed.text);
  return codeIn(await life.mailbox.next({ to: from, subject: /email address.*was changed/ }));
}

const undo = (life: Life, code: string, more: object = {}): Promise<Answered> =>
  life.post('/auth/account/email/undo', { code, ...more });

const emailOf = async (life: Life, id: string): Promise<string> =>
  (await life.app.service.services.accounts.find(id)).email;

interface Stolen {
  readonly life: Life;
  readonly id: string;
  readonly code: string;
  readonly tokens: Tokens;
}

/** The thief has the password and has changed the address. */
async function steal(life: Life): Promise<Stolen> {
  const { id } = await life.app.createAccount(owner);
  const code = await changeEmail(life, owner, thief);
  return { life, id, code, tokens: await life.signIn(thief) };
}

test('the previous address undoes the change without a sign-in: its password is void, every session ends', async () => {
  await using life = await newLife();
  const { id, code, tokens } = await steal(life);
  const before = (await listAuditEvents(life.app.db)).length;
  const answer = await undo(life, code);
  assert.deepEqual([answer.status, (answer.json as { apiKeys: unknown[] }).apiKeys], [200, []]);
  assert.equal(await emailOf(life, id), owner);
  assert.equal(await life.isLive(tokens), false);
  for (const email of [owner, thief]) assertRefused(await life.trySignIn(email), 'invalid_credentials');
  const notice = await life.mailbox.next({ to: thief, subject: /was changed/ });
  assert.ok(!notice.text.includes('krvc_'), 'the thief gets no link');
  assert.equal((await life.reset(await life.code(owner, /restored/))).status, 200);
  await life.signIn(owner, otherPassword);
  const recorded = (await listAuditEvents(life.app.db)).slice(before);
  assert.deepEqual(
    recorded.slice(0, 1).map(({ actor, action, accountId }) => [actor, action, accountId]),
    [['mailbox', 'account.email_change_undone', id]],
  );
  assert.ok(!JSON.stringify(recorded).includes('example.com'), 'no email is in the audit log');
});

test('a thief who changes the address twice and the password loses the account to the first undo link', async () => {
  await using life = await newLife();
  const { id, code, tokens } = await steal(life);
  const body = { currentPassword: goodPassword, newPassword: otherPassword };
  assert.equal((await life.as(tokens, 'PUT', '/auth/account/password', body)).status, 200);
  const thiefsCode = await changeEmail(life, thief, 'second@example.com', otherPassword);
  assert.equal((await undo(life, code)).status, 200);
  assert.equal(await emailOf(life, id), owner);
  assertRefused(await undo(life, thiefsCode), 'code_invalid');
  assert.equal(await emailOf(life, id), owner);
});

test('the thief’s own undo link leaves the owner’s good', async () => {
  await using life = await newLife();
  const { id, code } = await steal(life);
  const thiefsCode = await changeEmail(life, thief, 'second@example.com');
  assert.equal((await undo(life, thiefsCode)).status, 200);
  assert.equal(await emailOf(life, id), thief);
  assert.equal((await undo(life, code)).status, 200);
  assert.equal(await emailOf(life, id), owner);
});

test('the link is good for seven days and once, and nothing else opens it', async () => {
  await using life = await newLife();
  const { id, code } = await steal(life);
  const reset = await life.resetCode(thief);
  assertRefused(await undo(life, reset), 'code_invalid');
  assertRefused(await life.reset(code), 'code_invalid');
  assertRefused(await life.post('/auth/account/email/accept', { code }), 'code_invalid');
  assert.equal((await life.app.call('GET', '/account/undo-email-change')).status, 200);
  assert.equal(await emailOf(life, id), thief, 'a visit of the page changes nothing');
  life.app.clock.advance({ seconds: limits.emailUndoSeconds - 1 });
  assert.equal((await undo(life, code)).status, 200);
  assertRefused(await undo(life, code), 'code_invalid');

  await life.app.createAccount('late@example.com');
  const late = await changeEmail(life, 'late@example.com', 'later@example.com');
  life.app.clock.advance({ seconds: limits.emailUndoSeconds });
  assertRefused(await undo(life, late), 'code_invalid');
});

test('of sixteen that use one link at once one undoes the change', async () => {
  await using life = await newLife({ KEYREEVE_THROTTLE: 'off' });
  const { id, code } = await steal(life);
  const answers = await Promise.all(Array.from({ length: 16 }, () => undo(life, code)));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  // A code may be presented ten times in an hour.
  for (const { status, text } of answers) assert.ok([200, 400, 429, 503].includes(status), text);
  assertRefused(await undo(life, code), 'code_invalid');
  const undone = (await listAuditEvents(life.app.db)).filter(({ action }) => action === 'account.email_change_undone');
  assert.deepEqual(
    undone.map(({ accountId }) => accountId),
    [id],
  );
});

test('a sign-up that took the address meanwhile gives way; a verified account keeps it, and the link stays good', async () => {
  await using life = await newLife();
  const { id, code } = await steal(life);
  await life.signUp(owner, otherPassword);
  const signUp = await life.verificationCode(owner);
  assert.equal((await life.verify(signUp, otherPassword)).status, 200);
  assertRefused(await undo(life, code), 'account_exists');
  assert.equal(await emailOf(life, id), thief);
  await life.signIn(thief);
  await life.app.service.services.accounts.delete(operator, owner);
  await life.signUp(owner, otherPassword);
  await life.settled();
  assert.equal((await undo(life, code)).status, 200);
  assert.equal((await life.app.service.services.accounts.find(owner)).id, id);
});

test('of an account that the thief has deleted the link is void', async () => {
  await using life = await newLife();
  const { code, tokens } = await steal(life);
  assert.equal((await life.as(tokens, 'DELETE', '/auth/account', { currentPassword: goodPassword })).status, 204);
  assertRefused(await undo(life, code), 'code_invalid');
  assert.equal((await life.app.db.get(countChanges))?.count, 0);
});

test('a second factor stays in force, also the thief’s, until somebody who may removes it', async () => {
  await using life = await newLife();
  const { id, code, tokens } = await steal(life);
  const secret = await life.enrol(tokens);
  assert.equal((await undo(life, code)).status, 200);
  assert.equal((await life.reset(await life.code(owner, /restored/))).status, 200);
  assertRefused(await life.trySignIn(owner, otherPassword), 'second_factor_required');
  assert.ok(codeAt(secret, life.app.clock.now()));
  await life.app.service.services.administration.removeSecondFactor(operator, id, 'localhost');
  await life.signIn(owner, otherPassword);
});

for (const revokeKeys of [false, true]) {
  test(`keys from after the change are deleted, older ones ${revokeKeys ? 'as well when asked' : 'are listed and stay'}`, async () => {
    await using life = await newLife();
    await life.app.createAccount(owner);
    const old = await life.createKey(await life.signIn(owner), 'old');
    life.app.clock.advance({ seconds: 1 });
    const code = await changeEmail(life, owner, thief);
    life.app.clock.advance({ seconds: 1 });
    const later = await life.createKey(await life.signIn(thief), 'later');
    const answer = await undo(life, code, { revokeKeys });
    const { apiKeys } = answer.json as { apiKeys: { nickname: string }[] };
    assert.deepEqual(
      apiKeys.map(({ nickname }) => nickname),
      revokeKeys ? [] : ['old'],
    );
    assert.equal(await life.works(later.key), false);
    assert.equal(await life.works(old.key), !revokeKeys);
    const mail = await life.mailbox.next({ to: owner, subject: /restored/ });
    assert.equal(mail.text.includes('old\n'), !revokeKeys);
  });
}

test('a disabled account gets its address back and stays disabled', async () => {
  await using life = await newLife();
  const { id, code } = await steal(life);
  const { accounts } = life.app.service.services;
  await accounts.disable(operator, id);
  assert.equal((await undo(life, code)).status, 200);
  const { email, disabledAt } = await accounts.find(id);
  assert.deepEqual([email, disabledAt !== null], [owner, true]);
});

test('an address that nobody had verified gets no link', async () => {
  await using life = await newLife();
  const { id } = await life.app.createAccount(owner);
  const unverify = sql('test_unverify', `update accounts set unverified_since = 1 where id = $1`);
  await life.app.db.transaction((tx) => tx.run(unverify, [id]));
  await life.app.service.services.accounts.setPassword(operator, id, new Secret(goodPassword));
  const tokens = await life.signIn(owner);
  await life.as(tokens, 'PUT', '/auth/account/email', { email: thief, currentPassword: goodPassword });
  const code = await life.code(thief, 'Confirm your new email');
  assert.equal((await life.post('/auth/account/email/confirm', { code, password: goodPassword })).status, 200);
  const mail = await life.mailbox.next({ to: owner, subject: /was changed/ });
  assert.ok(!mail.text.includes('krvc_'));
  assert.equal((await life.app.db.get(countChanges))?.count, 0);
});

test('previous addresses are forgotten after thirty days, and no account keeps more than ten', async () => {
  await using life = await newLife({ KEYREEVE_THROTTLE: 'off' });
  await life.app.createAccount('0@example.com');
  for (let n = 0; n < limits.emailChangesMax; n++) await changeEmail(life, `${n}@example.com`, `${n + 1}@example.com`);
  const tokens = await life.signIn(`${limits.emailChangesMax}@example.com`);
  await life.as(tokens, 'PUT', '/auth/account/email', { email: thief, currentPassword: goodPassword });
  const code = await life.code(thief, 'Confirm your new email');
  const refused = await life.post('/auth/account/email/confirm', { code, password: goodPassword });
  assertRefused(refused, 'too_many_requests');
  const { db, clock } = life.app;
  const forget = () => forgetOldEmailChanges(db, clock.now() - limits.emailChangeKeptDays * dayMs, 100);
  clock.advance({ seconds: limits.emailChangeKeptDays * 86_400 - 1 });
  assert.equal(await forget(), 0);
  clock.advance({ seconds: 1 });
  assert.equal(await forget(), limits.emailChangesMax);
});

test('an email address that a restore brought back is sent no undo link: it may not be the owner’s', async () => {
  await using life = await newLife();
  const { id } = await life.app.createAccount(owner);
  const at = life.app.clock.now();
  await life.app.db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id, at }], at));
  const tokens = await life.signIn(owner);
  const wanted = { email: 'new@example.com', currentPassword: goodPassword };
  assert.equal((await life.as(tokens, 'PUT', '/auth/account/email', wanted)).status, 202);
  const code = await life.code(wanted.email, 'Confirm your new email');
  assert.equal((await life.post('/auth/account/email/confirm', { code, password: goodPassword })).status, 200);
  const notice = await life.mailbox.next({ to: owner, subject: /was changed/ });
  assert.ok(!notice.text.includes('krvc_'));
  assert.equal(await emailOf(life, id), wanted.email);
});
