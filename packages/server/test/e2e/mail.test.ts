/** The `mail` commands and the mail settings at the start of the service, with a mail server over TLS. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Mailbox } from '../../test-kit/mailbox.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { runProgram } from './program.ts';

const tlsFile = (name: string): string => fileURLToPath(new URL(`tls/${name}`, import.meta.url));
const tls = { key: readFileSync(tlsFile('server.key')), cert: readFileSync(tlsFile('server.crt')) };
const mailFrom = { KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>' };

test('a test mail is sent over TLS with a trusted certificate, and the server’s response is printed', async () => {
  using folder = newTempFolder();
  await using mailbox = await Mailbox.start({ server: { ...tls, secure: true, disabledCommands: ['AUTH'] } });
  const { status, stdout, stderr } = await runProgram(['mail', 'test', 'ada@example.com'], {
    folder: folder.path,
    environment: {
      ...mailFrom,
      KEYREEVE_SMTP_URL: `smtps://localhost:${mailbox.port}`,
      NODE_EXTRA_CA_CERTS: tlsFile('server.crt'),
    },
  });
  assert.deepEqual([status, stderr], [0, '']);
  const { parsed, subject, text } = await mailbox.next({ to: 'ada@example.com' });
  assert.equal(stdout.trim(), `Sent to ada@example.com as ${parsed.messageId}. The mail server: 250 kept`);
  assert.equal(subject, 'Mail from Example arrives');
  assert.match(text, /This is a test of the mail that Example sends/);
});

test('a rejection or an unreachable mail server is reported in one line, without the password', async () => {
  using folder = newTempFolder();
  await using mailbox = await Mailbox.start({ refuse: () => '550 5.1.1 no such mailbox' });
  const run = (url: string) =>
    runProgram(['mail', 'test', 'ada@example.com'], {
      folder: folder.path,
      environment: { ...mailFrom, KEYREEVE_SMTP_URL: url },
    });
  const rejected = await run(`smtp://127.0.0.1:${mailbox.port}`);
  assert.deepEqual([rejected.status, rejected.stdout], [1, '']);
  assert.match(rejected.stderr, /^keyreeve: the mail server: .*550 5\.1\.1 no such mailbox\n$/);
  const unreachable = await run('smtps://user:pa55word@127.0.0.1:1');
  assert.equal(unreachable.status, 1);
  assert.match(unreachable.stderr, /^keyreeve: the mail server: .*ECONNREFUSED.*\n$/);
  assert.doesNotMatch(unreachable.stderr, /pa55word/);
});

test('the service does not start with invalid templates, and all mistakes are reported', async () => {
  using folder = newTempFolder();
  const templates = join(folder.path, 'templates');
  mkdirSync(templates);
  writeFileSync(join(templates, 'invitation.txt'), 'Hello {{name}}');
  const environment = { KEYREEVE_MAIL_TEMPLATES: templates };
  const { status, stderr } = await runProgram(['serve'], { folder: folder.path, environment });
  assert.equal(status, 78);
  assert.match(stderr, /invitation\.subject\.txt can’t be read/);
  assert.match(
    stderr,
    /invitation\.txt contains \{\{name\}\}, which is not a placeholder of this template: it has product, link, code, expiresAt/,
  );
  assert.match(stderr, /invitation\.txt must contain \{\{link\}\}/);
  assert.match(stderr, /invitation\.html can’t be read/);
  const preview = await runProgram(['mail', 'preview', 'invitation'], { folder: folder.path, environment });
  assert.equal(preview.status, 78);
});

test('a preview shows the mail of the operator’s templates', async () => {
  using folder = newTempFolder();
  writeFileSync(join(folder.path, 'invitation.subject.txt'), 'Join {{product}}\n');
  writeFileSync(join(folder.path, 'invitation.txt'), 'Here: {{link}}\n');
  writeFileSync(join(folder.path, 'invitation.html'), '<a href="{{link}}">Join {{product}}</a>\n');
  const environment = { KEYREEVE_MAIL_TEMPLATES: folder.path, KEYREEVE_PUBLIC_URL: 'http://auth.example.org' };
  const run = async (...more: string[]): Promise<string> =>
    (await runProgram(['mail', 'preview', 'invitation', ...more], { folder: folder.path, environment })).stdout;
  const link = /https:\/\/auth\.example\.com\/account\/accept-invitation#krvc_0{49}/;
  assert.match(await run(), new RegExp(`^Join auth\\.example\\.org\n\nHere: ${link.source}\n$`));
  assert.match(await run('--html'), new RegExp(`^<a href="${link.source}">Join auth\\.example\\.org</a>\n$`));
  const { subject } = JSON.parse(await run('--json')) as { subject: string };
  assert.equal(subject, 'Join auth.example.org');
});
