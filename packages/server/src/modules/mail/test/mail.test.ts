/** Mail from a committed transaction to the received message. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { queueMailTx, type MailMessage } from '../mail.ts';
import { countJobs } from '../../outbox/store.ts';
import { freePort } from '../../../../test-kit/free-port.ts';
import { codeIn, linkIn, Mailbox, type ReceivedMail } from '../../../../test-kit/mailbox.ts';
import { basic, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { until } from '../../../../test-kit/until.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

/** Queues a mail in a transaction and sends it, as modules do. */
async function send(app: TestApp, message: MailMessage): Promise<void> {
  const { mailer } = app.service.services;
  const prepared = mailer.prepare(message);
  await app.db.transaction((tx) => queueMailTx(tx, prepared));
  mailer.sendSoon();
}

test(
  'a mail has the text of its template, in text and HTML, with one link to the configured URL',
  { tags: ['asvs:1.2.2', 'asvs:14.2.1'] },
  async () => {
    await using mailbox = await Mailbox.start();
    await using app = await newApp({ environment: mailbox.environment });
    const { codes, links } = app.service.services;
    const { text: code } = codes.make();
    const data = {
      link: links.to('verify-email', code),
      code: code.reveal(),
      expiresAt: '2026-11-22T09:30:00.000Z',
    };
    await send(app, { to: 'ada@example.com', template: 'verify_email', data });

    const message = await mailbox.next({ to: 'ada@example.com', subject: 'Confirm your email address' });
    assert.deepEqual([message.from, message.to], ['accounts@example.com', ['ada@example.com']]);
    assert.equal(message.subject, 'Confirm your email address for Example');
    assert.equal(linkIn(message), `${app.service.publicUrl}/account/verify-email#${code.reveal()}`);
    assert.equal(codeIn(message), code.reveal());
    assert.match(message.text, /The link works once, until 2026-11-22 09:30 UTC\./);
    assert.ok(!app.logLines.join('').includes(code.reveal()));
  },
);

const invitation = (app: TestApp, to: string): MailMessage => {
  const { codes, links } = app.service.services;
  const { text } = codes.make();
  const link = links.to('accept-invitation', text);
  const data = { link, code: text.reveal(), expiresAt: '2026-11-22T09:30:00.000Z' };
  return { to, template: 'invitation', data };
};

const waiting = async (app: TestApp): Promise<number> =>
  (await countJobs(app.db, 1_000)).reduce((sum, work) => sum + work.waiting, 0);

/** Advances the clock, because a failed attempt is due again later. */
const nothingWaits = (app: TestApp): Promise<void> =>
  until('nothing waits', async () => {
    app.clock.advance({ seconds: 5 });
    app.service.services.mailer.sendSoon();
    return (await waiting(app)) === 0;
  });

test('while the mail server is down for an hour, no request fails, and all mail arrives afterwards', async () => {
  const port = await freePort();
  await using app = await newApp({ environment: mailEnvironment(port) });
  const account = await app.createAccount();
  const everybody: string[] = [];
  for (let minute = 0; minute < 60; minute++) {
    const to = `user-${minute}@example.org`;
    everybody.push(to);
    await send(app, invitation(app, to));
    if (minute % 10 === 0) {
      const signedIn = await app.call('POST', '/auth/token', { headers: basic(account.email, goodPassword) });
      assert.equal(signedIn.status, 200);
      assert.equal((await app.call('GET', '/health/ready')).status, 200);
    }
    app.clock.advance({ seconds: 60 });
  }
  await until('it was tried', () => app.logLines.some((line) => line.includes('outbox_failed')));
  assert.equal(await waiting(app), 60);

  await using mailbox = await Mailbox.start({ port });
  app.clock.advance({ seconds: 300 });
  await nothingWaits(app);
  assert.deepEqual(mailbox.messages.flatMap(({ to }) => to).toSorted(), everybody.toSorted());
  assert.equal(
    app.logLines.some((line) => line.includes('outbox_given_up')),
    false,
  );
  assert.doesNotMatch(app.logLines.join(''), /krvc_|user-\d+@/);
});

