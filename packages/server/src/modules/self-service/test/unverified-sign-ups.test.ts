/** A sign-up that nobody has verified blocks no better proven account, becomes no administrator, and expires. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { limits } from '@keyreeve/contract';
import { forgetExpiredSignUps } from '../../accounts/sign-up-store.ts';
import { monotonicMs } from '../../../foundation/clock.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-trail.ts';
import { basic, goodPassword, newApp, operator, type SignedIn } from '../../../../test-kit/new-app.ts';
import { administer, codeOf, newAdministrator } from '../../../../test-kit/administrators.ts';
import {
  assertRefused,
  attackersPassword,
  newLife,
  otherPassword,
  type Life,
} from '../../../../test-kit/mailed-app.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const email = 'ada@example.com';
const dayMs = 86_400_000;
const rivals = 16;

const listIds = sql<{ id: string }>('test_account_ids', 'select id from accounts');

/** A stranger signs up with the address. @returns the id of the account and the code that its owner is sent */
async function squat(life: Life): Promise<{ id: string; code: string }> {
  await life.signUp(email, attackersPassword);
  const code = await life.verificationCode(email);
  return { id: (await life.app.service.services.accounts.find(email)).id, code };
}

const invite = (life: Life, by: SignedIn, body: object) => administer(life.app, by, 'POST', 'accounts', body);

const ways: Readonly<Record<string, (life: Life) => Promise<unknown>>> = {
  'an account that an operator makes': ({ app }) =>
    app.service.services.accounts.create(operator, email, new Secret(goodPassword), 'user'),
  'the first administrator': async (life) => {
    let code = '';
    await life.app.service.services.firstAdministrator.makeCode((text) => (code = text.reveal()));
    const made = await life.post('/auth/first-administrator', { code, email, password: goodPassword });
    assert.equal(made.status, 201, made.text);
  },
  'a confirmed change of an email address': async (life) => {
    const tokens = await life.signIn((await life.app.createAccount('old@example.com')).email);
    await life.as(tokens, 'PUT', '/auth/account/email', { email, currentPassword: goodPassword });
    const code = await life.code(email, 'Confirm your new email');
    const confirmed = await life.post('/auth/account/email/confirm', { code, password: goodPassword });
    assert.equal(confirmed.status, 200, confirmed.text);
  },
};

for (const [what, make] of Object.entries(ways)) {
  test(`an unverified sign-up gives way to ${what}`, async () => {
    await using life = await newLife();
    const { id, code } = await squat(life);
    await make(life);
    assert.notEqual((await life.app.service.services.accounts.find(email)).id, id);
    assertRefused(await life.verify(code, attackersPassword), 'code_invalid');
    assertRefused(await life.trySignIn(email, attackersPassword), 'invalid_credentials');
    await life.signIn(email, goodPassword);
    const gone = (await listAuditEvents(life.app.db)).filter(({ action }) => action === 'account.deleted');
    assert.deepEqual(
      gone.map(({ accountId, details }) => [accountId, details]),
      [[id, '{"because":"sign_up_replaced"}']],
    );
  });
}

test('an invitation replaces an unverified sign-up, and is the only way to the account', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { id, code } = await squat(life);
  const invited = await invite(life, administrator, { email, role: 'admin' });
  assert.equal(invited.status, 201, invited.text);
  assert.notEqual((invited.json as { id: string }).id, id);
  assertRefused(await life.verify(code, attackersPassword), 'code_invalid');
  const invitation = await life.code(email, /invited/);
  const accepted = await life.post('/auth/accounts/accept-invitation', { code: invitation, password: otherPassword });
  assert.equal(accepted.status, 200, accepted.text);
  await life.signIn(email, otherPassword);
});

test('of sixteen invitations of one unverified sign-up at once one replaces it', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  await squat(life);
  const answers = await Promise.all(Array.from({ length: rivals }, () => invite(life, administrator, { email })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  // A machine that is too busy may answer 503 to a rival.
  for (const { status, text } of answers) assert.ok([201, 409, 503].includes(status), text);
});

test('a verified account is replaced by nothing', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { code } = await squat(life);
  assert.equal((await life.verify(code, attackersPassword)).status, 200);
  assert.equal(codeOf(await invite(life, administrator, { email })), 'account_exists');
  const { accounts } = life.app.service.services;
  await assert.rejects(accounts.create(operator, email, new Secret(goodPassword), 'user'), { code: 'account_exists' });
  await life.signIn(email, attackersPassword);
});

test('an unverified sign-up becomes no administrator, until an invitation has taken its place', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  const { id, code } = await squat(life);
  const promote = () => administer(life.app, administrator, 'PUT', `accounts/${id}/role`, { role: 'admin' });
  assert.equal(codeOf(await promote()), 'account_unverified');
  await assert.rejects(life.app.service.services.accounts.setRole(operator, id, 'admin'), {
    code: 'account_unverified',
  });
  const again = await administer(life.app, administrator, 'POST', `accounts/${id}/invite`);
  assert.equal(again.status, 200, again.text);
  assert.equal((await promote()).status, 200);
  assertRefused(await life.verify(code, attackersPassword), 'code_invalid');
});

test('an unverified sign-up expires unless a link of it is still good; a verified one and an invited one stay', async () => {
  await using life = await newLife();
  const administrator = await newAdministrator(life.app);
  await invite(life, administrator, { email: 'invited@example.com' });
  await life.member('member@example.com');
  await squat(life);
  const { db, clock } = life.app;
  const forget = () => forgetExpiredSignUps(db, clock.now() - limits.signUpKeptDays * dayMs, clock.now(), 100);
  clock.advance({ seconds: limits.signUpKeptDays * 86_400 - 1 });
  assert.equal(await forget(), 0);
  await life.signUp(email, goodPassword);
  const code = await life.verificationCode(email);
  clock.advance({ seconds: 2 });
  assert.equal(await forget(), 0, 'its new link is good');
  clock.advance({ seconds: limits.verificationCodeSeconds });
  assertRefused(await life.verify(code), 'code_invalid');
  assert.equal(await forget(), 1);
  const { accounts } = life.app.service.services;
  await assert.rejects(accounts.find(email), { code: 'account_not_found' });
  for (const kept of ['invited@example.com', 'member@example.com']) await accounts.find(kept);
  await life.member(email);
});

test('a service that starts deletes expired sign-ups', async () => {
  await using life = await newLife();
  const { id } = await squat(life);
  const { clock, place } = life.app;
  clock.advance({ seconds: limits.signUpKeptDays * 86_400 + 1 });
  await using second = await newApp({ clock, place });
  const giveUpAt = monotonicMs() + 10_000;
  const isThere = async () => (await second.db.all(listIds)).some((row) => row.id === id);
  while (await isThere()) {
    assert.ok(monotonicMs() < giveUpAt, 'it is still there');
    await turn();
  }
});

test('an administrator doesn’t remove its own second factor without a code; another one does', async () => {
  await using life = await newLife();
  const [own, other] = [await newAdministrator(life.app), await newAdministrator(life.app)];
  await life.enrol(own);
  const remove = (by: SignedIn) => administer(life.app, by, 'POST', `accounts/${own.account.id}/remove-second-factor`);
  const refused = await remove(own);
  assert.deepEqual([refused.status, codeOf(refused)], [409, 'own_account']);
  const signIn = await life.app.call('POST', '/auth/token', { headers: basic(own.account.email, goodPassword) });
  assertRefused(signIn, 'second_factor_required');
  assert.equal((await remove(other)).status, 200);
});
