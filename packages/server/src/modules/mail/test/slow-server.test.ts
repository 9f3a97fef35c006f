/** A mail server that accepts slowly, or whose reply is lost, gets a message once or twice, and delays no other mail. */
import assert from 'node:assert/strict';
import { queueMailTx } from '../mail.ts';
import { countJobs } from '../../outbox/store.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { Mailbox, type ReceivedMail } from '../../../../test-kit/mailbox.ts';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { disconnect, ScriptedSmtp } from '../../../../test-kit/scripted-smtp.ts';
import { until } from '../../../../test-kit/until.ts';

async function send(app: TestApp, to: string): Promise<void> {
  const { mailer } = app.service.services;
  const prepared = mailer.prepare({ to, template: 'account_deleted', data: { at: '2026-11-21T09:30:00.000Z' } });
  await app.db.transaction((tx) => queueMailTx(tx, prepared));
  mailer.sendSoon();
}

const isEmpty = async (app: TestApp): Promise<boolean> => (await countJobs(app.db, 1)).length === 0;

testOnBoth('a server that accepts messages after minutes gets each once, and delays no other mail', async () => {
  const accepted = Promise.withResolvers<void>();
  const isSlow = ({ to }: ReceivedMail): boolean => to.some((address) => address.startsWith('slow'));
  const beforeReply = async (message: ReceivedMail): Promise<void> => {
    if (isSlow(message)) await accepted.promise;
  };
  await using mailbox = await Mailbox.start({ beforeReply });
  await using app = await newApp({ environment: mailbox.environment });
  for (let index = 0; index < 8; index++) await send(app, `slow${index}@example.com`);
  await until('the server has all messages', () => mailbox.messages.length === 8);
  await send(app, 'ada@example.com');
  await mailbox.next({ to: 'ada@example.com' });
  for (let minute = 0; minute < 9; minute++) {
    app.clock.advance({ seconds: 60 });
    app.service.services.outbox.pollSoon();
    await new Promise(setImmediate);
  }
  accepted.resolve();
  await until('nothing waits', () => isEmpty(app));
  assert.equal(mailbox.messages.length, 9);
  assert.equal(
    app.logLines.some((line) => line.includes('outbox_failed')),
    false,
  );
});

testOnBoth('a message whose reply is lost is sent once more after an hour, and then given up', async () => {
  await using server = await ScriptedSmtp.start({ message: disconnect });
  await using app = await newApp({
    environment: {
      KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
      KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
    },
  });
  const { outbox } = app.service.services;
  await send(app, 'ada@example.com');
  const failures = (): number => app.logLines.filter((line) => /outbox_(?:failed|given_up)/.test(line)).length;
  await until('the reply is lost', () => failures() === 1 && outbox.runningCount === 0);
  for (let minute = 0; minute < 59; minute++) {
    app.clock.advance({ seconds: 60 });
    outbox.pollSoon();
    await new Promise(setImmediate);
  }
  const messages = (): number => server.steps.filter((step) => step === 'message').length;
  assert.equal(messages(), 1);
  app.clock.advance({ seconds: 60 });
  await until('the message is given up', () => {
    outbox.pollSoon();
    return isEmpty(app);
  });
  assert.equal(messages(), 2);
  assert.match(app.logLines.join(''), /"outbox_given_up".*may have accepted the message/);
});
