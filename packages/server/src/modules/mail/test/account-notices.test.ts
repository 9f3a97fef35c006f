/** Mail about sign-ins and second factors, which commits with the change. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { goodPassword, type Answered } from '../../../../test-kit/new-app.ts';
import { newAccountClient, type AccountClient } from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import {
  as,
  codeAt,
  enrol,
  factorPath,
  nextStep,
  signInWith,
  trySignIn,
  wrongCode,
} from '../../../../test-kit/authenticator.ts';

const fail = (client: AccountClient, email: string): Promise<Answered> =>
  trySignIn(client.app, email, undefined, 'a wrong password of some length');

test('the account is notified of a sign-in after five failures, not after four', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  for (const [email, failures] of [
    ['four@example.com', limits.suspiciousFailures - 1],
    ['five@example.com', limits.suspiciousFailures],
  ] as const) {
    await app.createAccount(email);
    for (let n = 0; n < failures; n++) await fail(client, email);
    app.clock.advance({ seconds: 60 });
    await signInWith(app, email);
    // The sign-in reset the count of failures.
    await signInWith(app, email);
  }
  await client.untilOutboxEmpty();
  const [mail, ...others] = mailbox.messages;
  assert.deepEqual(others, []);
  assert.ok(mail);
  assert.deepEqual(mail.to, ['five@example.com']);
  assert.match(mail.text, /127\.0\.0\.1/);
  assert.match(mail.text, /\b5\b/);
  const events = (await listAuditEvents(app.db)).filter(({ details }) => details?.includes('failuresBefore'));
  assert.deepEqual(
    events.map(({ action, details }) => [action, details]),
    [['session.created', '{"failuresBefore":5}']],
  );
});

test('wrong codes count as failures, and a failed sign-in sends no mail', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  const user = await enrol(app, await app.signIn('ada@example.com'));
  await client.untilOutboxEmpty();
  const before = mailbox.messages.length;
  for (let n = 0; n < limits.suspiciousFailures; n++) {
    app.clock.advance({ seconds: 60 });
    await trySignIn(app, 'ada@example.com', wrongCode(user.secret, app.clock.now()));
  }
  await client.untilOutboxEmpty();
  assert.equal(mailbox.messages.length, before);
  app.clock.advance({ seconds: 60 });
  await signInWith(app, 'ada@example.com', codeAt(user.secret, app.clock.now()));
  await client.untilOutboxEmpty();
  assert.deepEqual(
    mailbox.messages.slice(before).map(({ to }) => to),
    [['ada@example.com']],
  );
});

test('each change of the second factor and each used recovery code sends one mail without secrets', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  const user = await enrol(app, await app.signIn('ada@example.com'));
  const { secret, recoveryCodes } = user;
  nextStep(app);
  await Promise.all(Array.from({ length: 4 }, () => trySignIn(app, 'ada@example.com', recoveryCodes[0])));
  const proof = { currentPassword: goodPassword, code: codeAt(secret, app.clock.now()) };
  assert.equal((await as(app, user, 'DELETE', factorPath, proof)).status, 204);
  await client.untilOutboxEmpty();
  const subjects = mailbox.messages.map(({ subject }) => subject).toSorted();
  assert.equal(subjects.length, 3, subjects.join('; '));
  assert.match(subjects[0] ?? '', /recovery code .* was used/);
  assert.match(subjects[1] ?? '', /second factor was added/);
  assert.match(subjects[2] ?? '', /second factor was removed/);
  for (const { raw, to, subject, text } of mailbox.messages) {
    assert.deepEqual(to, ['ada@example.com']);
    for (const one of [secret, proof.code, ...recoveryCodes, goodPassword]) assert.ok(!raw.includes(one), subject);
    if (/recovery/.test(subject)) assert.match(text, /\b9\b/);
  }
});
