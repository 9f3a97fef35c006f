/** Undoing an email change: a link sent to the previous email address takes the account back from a thief. */
import assert from 'node:assert/strict';
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { limits } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import { deleteOldEmailChanges } from '../../accounts/email-change-store.ts';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { goodPassword, operator, type Answered } from '../../../../test-kit/new-app.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
  type Tokens,
} from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const owner = 'owner@example.com';
const thief = 'thief@example.com';
const countChanges = sql<{ count: number }>('test_email_changes', 'select count(*) as count from email_changes');

/** @returns the code of the undo link, which is sent to the previous email address */
async function changeEmail(client: AccountClient, from: string, to: string, password = goodPassword): Promise<string> {
  const tokens = await client.signIn(from, password);
  const code = await client.requestEmailChange(tokens, to, password);
  const confirmed = await client.confirmEmailChange(code, password);
  assert.equal(confirmed.status, 200, confirmed.text);
  return codeIn(await client.mailbox.next({ to: from, subject: /email address.*was changed/ }));
}

const undo = (client: AccountClient, code: string, more: object = {}): Promise<Answered> =>
  client.post('/auth/account/email/undo', { code, email: owner, ...more });

const emailOf = async (client: AccountClient, id: string): Promise<string> =>
  (await client.app.service.services.accounts.find(id)).email;

interface Stolen {
  readonly client: AccountClient;
  readonly id: string;
  readonly code: string;
  readonly tokens: Tokens;
}

/** A thief who has the password changes the email address. */
async function steal(client: AccountClient): Promise<Stolen> {
  const { id } = await client.app.createAccount(owner);
  const code = await changeEmail(client, owner, thief);
  return { client, id, code, tokens: await client.signIn(thief) };
}

test('the undo link needs no sign-in, restores the email address, clears the password and ends every session', async () => {
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
  assert.ok(!JSON.stringify(recorded).includes('example.com'), 'the audit log contains no email address');
});

test('an undo link changes nothing without the previous email address, which a mail scanner does not type', async () => {
  await using client = await newAccountClient();
  const { id, code, tokens } = await steal(client);
  const key = await client.createKey(tokens);
  assertRejected(await client.post('/auth/account/email/undo', { code }), 'invalid_request');
  assertRejected(await undo(client, code, { email: '' }), 'invalid_request');
  for (const email of [thief, 'owner@example.org', 'owner', `${owner},${thief}`, ' '])
    assertRejected(await undo(client, code, { email }), 'email_wrong', email);
  assert.equal(await emailOf(client, id), thief);
  assert.deepEqual([await client.isSignedIn(tokens), await client.isKeyAccepted(key.key)], [true, true]);
  // As a person types it.
  assert.equal((await undo(client, code, { email: ' Owner@Example.COM ' })).status, 200);
  assert.equal(await emailOf(client, id), owner);
});

test('the previous email address can be guessed ten times an hour with a valid undo link', async () => {
  await using client = await newAccountClient();
  const { code } = await steal(client);
  for (let n = 0; n < limits.codeTriesMax; n++)
    assertRejected(await undo(client, code, { email: `guess${n}@example.com` }), 'email_wrong');
  assertRejected(await undo(client, code), 'too_many_requests');
  client.app.clock.advance({ seconds: 3600 });
  assert.equal((await undo(client, code)).status, 200);
});

test('an undo while the uses of keys cannot be read costs no tries', async () => {
  await using client = await newAccountClient();
  const { code, tokens } = await steal(client);
  await client.createKey(tokens);
  const path = client.app.db.usageFile?.path;
  // PostgreSQL has no second file.
  if (path === undefined) return;
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
  mkdirSync(path);
  for (let n = 0; n <= limits.codeTriesMax; n++) assertRejected(await undo(client, code), 'unavailable');
  rmdirSync(path);
  await until('the undo succeeds', async () => {
    const answer = await undo(client, code);
    if (answer.status !== 200) assertRejected(answer, 'unavailable');
    return answer.status === 200;
  });
});

