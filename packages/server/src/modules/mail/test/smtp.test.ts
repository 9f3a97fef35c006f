/** Delivery over SMTP and the classification of failures, with a real mail server on this machine. */
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { once } from 'node:events';
import { test } from 'node:test';
import type { SMTPServerOptions } from 'smtp-server';
import { accentOf } from '../../look/accent.ts';
import type { Look } from '../../look/look.ts';
import { parseMark } from '../../look/mark.ts';
import { render } from '../render.ts';
import { samples } from '../templates/samples.ts';
import { readTemplates } from '../templates/templates.ts';
import { pngMark, svgMark } from '../../../../test-kit/marks.ts';
import { parseSender } from '../sender.ts';
import { SmtpServer, type OutgoingMail } from '../smtp.ts';
import { JobFailure } from '../../outbox/job.ts';
import { freePort } from '../../../../test-kit/free-port.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { testMail } from '../../../../test-kit/scripted-smtp.ts';
import { tls } from '../../../../test-kit/tls.ts';

const from = parseSender('Example <accounts@example.com>');
const link = 'https://auth.example.com/account/verify-email#krvc_secret';

const mail: OutgoingMail = { ...testMail, text: `Open ${link}`, html: `<a href="${link}">Open</a>` };

const serverAt = (port: number, url = `smtp://127.0.0.1:${port}`): SmtpServer => new SmtpServer(() => url, from);

async function failureOf(sending: Promise<unknown>): Promise<JobFailure> {
  try {
    await sending;
  } catch (error) {
    assert.ok(error instanceof JobFailure, String(error));
    return error;
  }
  assert.fail('it was sent');
}

test('a message has its headers, is marked as automatic, and names neither this machine nor the library', async () => {
  await using mailbox = await Mailbox.start();
  const { messageId } = await serverAt(mailbox.port).send(mail);
  const { parsed, raw, from: sender, to } = await mailbox.next();
  assert.deepEqual([sender, to], ['accounts@example.com', ['ada@example.com']]);
  const headers = Object.fromEntries(parsed.headers.map(({ key, value }) => [key, value]));
  const { 'content-type': type, ...others } = headers;
  assert.match(type ?? '', /^multipart\/alternative;/);
  assert.deepEqual(others, {
    from: 'Example <accounts@example.com>',
    to: 'ada@example.com',
    subject: 'Confirm',
    'message-id': '<msg_one@example.com>',
    date: 'Sat, 21 Nov 2026 09:30:00 +0000',
    'auto-submitted': 'auto-generated',
    'mime-version': '1.0',
  });
  assert.equal(messageId, '<msg_one@example.com>');
  assert.equal(parsed.text?.trim(), mail.text);
  assert.equal(parsed.html?.trim(), mail.html);
  assert.doesNotMatch(raw, /nodemailer/i);
});

test('names and subjects outside ASCII arrive unchanged', async () => {
  await using mailbox = await Mailbox.start();
  const subject = 'Bestätige deine Adresse für Bücher & Töchter 漢字 🐦'.repeat(3);
  const sender = parseSender('Bücher, Töchter & 漢字 <konto@bücher.example>');
  await new SmtpServer(() => `smtp://127.0.0.1:${mailbox.port}`, sender).send({ ...mail, subject });
  const message = await mailbox.next();
  assert.equal(message.subject, subject);
  assert.deepEqual(message.parsed.from, { name: 'Bücher, Töchter & 漢字', address: 'konto@xn--bcher-kva.example' });
  const head = message.raw.slice(0, message.raw.indexOf('\r\n\r\n'));
  assert.match(head, /^[\x20-\x7e\r\n\t]*$/);
  assert.ok(head.split('\r\n').every((line) => line.length <= 78));
  assert.equal(message.parsed.messageId, '<msg_one@xn--bcher-kva.example>');
});

