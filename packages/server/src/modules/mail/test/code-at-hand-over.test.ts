/** Codes of links are made when their mail is handed over, and only for requests that are still of use. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { countJobs } from '../../outbox/store.ts';
import { AccountClient, newAccountClient, otherPassword } from '../../../../test-kit/account-client.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { freePort } from '../../../../test-kit/free-port.ts';
import { codeIn, Mailbox } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, newApp, operator, type TestApp } from '../../../../test-kit/new-app.ts';
import { disconnect, ScriptedSmtp } from '../../../../test-kit/scripted-smtp.ts';
import { until } from '../../../../test-kit/until.ts';

const email = 'ada@example.com';
const guest = 'guest@example.com';

const mailAt = (port: number): Record<string, string> => ({
  KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${port}`,
  KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
  KEYREEVE_SIGNUP: 'open',
});

const selectPayloads = sql<{ id: string; payload: Uint8Array }>(
  'test_outbox_payloads',
  'select id, payload from outbox',
);

const invite = (app: TestApp, role: 'user' | 'admin' = 'user', to = guest): Promise<string> =>
  app.service.services.administration.invite(operator, to, role);

const hasFailed = (app: TestApp): Promise<void> =>
  until('an attempt has failed', () => app.logLines.some((line) => line.includes('outbox_failed')));

const untilEmpty = (app: TestApp): Promise<void> =>
  until('the outbox is empty', async () => {
    app.clock.advance({ seconds: 1 });
    app.service.services.outbox.pollSoon();
    return (await countJobs(app.db, 1)).length === 0;
  });

testOnBoth('no code waits in the outbox, and its validity begins when the mail is handed over', async () => {
  const port = await freePort();
  await using app = await newApp({ environment: mailAt(port) });
  await app.createAccount(email);
  assert.equal((await app.call('POST', '/auth/password-resets', { json: { email } })).status, 202);
  await hasFailed(app);
  const { outboxSeal } = app.installation.keys;
  for (const { id, payload } of await app.db.all(selectPayloads, []))
    assert.doesNotMatch(outboxSeal.open(id, payload), /krvc_/);
  app.clock.advance({ seconds: limits.codeRequestSeconds - 1_000 });
  await using mailbox = await Mailbox.start({ port });
  await untilEmpty(app);
  const code = codeIn(await mailbox.next({ to: email }));
  app.clock.advance({ seconds: 590 });
  const answer = await app.call('POST', '/auth/password-resets/confirm', { json: { code, password: otherPassword } });
  assert.equal(answer.status, 200, answer.text);
});

testOnBoth(
  'the link that undoes an email change is made when its mail is handed over, and lasts from then',
  async () => {
    const port = await freePort();
    const mailbox = await Mailbox.start({ port });
    await using app = await newApp({ environment: mailAt(port) });
    const client = new AccountClient(app, mailbox);
    await app.createAccount(email);
    const code = await client.requestEmailChange(await client.signIn(email), guest);
    await mailbox.next({ to: email, subject: /requested/ });
    await mailbox[Symbol.asyncDispose]();
    assert.equal((await client.confirmEmailChange(code)).status, 200);
    await hasFailed(app);
    const { outboxSeal } = app.installation.keys;
    for (const { id, payload } of await app.db.all(selectPayloads, []))
      assert.doesNotMatch(outboxSeal.open(id, payload), /krvc_/);
    // As a notice, it is retried for longer than what was requested.
    app.clock.advance({ days: 2 });
    await using later = await Mailbox.start({ port });
    await untilEmpty(app);
    const undoCode = codeIn(await later.next({ to: email, subject: /was changed/ }));
    app.clock.advance({ seconds: limits.emailUndoSeconds - 60 });
    const undone = await app.call('POST', '/auth/account/email/undo', { json: { code: undoCode, email } });
    assert.equal(undone.status, 200, undone.text);
  },
);

testOnBoth('no mail that was requested is handed over later than 24 hours after the request', async () => {
  const port = await freePort();
  await using app = await newApp({ environment: mailAt(port) });
  await app.createAccount(email);
  const requests = [
    ['/auth/password-resets', { email }],
    ['/auth/accounts', { email: 'new@example.com', password: goodPassword }],
    // The account exists.
    ['/auth/accounts', { email, password: goodPassword }],
  ] as const;
  for (const [path, json] of requests) assert.equal((await app.call('POST', path, { json })).status, 202);
  await invite(app);
  await hasFailed(app);
  app.clock.advance({ seconds: limits.codeRequestSeconds + 3_600 });
  await using mailbox = await Mailbox.start({ port });
  await untilEmpty(app);
  assert.deepEqual(
    mailbox.messages.map(({ subject }) => subject),
    [],
  );
});

testOnBoth(
  'no mail is handed over for an account that was disabled or deleted, or whose codes were deleted',
  async () => {
    const port = await freePort();
    await using app = await newApp({ environment: mailAt(port) });
    const { accounts } = app.service.services;
    const { id } = await app.createAccount(email);
    assert.equal((await app.call('POST', '/auth/password-resets', { json: { email } })).status, 202);
    const invited = await invite(app);
    await hasFailed(app);
    await accounts.disable(operator, id);
    await accounts.delete(operator, invited);
    // A change of the password deletes the codes of the account.
    const other = await app.signIn('other@example.com');
    const reset = await app.call('POST', '/auth/password-resets', { json: { email: 'other@example.com' } });
    assert.equal(reset.status, 202);
    await until('its mail waits', async () => {
      app.clock.advance({ seconds: 1 });
      app.service.services.outbox.pollSoon();
      return (await countJobs(app.db, 10)).every(({ kind }) => kind === 'mail');
    });
    const change = { currentPassword: goodPassword, newPassword: otherPassword };
    const changed = await app.call('PUT', '/auth/account/password', {
      headers: bearer(other.accessToken),
      json: change,
    });
    assert.equal(changed.status, 200, changed.text);
    app.clock.advance({ seconds: 400 });
    await using mailbox = await Mailbox.start({ port });
    await untilEmpty(app);
    assert.deepEqual(
      mailbox.messages.map(({ subject }) => subject),
      ['Your password for Example was changed'],
    );
  },
);

testOnBoth('if the reply to a mail is lost, the code in it stays valid beside that of the repetition', async () => {
  await using server = await ScriptedSmtp.start({ message: disconnect });
  await using app = await newApp({ environment: mailAt(server.port) });
  await invite(app);
  await hasFailed(app);
  app.clock.advance({ seconds: 3_600 });
  await untilEmpty(app);
  const codes = server.messages.map((text) => /krvc_\w{49}/.exec(text.replaceAll('=\r\n', ''))?.[0] ?? '');
  assert.equal(new Set(codes).size, 2);
  const json = { code: codes[0], password: otherPassword };
  const answer = await app.call('POST', '/auth/accounts/accept-invitation', { json });
  assert.equal(answer.status, 200, answer.text);
});

testOnBoth('the code of a rejected mail is void', async () => {
  await using server = await ScriptedSmtp.start({ message: '451 4.3.0 come back later' });
  await using app = await newApp({ environment: mailAt(server.port) });
  await invite(app);
  await hasFailed(app);
  const [code] = /krvc_\w{49}/.exec(server.messages[0]?.replaceAll('=\r\n', '') ?? '') ?? [];
  const json = { code, password: otherPassword };
  assert.equal((await app.call('POST', '/auth/accounts/accept-invitation', { json })).status, 400);
});

const day = 86_400;

const accept = (client: AccountClient, code: string) =>
  client.post('/auth/accounts/accept-invitation', { code, password: otherPassword });

testOnBoth('an invitation is valid for 7 days, and that of an administrator for 24 hours', async () => {
  for (const [role, seconds] of [
    ['user', 7 * day],
    ['admin', day],
  ] as const) {
    await using client = await newAccountClient();
    await invite(client.app, role);
    await invite(client.app, role, 'late@example.com');
    const inTime = await client.nextCode(guest, 'You are invited');
    const late = await client.nextCode('late@example.com', 'You are invited');
    await client.untilOutboxEmpty();
    client.app.clock.advance({ seconds: seconds - 1 });
    assert.equal((await accept(client, inTime)).status, 200);
    client.app.clock.advance({ seconds: 1 });
    assert.equal((await accept(client, late)).status, 400);
  }
});

testOnBoth('an expired invitation can be requested again, unless it was withdrawn', async () => {
  await using client = await newAccountClient();
  const administrator = await newAdministrator(client.app);
  const id = await invite(client.app);
  await client.nextCode(guest, 'You are invited');
  client.app.clock.advance({ seconds: 8 * day });
  const again = () => client.post('/auth/accounts/verify/resend', { email: guest });
  assert.equal((await again()).status, 202);
  const code = await client.nextCode(guest, 'You are invited');
  await client.untilOutboxEmpty();
  const fresh = await client.app.call('POST', '/auth/token', {
    headers: { authorization: `Basic ${btoa(`${administrator.account.email}:${goodPassword}`)}` },
  });
  const { accessToken } = fresh.json as { accessToken: string };
  const disabled = await client.app.call('POST', `/admin/accounts/${id}/disable`, { headers: bearer(accessToken) });
  assert.equal(disabled.status, 200, disabled.text);
  await invite(client.app, 'admin', 'future@example.com');
  await client.untilOutboxEmpty();
  const before = client.mailbox.messages.length;
  assert.equal((await again()).status, 202);
  // A later owner of the mailbox must not get the role.
  const ofAdmin = await client.post('/auth/accounts/verify/resend', { email: 'future@example.com' });
  assert.equal(ofAdmin.status, 202);
  await client.untilOutboxEmpty();
  assert.equal(client.mailbox.messages.length, before);
  assert.equal((await accept(client, code)).status, 400);
});
