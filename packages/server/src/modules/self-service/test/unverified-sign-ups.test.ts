/** An unverified sign-up gives way to an account with a verified email address, cannot become administrator, and expires. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { deleteExpiredSignUps } from '../../accounts/sign-up-store.ts';
import { dayMs } from '../../../foundation/clock.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { basic, goodPassword, newApp, operator, type SignedIn } from '../../../../test-kit/new-app.ts';
import { administer, problemCode, newAdministrator } from '../../../../test-kit/administrators.ts';
import {
  assertRejected,
  attackersPassword,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const email = 'ada@example.com';
const rivals = 16;

const listIds = sql<{ id: string }>('test_account_ids', 'select id from accounts');

/** An attacker signs up with the email address. @returns the account's id and the code in the mail to the owner */
async function squat(client: AccountClient): Promise<{ id: string; code: string }> {
  await client.signUp(email, attackersPassword);
  const code = await client.verificationCode(email);
  return { id: (await client.app.service.services.accounts.find(email)).id, code };
}

const invite = (client: AccountClient, by: SignedIn, body: object) =>
  administer(client.app, by, 'POST', 'accounts', body);

const replacements: Readonly<Record<string, (client: AccountClient) => Promise<unknown>>> = {
  'an account that an operator creates': ({ app }) =>
    app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'user'),
  'the first administrator': async (client) => {
    let code = '';
    await client.app.service.services.firstAdministrator.createCode((text) => (code = text.reveal()));
    const made = await client.post('/auth/first-administrator', { code, email, password: goodPassword });
    assert.equal(made.status, 201, made.text);
  },
  'a confirmed email change': async (client) => {
    const tokens = await client.signIn((await client.app.createAccount('old@example.com')).email);
    const confirmed = await client.confirmEmailChange(await client.requestEmailChange(tokens, email));
    assert.equal(confirmed.status, 200, confirmed.text);
  },
};

for (const [what, make] of Object.entries(replacements)) {
  test(`an unverified sign-up is replaced by ${what}`, async () => {
    await using client = await newAccountClient();
    const { id, code } = await squat(client);
    await make(client);
    assert.notEqual((await client.app.service.services.accounts.find(email)).id, id);
    assertRejected(await client.verifyEmail(code, attackersPassword), 'code_invalid');
    assertRejected(await client.trySignIn(email, attackersPassword), 'invalid_credentials');
    await client.signIn(email, goodPassword);
    const gone = (await listAuditEvents(client.app.db)).filter(({ action }) => action === 'account.deleted');
    assert.deepEqual(
      gone.map(({ accountId, details }) => [accountId, details]),
      [[id, '{"because":"sign_up_replaced"}']],
    );
  });
}

test('an invitation replaces an unverified sign-up and invalidates its verification code', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id, code } = await squat(client);
  const invited = await invite(client, administrator, { email, role: 'admin' });
  assert.equal(invited.status, 201, invited.text);
  assert.notEqual((invited.json as { id: string }).id, id);
  assertRejected(await client.verifyEmail(code, attackersPassword), 'code_invalid');
  const invitation = await client.nextCode(email, /invited/);
  const accepted = await client.post('/auth/accounts/accept-invitation', { code: invitation, password: otherPassword });
  assert.equal(accepted.status, 200, accepted.text);
  await client.signIn(email, otherPassword);
});

testOnBoth('one of sixteen concurrent invitations replaces an unverified sign-up', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  await squat(client);
  const answers = await Promise.all(
    Array.from({ length: rivals }, () => whenAvailable(() => invite(client, administrator, { email }))),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  for (const { status, text } of answers) assert.ok([201, 409].includes(status), text);
});

test('a verified account cannot be replaced', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { code } = await squat(client);
  assert.equal((await client.verifyEmail(code, attackersPassword)).status, 200);
  assert.equal(problemCode(await invite(client, administrator, { email })), 'account_exists');
  const { accounts } = client.app.service.services;
  await assert.rejects(accounts.create(operator, email, new Secret(goodPassword), 'user'), { code: 'account_exists' });
  await client.signIn(email, attackersPassword);
});

test('an unverified sign-up cannot become administrator until an invitation has replaced it', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const { id, code } = await squat(client);
  const promote = () => administer(client.app, administrator, 'PUT', `accounts/${id}/role`, { role: 'admin' });
  assert.equal(problemCode(await promote()), 'account_unverified');
  await assert.rejects(client.app.service.services.accounts.setRole(operator, id, 'admin'), {
    code: 'account_unverified',
  });
  const again = await administer(client.app, administrator, 'POST', `accounts/${id}/invite`);
  assert.equal(again.status, 200, again.text);
  assert.equal((await promote()).status, 200);
  assertRejected(await client.verifyEmail(code, attackersPassword), 'code_invalid');
});

testOnBoth(
  'an unverified sign-up expires unless one of its links still works; verified and invited accounts do not expire',
  async () => {
    await using client = await newAccountClient();
    const administrator = await newAdministrator(client.app);
    await invite(client, administrator, { email: 'invited@example.com' });
    await client.newAccount('member@example.com');
    await squat(client);
    const { db, clock } = client.app;
    const forget = () => deleteExpiredSignUps(db, clock.now() - limits.signUpKeptDays * dayMs, clock.now(), 100);
    clock.advance({ seconds: limits.signUpKeptDays * 86_400 - 1 });
    assert.equal(await forget(), 0);
    await client.signUp(email, goodPassword);
    const code = await client.verificationCode(email);
    clock.advance({ seconds: 2 });
    assert.equal(await forget(), 0, 'its new link still works');
    clock.advance({ seconds: 600 });
    assertRejected(await client.verifyEmail(code), 'code_invalid');
    assert.equal(await forget(), 0, 'its mail can be requested again');
    clock.advance({ seconds: limits.codeRequestSeconds - 600 });
    // Skips a row whose lock another transaction has, such as that of the rejected verification, which can end after the response.
    await until('the sign-up expires', async () => (await forget()) === 1);
    const { accounts } = client.app.service.services;
    await assert.rejects(accounts.find(email), { code: 'account_not_found' });
    for (const kept of ['invited@example.com', 'member@example.com']) await accounts.find(kept);
    await client.newAccount(email);
  },
);

test('a starting service deletes expired sign-ups', async () => {
  await using client = await newAccountClient();
  const { id } = await squat(client);
  const { clock, place } = client.app;
  clock.advance({ seconds: limits.signUpKeptDays * 86_400 + 1 });
  await using second = await newApp({ clock, place });
  await until('the sign-up is deleted', async () => (await second.db.all(listIds)).every((row) => row.id !== id));
});

test('an administrator can remove the second factor of another administrator, but not their own', async () => {
  await using client = await newAccountClient();
  const [own, other] = [await newAdministrator(client.app), await newAdministrator(client.app)];
  await client.enrol(own);
  const remove = (by: SignedIn) =>
    administer(client.app, by, 'POST', `accounts/${own.account.id}/remove-second-factor`);
  const rejected = await remove(own);
  assert.deepEqual([rejected.status, problemCode(rejected)], [409, 'own_account']);
  const signIn = await client.app.call('POST', '/auth/token', { headers: basic(own.account.email, goodPassword) });
  assertRejected(signIn, 'second_factor_required');
  assert.equal((await remove(other)).status, 200);
});