test('a recipient in an international domain is sent in ASCII', async () => {
  // The server decodes email addresses; its log has the command.
  const said: string[] = [];
  const note = (_: unknown, ...words: readonly unknown[]): void => void said.push(words.map(String).join(' '));
  const logger = { trace: note, debug: note, info: note, warn: note, error: note, fatal: note };
  await using mailbox = await Mailbox.start({ server: { hideSMTPUTF8: true, logger } });
  await serverAt(mailbox.port).send({ ...mail, to: 'Ada@Bücher.example' });
  assert.match((await mailbox.next()).raw, /^To: Ada@xn--bcher-kva\.example\r$/m);
  assert.ok(
    said.some((words) => words.includes('RCPT TO:<Ada@xn--bcher-kva.example>')),
    said.join('\n'),
  );
});

test('no value can add a header or a recipient', { tags: ['asvs:1.3.11'] }, async () => {
  await using mailbox = await Mailbox.start();
  const injected = 'x\r\nBcc: eve@example.com\r\nX-Evil: 1\r\n\r\nbody';
  await serverAt(mailbox.port).send({ ...mail, subject: injected, text: injected, html: injected });
  const { parsed, to } = await mailbox.next();
  assert.deepEqual(to, ['ada@example.com']);
  assert.deepEqual([parsed.bcc, parsed.headers.filter(({ key }) => key === 'x-evil')], [undefined, []]);
  for (const bad of [
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com>\r\nRCPT TO:<eve@example.com',
    'ada@example.com\nRCPT TO:<eve@example.com>',
    'ada@example.com, eve@example.com',
    'Ada <ada@example.com>',
    '"ada@example.com" eve@example.com',
    'ada\u202e@example.com',
    '',
  ]) {
    const sent = await serverAt(mailbox.port)
      .send({ ...mail, to: bad })
      .catch((error: unknown) => error);
    assert.ok(sent instanceof JobFailure, bad);
    assert.equal(sent.scope, 'final');
  }
  assert.equal(mailbox.messages.length, 1);
});

const refusals: readonly (readonly [what: string, reply: string, scope: JobFailure['scope'], isMessage?: true])[] = [
  ['an unknown recipient', '550 5.1.1 no such mailbox ada@example.com', 'final'],
  ['a full mailbox', '452 4.2.2 mailbox full', 'job'],
  ['greylisting', '451 4.7.1 come back later', 'job'],
  ['a server that doesn’t relay for us', '550 5.7.1 relaying denied', 'job'],
  ['a server that is going away', '421 4.3.2 shutting down', 'queue'],
  ['a message that is put off', '451 4.3.0 try again', 'job', true],
  ['a message that is refused', `554 5.7.1 blocked because of ${link} and krvc_secret`, 'job', true],
];

for (const [what, reply, scope, isMessage] of refusals) {
  test(`${what} is a failure with the scope ${scope}, and its reason has no email address or link`, async () => {
    const refuse = (): string => reply;
    await using mailbox = await Mailbox.start(isMessage ? { refuseMessage: refuse } : { refuse });
    const failure = await failureOf(serverAt(mailbox.port).send(mail));
    assert.equal(failure.scope, scope, failure.message);
    assert.match(failure.message, new RegExp(`^the mail server: .*${reply.slice(0, 3)}`));
    assert.doesNotMatch(failure.message, /ada@|krvc_|https?:/);
    assert.equal(failure.cause, undefined);
    assert.equal(mailbox.messages.length, 0);
  });
}

test('a rejected sender or sign-in delays all mail', async () => {
  const onMailFrom: SMTPServerOptions['onMailFrom'] = (_address, _session, done) =>
    done(Object.assign(new Error('5.7.1 who are you?'), { responseCode: 553 }));
  await using choosy = await Mailbox.start({ server: { onMailFrom } });
  assert.equal((await failureOf(serverAt(choosy.port).send(mail))).scope, 'queue');

  let credentials = '';
  const onAuth: SMTPServerOptions['onAuth'] = ({ username, password }, _session, done) => {
    credentials = `${username ?? ''} ${password ?? ''}`;
    done(password === 'p@ss:/' ? null : new Error('wrong password'), { user: 'user' });
  };
  const signsIn = { disabledCommands: ['STARTTLS'], authMethods: ['PLAIN'], allowInsecureAuth: true, onAuth };
  await using guarded = await Mailbox.start({ server: signsIn });
  const url = (password: string): string => `smtp://us%40er:${password}@127.0.0.1:${guarded.port}`;
  const failure = await failureOf(serverAt(0, url('wrong')).send(mail));
  assert.equal(failure.scope, 'queue');
  assert.doesNotMatch(failure.message, /us@er/);
  await serverAt(0, url('p%40ss%3A%2F')).send(mail);
  assert.equal(credentials, 'us@er p@ss:/');
  assert.equal((await guarded.next()).subject, 'Confirm');
});