test('the first undo link restores the owner’s email address after two changes and a new password', async () => {
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

test('the undo link of a later change does not invalidate the link of the first one', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  const thiefsCode = await changeEmail(client, thief, 'second@example.com');
  assert.equal((await undo(client, thiefsCode, { email: thief })).status, 200);
  assert.equal(await emailOf(client, id), thief);
  assert.equal((await undo(client, code)).status, 200);
  assert.equal(await emailOf(client, id), owner);
});

test('an undo link works once, for seven days; codes for other purposes do not work', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  const reset = await client.resetCode(thief);
  assertRejected(await undo(client, reset), 'code_invalid');
  assertRejected(await client.confirmReset(code), 'code_invalid');
  assertRejected(await client.post('/auth/account/email/accept', { code, email: owner }), 'code_invalid');
  assert.equal((await client.app.call('GET', '/account/undo-email-change')).status, 200);
  assert.equal(await emailOf(client, id), thief, 'opening the page changes nothing');
  client.app.clock.advance({ seconds: limits.emailUndoSeconds - 1 });
  assert.equal((await undo(client, code)).status, 200);
  assertRejected(await undo(client, code), 'code_invalid');

  await client.app.createAccount('late@example.com');
  const late = await changeEmail(client, 'late@example.com', 'later@example.com');
  client.app.clock.advance({ seconds: limits.emailUndoSeconds });
  assertRejected(await undo(client, late), 'code_invalid');
});

testOnBoth('one of sixteen concurrent uses of an undo link succeeds', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' });
  const { id, code } = await steal(client);
  const answers = await Promise.all(Array.from({ length: 16 }, () => whenAvailable(() => undo(client, code))));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  // A code can be tried ten times per hour.
  for (const { status, text } of answers) assert.ok([200, 400, 429].includes(status), text);
  assertRejected(await undo(client, code), 'code_invalid');
  const undone = (await listAuditEvents(client.app.db)).filter(
    ({ action }) => action === 'account.email_change_undone',
  );
  assert.deepEqual(
    undone.map(({ accountId }) => accountId),
    [id],
  );
});

test('an undo replaces an unverified sign-up with the previous email address, and fails while a verified account has it', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  await client.signUp(owner, otherPassword);
  const signUp = await client.verificationCode(owner);
  assert.equal((await client.verifyEmail(signUp, otherPassword)).status, 200);
  assertRejected(await undo(client, code), 'account_exists');
  assert.equal(await emailOf(client, id), thief);
  await client.signIn(thief);
  const { accounts } = client.app.service.services;
  await accounts.delete(operator, (await accounts.find(owner)).id);
  await client.signUp(owner, otherPassword);
  await client.untilOutboxEmpty();
  assert.equal((await undo(client, code)).status, 200);
  assert.equal((await accounts.find(owner)).id, id);
});

test('the undo link of a deleted account does not work', async () => {
  await using client = await newAccountClient();
  const { code, tokens } = await steal(client);
  assert.equal((await client.as(tokens, 'DELETE', '/auth/account', { currentPassword: goodPassword })).status, 204);
  assertRejected(await undo(client, code), 'code_invalid');
  assert.equal((await client.app.db.get(countChanges))?.count, 0);
});

test('an undo removes a second factor that was enrolled after the change', async () => {
  await using client = await newAccountClient();
  const { code, tokens } = await steal(client);
  await client.enrol(tokens);
  assert.equal((await undo(client, code)).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode(owner, /restored/))).status, 200);
  await client.signIn(owner, otherPassword);
});

