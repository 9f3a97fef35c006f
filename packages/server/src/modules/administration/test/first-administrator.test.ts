/** The first administrator: created with a one-time code that the command line writes to a file. */
import assert from 'node:assert/strict';
import { Secret } from '../../../foundation/crypto/secret.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { problemCode, newAdministrator, newAccessToken } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

/** Creates a code as the command line does. */
async function newCode(app: TestApp): Promise<string> {
  let code = '';
  await app.service.services.firstAdministrator.createCode((text) => (code = text.reveal()));
  assert.match(code, /^krvc_[0-9A-Za-z]{49}$/);
  return code;
}

const redeem = (app: TestApp, code: string, email = 'root@example.org', more: object = {}): Promise<Answered> =>
  app.call('POST', '/auth/first-administrator', { json: { code, email, password: goodPassword, ...more } });

const emails = async (app: TestApp): Promise<string[]> =>
  (await Array.fromAsync(app.service.services.accounts.list())).map(({ email, role }) => `${email} ${role}`);

function assertInvalid(answer: Answered, what = ''): void {
  assert.deepEqual([answer.status, problemCode(answer)], [400, 'code_invalid'], what);
}

test('the code creates an administrator with a verified email address, who can sign in', async () => {
  await using app = await newApp();
  const created = await redeem(app, await newCode(app), 'Root@Example.org');
  assert.equal(created.status, 201, created.text);
  const { id, ...shown } = created.json as { id: string };
  assert.deepEqual(shown, { email: 'Root@Example.org', role: 'admin' });
  const accessToken = await newAccessToken(app, 'root@example.org');
  const read = await app.call('GET', `/admin/accounts/${id}`, { headers: bearer(accessToken) });
  assert.equal(read.status, 200, read.text);
  assert.equal((read.json as { verified: boolean }).verified, true);
  const events = await listAuditEvents(app.db);
  const [first] = events
    .filter(({ action }) => action === 'account.created')
    .map(({ action, actor, accountId, details }) => ({ action, actor, accountId, details }));
  assert.deepEqual(first, { action: 'account.created', actor: 'operator', accountId: id, details: '{"role":"admin"}' });
  assert.ok(!app.logLines.join('').includes('krvc_'));
});

testOnBoth('one of sixteen concurrent uses of the code succeeds', async () => {
  await using app = await newApp();
  const code = await newCode(app);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, rival) => whenAvailable(() => redeem(app, code, `r${rival}@example.org`))),
  );
  const created = answers.filter(({ status }) => status === 201);
  assert.equal(created.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 201)) assertInvalid(answer);
  assert.equal((await emails(app)).length, 1);
  assertInvalid(await redeem(app, code, 'late@example.org'));
});

test('the code works for an hour, and a newer code replaces it', async () => {
  await using app = await newApp();
  const older = await newCode(app);
  const code = await newCode(app);
  assertInvalid(await redeem(app, older), 'replaced');
  app.clock.advance({ seconds: 3_600 });
  assertInvalid(await redeem(app, code), 'expired');
  const last = await newCode(app);
  app.clock.advance({ seconds: 3_599 });
  assert.equal((await redeem(app, last)).status, 201);
});

test('the code stops working when an administrator exists, and does not work again after that account is deleted', async () => {
  await using app = await newApp();
  const { accounts } = app.service.services;
  const code = await newCode(app);
  const { account } = await newAdministrator(app);
  assertInvalid(await redeem(app, code));
  await assert.rejects(newCode(app), { code: 'administrator_exists' });
  await accounts.delete(operator, account.id);
  assertInvalid(await redeem(app, code), 'the first administrator invalidated the code');

  const second = await newCode(app);
  const user = await app.createAccount();
  await accounts.setRole(operator, user.id, 'admin');
  await accounts.setRole(operator, user.id, 'user');
  assertInvalid(await redeem(app, second), 'a change of role invalidates the code as well');
});

testOnBoth('a code cannot create a second administrator while an operator concurrently creates one', async () => {
  await using app = await newApp();
  const { accounts } = app.service.services;
  for (let round = 0; round < 4; round++) {
    const code = await newCode(app);
    const [redeemed, created] = await Promise.all([
      whenAvailable(() => redeem(app, code)),
      accounts.create(operator, 'operator@example.org', new Secret(goodPassword), 'admin'),
    ]);
    if (redeemed.status !== 201) assertInvalid(redeemed);
    const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'account.created');
    const order = events.slice(redeemed.status === 201 ? -2 : -1).map(({ accountId }) => accountId);
    const expected = redeemed.status === 201 ? [(redeemed.json as { id: string }).id, created.id] : [created.id];
    assert.deepEqual(order, expected);
    for (const { id } of await Array.fromAsync(accounts.list())) await accounts.delete(operator, id);
  }
});

test('an invalid code is rejected before the password is hashed, and an invalid request does not use up the code', async () => {
  await using app = await newApp();
  const code = await newCode(app);
  const wrong = [
    '',
    'x',
    code.slice(0, -1),
    `${code}0`,
    code.replace('krvc_', 'krvr_'),
    ` ${code}`,
    code.toUpperCase(),
  ];
  const { hashed } = app.service.services.hasher.stats;
  for (const text of wrong) {
    const answer = await redeem(app, text);
    assert.equal(answer.status, 400, text);
  }
  assert.equal(app.service.services.hasher.stats.hashed, hashed, 'nothing was hashed');
  const invalid: readonly (readonly [string, object, string])[] = [
    ['not-an-email', {}, 'email_invalid'],
    ['root@example.org', { password: 'short' }, 'password_too_short'],
    ['root@example.org', { password: 'root@example.org' }, 'password_context'],
    ['root@example.org', { role: 'admin' }, 'invalid_request'],
    ['root@example.org', { id: 'acc_mine' }, 'invalid_request'],
    ['root@example.org\r\nBcc: eve@example.org', {}, 'email_invalid'],
  ];
  for (const [email, more, expected] of invalid) {
    const answer = await redeem(app, code, email, more);
    assert.deepEqual([answer.status, problemCode(answer)], [400, expected], email);
  }
  await app.createAccount('taken@example.org');
  const taken = await redeem(app, code, 'Taken@example.org');
  assert.deepEqual([taken.status, problemCode(taken)], [409, 'account_exists']);
  assert.equal((await redeem(app, code)).status, 201);
});

test('the first sign-up does not become administrator', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: { ...mailbox.environment, KEYREEVE_SIGNUP: 'open' } });
  const json = { email: 'first@example.org', password: goodPassword };
  assert.equal((await app.call('POST', '/auth/accounts', { json })).status, 202);
  const mail = await mailbox.next({ to: 'first@example.org' });
  const [code = ''] = /krvc_[0-9A-Za-z]{49}/.exec(mail.text) ?? [];
  // A verification code does not create an administrator.
  assertInvalid(await redeem(app, code));
  const verified = await app.call('POST', '/auth/accounts/verify', { json: { code, password: goodPassword } });
  assert.equal(verified.status, 200, verified.text);
  assert.deepEqual(await emails(app), ['first@example.org user']);
  const headers = bearer(await newAccessToken(app, 'first@example.org'));
  assert.equal((await app.call('GET', '/admin/accounts', { headers })).status, 403);
});