test('an unreachable server, or one that does not speak SMTP, delays all mail', async () => {
  assert.equal((await failureOf(serverAt(await freePort()).send(mail))).scope, 'queue');
  const talk = (said: string) => (socket: Socket) => void socket.on('error', () => undefined).end(said);
  for (const said of ['', 'HTTP/1.1 400 Bad Request\r\n\r\n', '554 no\r\n']) {
    const server = createServer(talk(said)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    assert.equal((await failureOf(serverAt(port).send(mail))).scope, 'queue', said);
    server.close();
  }
});

test(
  'an untrusted certificate is rejected, even if Node is configured to accept any',
  { tags: ['asvs:12.3.2'] },
  async () => {
    await using implicit = await Mailbox.start({ server: { ...tls, secure: true, disabledCommands: ['AUTH'] } });
    await using upgraded = await Mailbox.start({ server: { ...tls, disabledCommands: ['AUTH'] } });
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      for (const url of [`smtps://localhost:${implicit.port}`, `smtp://0.0.0.0:${upgraded.port}`]) {
        const failure = await failureOf(serverAt(0, url).send(mail));
        assert.equal(failure.scope, 'queue');
        assert.match(failure.message, /certificate/);
      }
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    assert.deepEqual([...implicit.messages, ...upgraded.messages], []);
  },
);

test('mail to another machine is never sent in plain text', { tags: ['asvs:12.3.1'] }, async () => {
  // An IP address of this machine that is not loopback.
  await using plain = await Mailbox.start();
  const failure = await failureOf(serverAt(0, `smtp://0.0.0.0:${plain.port}`).send(mail));
  assert.equal(failure.scope, 'queue');
  assert.deepEqual(plain.messages, []);
});

test('a new password of the mail server applies to the next message', async () => {
  const passwords: (string | null | undefined)[] = [];
  await using mailbox = await Mailbox.start({
    server: {
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      onAuth: ({ username, password }, _, done) => {
        passwords.push(password);
        if (password === 'second') done(null, { user: username });
        else done(new Error('the password is wrong'));
      },
    },
  });
  let password = 'first';
  const server = new SmtpServer(() => `smtp://you:${password}@127.0.0.1:${mailbox.port}`, from);
  await assert.rejects(server.send(mail), JobFailure);
  password = 'second';
  await server.send(mail);
  assert.deepEqual([passwords, mailbox.messages.length], [['first', 'second'], 1]);
});

test('a message that shows the mark as PNG has it as an attachment, and others have none', async () => {
  await using mailbox = await Mailbox.start();
  const look: Look = { operator: 'Example', mark: parseMark(pngMark()), accent: accentOf('#ffd400') };
  const server = new SmtpServer(() => `smtp://127.0.0.1:${mailbox.port}`, from, { mark: look.mark });
  const { templates } = readTemplates(undefined, look);
  const { html } = render(
    templates,
    'Example',
    { to: mail.to, template: 'invitation', data: samples.invitation },
    'en',
  );
  assert.match(html, /background: #[0-9a-f]{6};/);
  assert.ok(!html.includes('#3450d2'), 'the button has the colour of the operator');
  await server.send({ ...mail, html });
  const shown = (await mailbox.next()).parsed;
  assert.deepEqual(
    shown.attachments.map(({ mimeType, contentId, content }) => [
      mimeType,
      contentId,
      Buffer.from(content as ArrayBuffer).equals(pngMark()),
    ]),
    [['image/png', '<mark>', true]],
  );
  await server.send(mail);
  assert.deepEqual((await mailbox.next()).parsed.attachments, []);
  const svg = readTemplates(undefined, { mark: parseMark(Buffer.from(svgMark)) }).templates.en.invitation.html;
  assert.ok(!svg.includes('<img'), 'mail programs show no SVG');
});