for (const revokeKeys of [false, true]) {
  test(`an undo deletes API keys from the week before the change and later, and ${revokeKeys ? 'on request deletes' : 'lists'} older ones`, async () => {
    await using client = await newAccountClient();
    await client.app.createAccount(owner);
    const old = await client.createKey(await client.signIn(owner), 'old');
    client.app.clock.advance({ days: limits.emailUndoSuspectDays, seconds: 1 });
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

test('an undo deletes keys that were rotated or changed since, and no others', async () => {
  await using client = await newAccountClient();
  await client.app.createAccount(owner);
  const owners = await client.signIn(owner);
  const [untouched, rotated, widened] = [
    await client.createKey(owners, 'untouched'),
    await client.createKey(owners, 'rotated'),
    await client.createKey(owners, 'widened'),
  ];
  const pathOf = (key: { id: number }): string => `/auth/api-keys/${key.id}`;
  const limited = await client.as(owners, 'PATCH', pathOf(widened), { addresses: ['192.0.2.1'] });
  assert.equal(limited.status, 200, limited.text);
  client.app.clock.advance({ days: limits.emailUndoSuspectDays, seconds: 1 });
  const code = await changeEmail(client, owner, thief);
  client.app.clock.advance({ seconds: 1 });
  const thiefs = await client.signIn(thief);
  const rotation = await client.as(thiefs, 'POST', `${pathOf(rotated)}/rotate`, { overlapSeconds: 3600 });
  assert.equal(rotation.status, 200, rotation.text);
  const secret = (rotation.json as { key: string }).key;
  const change = await client.as(thiefs, 'PATCH', pathOf(widened), { addresses: null });
  assert.equal(change.status, 200, change.text);
  const { apiKeys } = (await undo(client, code)).json as { apiKeys: { nickname: string }[] };
  assert.deepEqual(
    apiKeys.map(({ nickname }) => nickname),
    ['untouched'],
  );
  const keys = [untouched.key, rotated.key, secret, widened.key];
  const accepted = await Promise.all(keys.map((key) => client.isKeyAccepted(key)));
  assert.deepEqual(accepted, [true, false, false, false]);
});

test('an undo restores the email address of a disabled account, which stays disabled', async () => {
  await using client = await newAccountClient();
  const { id, code } = await steal(client);
  const { accounts } = client.app.service.services;
  await accounts.disable(operator, id);
  assert.equal((await undo(client, code)).status, 200);
  const { email, disabledAt } = await accounts.find(id);
  assert.deepEqual([email, disabledAt !== null], [owner, true]);
});

test('an unverified previous email address gets no undo link', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  const unverify = sql('test_unverify', `update accounts set unverified_since = 1 where id = $1`);
  await client.app.db.transaction((tx) => tx.run(unverify, [id]));
  await client.app.service.services.accounts.setPassword(operator, id, new Secret(goodPassword));
  const tokens = await client.signIn(owner);
  const code = await client.requestEmailChange(tokens, thief);
  assert.equal((await client.confirmEmailChange(code)).status, 200);
  const mail = await client.mailbox.next({ to: owner, subject: /was changed/ });
  assert.ok(!mail.text.includes('krvc_'));
  assert.equal((await client.app.db.get(countChanges))?.count, 0);
});

test('previous email addresses are deleted after thirty days, and an account has at most ten', async () => {
  await using client = await newAccountClient({ KEYREEVE_THROTTLE: 'off' });
  await client.app.createAccount('0@example.com');
  for (let n = 0; n < limits.emailChangesMax; n++)
    await changeEmail(client, `${n}@example.com`, `${n + 1}@example.com`);
  const tokens = await client.signIn(`${limits.emailChangesMax}@example.com`);
  const code = await client.requestEmailChange(tokens, thief);
  const rejected = await client.confirmEmailChange(code);
  assertRejected(rejected, 'too_many_requests');
  const { db, clock } = client.app;
  const forget = () => deleteOldEmailChanges(db, clock.now() - limits.emailChangeKeptDays * dayMs, 100);
  clock.advance({ seconds: limits.emailChangeKeptDays * 86_400 - 1 });
  assert.equal(await forget(), 0);
  clock.advance({ seconds: 1 });
  assert.equal(await forget(), limits.emailChangesMax);
});

test('an email address that a restore brought back gets no undo link, because it may not be the owner’s', async () => {
  await using client = await newAccountClient();
  const { id } = await client.app.createAccount(owner);
  const at = client.app.clock.now();
  await client.app.db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id, at }], at));
  const tokens = await client.signIn(owner);
  const code = await client.requestEmailChange(tokens, 'new@example.com');
  assert.equal((await client.confirmEmailChange(code)).status, 200);
  const notice = await client.mailbox.next({ to: owner, subject: /was changed/ });
  assert.ok(!notice.text.includes('krvc_'));
  assert.equal(await emailOf(client, id), 'new@example.com');
});
