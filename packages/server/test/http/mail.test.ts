/** Mail as it arrives: from a committed transaction to the message that a mail program shows. */
import assert from 'node:assert/strict';
import { queueMail, type MailMessage } from '../../src/mail/mail.ts';
import { codeIn, linkIn, Mailbox } from '../../src/testing/mailbox.ts';
import { newApp, type TestApp } from '../../src/testing/new-app.ts';
import { test } from './on-each-database.ts';

/** As a slice does it: in its transaction, then soon. */
async function send(app: TestApp, message: MailMessage): Promise<void> {
  const { mailer } = app.service.services;
  const prepared = mailer.prepare(message);
  await app.db.transaction((tx) => queueMail(tx, prepared));
  mailer.sendSoon();
}

test('a mail says what its template says, in text and HTML, with one link from the configured address', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const { codes, links } = app.service.services;
  const { text: code } = codes.make();
  const link = links.to('verify-email', code);
  const expiresAt = '2026-11-22T09:30:00.000Z';
  await send(app, { to: 'ada@example.com', template: 'verify_email', data: { link, expiresAt } });

  const message = await mailbox.next({ to: 'ada@example.com', subject: 'Confirm your email address' });
  assert.deepEqual([message.from, message.to], ['accounts@example.com', ['ada@example.com']]);
  assert.equal(message.subject, 'Confirm your email address for Example');
  assert.equal(linkIn(message), `${app.service.publicUrl}/account/verify-email#${code.reveal()}`);
  assert.equal(codeIn(message), code.reveal());
  assert.match(message.text, /The link works once, until 2026-11-22 09:30 UTC\./);
  assert.ok(!app.logLines.join('').includes(code.reveal()));
});
