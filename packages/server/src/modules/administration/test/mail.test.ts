/** `GET /admin/outbox` and `POST /admin/mail/test`. */
import assert from 'node:assert/strict';
import { limits, type MailTestResult, type OutboxPage } from '@keyreeve/contract';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { insertJobTx, postponeJob } from '../../outbox/store.ts';

const mailTo = (port: number) => ({
  environment: {
    KEYREEVE_SMTP_URL: `smtp://127.0.0.1:${port}`,
    KEYREEVE_MAIL_FROM: 'Example <accounts@example.com>',
  },
});

async function outbox(app: TestApp, administrator: SignedIn, query = ''): Promise<OutboxPage> {
  const answer = await administer(app, administrator, 'GET', `outbox?${query}`);
  assert.equal(answer.status, 200, answer.text);
  assert.ok(!answer.text.includes('canary'), 'no content of a job');
  return answer.json as OutboxPage;
}

test('the outbox lists waiting and failing jobs with their reason and without their content', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const now = app.clock.now();
  const hour = 3_600_000;
  const ofKinds = [
    ['msg_1', 'mail', 'mail'],
    ['msg_2', 'mail', 'mail'],
    ['msg_3', 'webhook', 'webhook:whe_one'],
  ] as const;
  for (const [id, kind, queue] of ofKinds) {
    const row = app.service.services.outbox.prepare(kind, queue, { to: 'canary@example.com', link: 'canary' }, id);
    await app.db.transaction((tx) => insertJobTx(tx, { ...row, dueAt: now + hour }));
  }
  await postponeJob(app.db, { id: 'msg_2', handedOver: 0 }, now + 2 * hour, 'the mail server answered 451');
  const at = new Date(now).toISOString();
  const job = (id: string, kind: string, others: object = {}) => ({
    id,
    kind,
    webhookId: null,
    createdAt: at,
    attempts: 0,
    nextAttemptAt: new Date(now + hour).toISOString(),
    lastFailure: null,
    ...others,
  });
  const failing = {
    nextAttemptAt: new Date(now + 2 * hour).toISOString(),
    lastFailure: 'the mail server answered 451',
  };
  assert.deepEqual(await outbox(app, administrator), {
    kinds: [
      { kind: 'mail', count: 2, oldestAt: at },
      { kind: 'webhook', count: 1, oldestAt: at },
    ],
    jobs: [job('msg_1', 'mail'), job('msg_2', 'mail', failing), job('msg_3', 'webhook', { webhookId: 'whe_one' })],
    nextCursor: null,
  });
  const ids = async (query: string) => (await outbox(app, administrator, query)).jobs.map(({ id }) => id);
  assert.deepEqual(await ids('state=failing'), ['msg_2']);
  assert.deepEqual(await ids('state=waiting&kind=mail'), ['msg_1']);
  const first = await outbox(app, administrator, 'limit=2');
  assert.deepEqual(await ids(`limit=2&cursor=${first.nextCursor}`), ['msg_3']);
  for (const query of ['kind=other', 'state=done', 'limit=0', 'cursor=!', 'cursor=IA'])
    assertProblem(fromFetch(await administer(app, administrator, 'GET', `outbox?${query}`)), 'invalid_request', query);
});

test('an administrator sends a test mail to the own email address, and reads the reason of a failure', async () => {
  let refusal: string | undefined;
  await using mailbox = await Mailbox.start({ refuse: () => refusal });
  await using app = await newApp(mailTo(mailbox.port));
  const administrator = await newAdministrator(app);
  const { email } = administrator.account;
  const send = () => administer(app, administrator, 'POST', 'mail/test');
  const sent = await send();
  assert.equal(sent.status, 200, sent.text);
  const { response, ...result } = sent.json as MailTestResult;
  assert.deepEqual(result, { to: email, delivered: true, failure: null });
  assert.match(response ?? '', /^250 /);
  assert.deepEqual((await mailbox.next({ subject: 'Mail from Example arrives' })).to, [email]);
  refusal = '550 5.1.1 no such mailbox';
  const { delivered, failure } = (await send()).json as MailTestResult;
  assert.equal(delivered, false);
  assert.match(failure ?? '', /550 5\.1\.1 no such mailbox/);
  for (let count = 2; count < limits.testMailsPerHourMax; count++) assert.equal((await send()).status, 200);
  assertProblem(fromFetch(await send()), 'too_many_requests');
});

test('without a mail server, no test mail is sent', async () => {
  await using app = await newApp();
  const answer = await administer(app, await newAdministrator(app), 'POST', 'mail/test');
  assertProblem(fromFetch(answer), 'mail_not_configured');
});