const mailEnvironment = (port: number): Record<string, string> => ({
  KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${port}`,
  KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
});

test('a deferred message is sent again with the same id, and arrives once', async () => {
  const refused: ReceivedMail[] = [];
  const refuseMessage = (message: ReceivedMail): string | undefined =>
    refused.length < 2 && refused.push(message) ? '451 4.3.0 come back later' : undefined;
  await using mailbox = await Mailbox.start({ refuseMessage });
  await using app = await newApp({ environment: mailbox.environment });
  await send(app, invitation(app, 'ada@example.com'));
  await until('it arrives', () => {
    app.clock.advance({ seconds: 20 });
    app.service.services.mailer.sendSoon();
    return mailbox.messages.length > 0;
  });
  await nothingWaits(app);
  assert.equal(mailbox.messages.length, 1);
  const ids = [...refused, ...mailbox.messages].map(({ parsed }) => [parsed.messageId, parsed.date]);
  assert.equal(ids.length, 3);
  assert.equal(new Set(ids.map(String)).size, 1);
});

test('a permanently rejected recipient does not delay other mail, and the log has only the mail’s id', async () => {
  const refuse = (to: string): string | undefined =>
    to.startsWith('gone') ? `550 5.1.1 no such user ${to}` : undefined;
  await using mailbox = await Mailbox.start({ refuse });
  await using app = await newApp({ environment: mailbox.environment });
  await send(app, invitation(app, 'gone@example.com'));
  await send(app, invitation(app, 'ada@example.com'));
  await mailbox.next({ to: 'ada@example.com' });
  await nothingWaits(app);
  assert.equal(mailbox.messages.length, 1);
  const records = app.logLines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const [givenUp] = records.filter(({ event }) => event === 'outbox_given_up');
  assert.equal(givenUp?.['kind'], 'mail');
  assert.match(String(givenUp?.['id']), /^msg_/);
  assert.match(JSON.stringify(givenUp), /550 5\.1\.1 no such user/);
  assert.doesNotMatch(app.logLines.join(''), /gone@|krvc_/);
});

test('without a mail server no mail is prepared, and mail of a rolled-back transaction is not sent', async () => {
  await using silent = await newApp();
  assert.equal(silent.service.services.mailer.prepare(invitation(silent, 'ada@example.com')), undefined);
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const { mailer } = app.service.services;
  const prepared = mailer.prepare(invitation(app, 'rolled-back@example.com'));
  const failed = app.db.transaction(async (tx) => {
    await queueMailTx(tx, prepared);
    throw new Error('the cause failed');
  });
  await assert.rejects(failed, /the cause failed/);
  await send(app, invitation(app, 'ada@example.com'));
  await mailbox.next();
  await nothingWaits(app);
  assert.deepEqual(
    mailbox.messages.flatMap(({ to }) => to),
    ['ada@example.com'],
  );
});

test('links lead to the public URL or to the configured pages', async () => {
  const publicUrl = 'https://auth.example.com';
  const proxied = { KEYREEVE_PUBLIC_URL: publicUrl, KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
  await using mailbox = await Mailbox.start();
  for (const [more, base] of [
    [{}, `${publicUrl}/account`],
    [{ KEYREEVE_LINKS_URL: 'https://example.com/me/' }, 'https://example.com/me'],
  ] as const) {
    await using app = await newApp({ environment: { ...mailbox.environment, ...proxied, ...more } });
    await send(app, invitation(app, 'ada@example.com'));
    const link = new URL(linkIn(await mailbox.next()));
    assert.equal(`${link.origin}${link.pathname}`, `${base}/accept-invitation`);
    assert.equal(link.search, '');
    assert.match(link.hash, /^#krvc_\w{49}$/);
  }
});

test('a forged Host header does not change links', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const { email } = await app.createAccount();
  const headers = {
    host: 'evil.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
    forwarded: 'host=evil.example',
    'content-type': 'application/json',
  };
  const asking = request(`${app.url}/auth/password-resets`, { method: 'POST', headers });
  asking.end(JSON.stringify({ email }));
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  assert.equal(answer.resume().statusCode, 202);
  const message = await mailbox.next({ to: email });
  assert.ok(linkIn(message).startsWith(`${app.service.publicUrl}/account/reset-password#`));
  assert.doesNotMatch(message.raw, /evil/);
});

test('an email address with a header in it is rejected, and no mail is sent', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: { ...mailbox.environment, KEYREEVE_SIGNUP: 'open' } });
  for (const email of ['a@b.example\r\nBcc:x@y.example', 'a@b.example>, x@y.example', 'a\u202e@b.example']) {
    const response = await app.call('POST', '/auth/accounts', { json: { email, password: goodPassword } });
    assert.equal(response.status, 400, email);
  }
  assert.equal(await waiting(app), 0);
  assert.deepEqual(mailbox.messages, []);
});
