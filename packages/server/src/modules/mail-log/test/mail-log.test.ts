/** The log of mail: which mails it has, how it is searched, and when its entries are deleted. */
import assert from 'node:assert/strict';
import { limits, mailPurposes, type LoggedMail, type MailPage } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { AccountClient } from '../../../../test-kit/account-client.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { codeIn, Mailbox } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { addAccount, hashOf, now, operator } from '../../../../test-kit/rows.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';
import { deleteAccount } from '../../../../test-kit/store-changes.ts';
import { insertEmailChangeTx } from '../../accounts/email-change-store.ts';
import { templateNames } from '../../mail/templates/templates.ts';
import { insertCodeTx } from '../../one-time-codes/store.ts';
import { insertJobTx } from '../../outbox/store.ts';
import { MailLog } from '../mail-log.ts';
import { deleteExcessMail } from '../store.ts';

const newLog = (db: Db, clock = new FakeClock(now)): MailLog => new MailLog({ db, clock });
const mailTo = (to: string, id = to) =>
  ({ id: `msg_${id}`, to, template: 'password_changed', createdAt: now }) as const;
const record = (db: Db, mail: Parameters<MailLog['recordTx']>[1], failure: string | null = null): Promise<void> =>
  db.transaction((tx) => newLog(db).recordTx(tx, mail, failure));
const idsOf = ({ mails }: MailPage): string[] => mails.map(({ id }) => id);

test('the contract has the purposes of all templates', () => {
  assert.deepEqual(mailPurposes.toSorted(), templateNames.toSorted());
});

onEachDatabase('an entry belongs to the account that has, had or has requested the email address', async ({ db }) => {
  const ada = await addAccount(db, 'ada');
  const bob = await addAccount(db, 'bob');
  const eve = await addAccount(db, 'eve');
  await db.transaction(async (tx) => {
    const previous = { email: 'Old@Example.com', canonicalEmail: 'old@example.com' };
    await insertEmailChangeTx(tx, { ...previous, accountId: ada, changedAt: now });
    // Bob has the email address that Eve had before.
    const eves = { email: 'bob@example.com', canonicalEmail: 'bob@example.com' };
    await insertEmailChangeTx(tx, { ...eves, accountId: eve, changedAt: now });
    const email = { email: 'new@example.com', canonicalEmail: 'new@example.com' };
    const code = { hash: hashOf('code'), purpose: 'change_email', accountId: ada, email, now, expiresAt: now } as const;
    await insertCodeTx(tx, code);
  });
  const recipients = [
    'ada@EXAMPLE.com',
    'OLD@example.com',
    'new@example.com',
    'bob@example.com',
    'nobody@example.com',
    '',
  ];
  for (const to of recipients) await record(db, mailTo(to));
  const owners = async (): Promise<Record<string, string>> =>
    Object.fromEntries((await newLog(db).page({})).mails.map(({ to, accountId }) => [to, accountId]));
  assert.deepEqual(await owners(), {
    'ada@EXAMPLE.com': ada,
    'OLD@example.com': ada,
    'new@example.com': ada,
    'bob@example.com': bob,
  });
  await deleteAccount(db, { principal: operator, now }, ada);
  assert.deepEqual(await owners(), { 'bob@example.com': bob });
  await record(db, mailTo('ada@example.com', 'notice'));
  assert.deepEqual(await owners(), { 'bob@example.com': bob }, 'a notice after the deletion has no entry');
});

onEachDatabase('no entry outlives an account that is deleted at the same time', async (opened) => {
  const ada = await addAccount(opened.db, 'ada');
  const results = await raceToValues(opened, rivalsMin, async (db, rival) => {
    if (rival === rivalsMin / 2) await deleteAccount(db, { principal: operator, now }, ada);
    else await record(db, mailTo('ada@example.com', String(rival)));
    return true;
  });
  assert.equal(results.length, rivalsMin);
  assert.deepEqual((await newLog(opened.db).page({})).mails, []);
});

onEachDatabase('an entry has the last failure, and the first acceptance', async ({ db }) => {
  const accountId = await addAccount(db, 'ada');
  const clock = new FakeClock(now);
  const log = newLog(db, clock);
  const mail = mailTo('ada@example.com');
  const job = {
    id: mail.id,
    kind: 'mail',
    queue: 'mail',
    payload: Buffer.from('x'),
    createdAt: now,
    dueAt: now + 7_000,
  };
  await db.transaction((tx) => insertJobTx(tx, job));
  const at = (ms: number): string => new Date(now + ms).toISOString();
  const attempt = async (failure: string | null): Promise<LoggedMail | undefined> => {
    clock.advance({ seconds: 1 });
    await db.transaction((tx) => log.recordTx(tx, mail, failure));
    return (await log.page({})).mails[0];
  };
  const shown = { id: mail.id, to: mail.to, accountId, purpose: mail.template, createdAt: at(0) };
  const waiting = { state: 'waiting', deliveredAt: null, nextAttemptAt: at(7_000) } as const;
  for (const [attemptCount, failure] of [
    [1, '451 busy'],
    [2, 'x'.repeat(900)],
  ] as const)
    assert.deepEqual(await attempt(failure), {
      ...shown,
      ...waiting,
      attemptCount,
      lastAttemptAt: at(attemptCount * 1_000),
      lastFailure: failure.slice(0, 500),
    });
  const delivered = { ...shown, state: 'delivered', deliveredAt: at(3_000), nextAttemptAt: null } as const;
  const third = { attemptCount: 3, lastAttemptAt: at(3_000), lastFailure: null };
  assert.deepEqual(await attempt(null), { ...delivered, ...third });
  const fourth = { attemptCount: 4, lastAttemptAt: at(4_000), lastFailure: 'it was busy' };
  assert.deepEqual(await attempt('it was busy'), { ...delivered, ...fourth });
  await record(db, mailTo('ada@example.com', 'given_up'), '550 no such mailbox');
  const [failed] = (await log.page({ state: 'failed' })).mails;
  assert.deepEqual([failed?.id, failed?.deliveredAt, failed?.nextAttemptAt], ['msg_given_up', null, null]);
});

onEachDatabase(
  'the list is filtered by recipient, purpose and state, and its pages have each mail once',
  async ({ db }) => {
    await addAccount(db, 'ada');
    await addAccount(db, 'bob');
    const log = newLog(db);
    for (let index = 0; index < 7; index++) {
      const template = index === 3 ? 'invitation' : 'password_changed';
      const to = index % 2 === 0 ? 'ada@example.com' : 'bob@example.com';
      const createdAt = now + Math.floor(index / 3);
      await record(db, { ...mailTo(to, String(index)), template, createdAt }, index === 4 ? 'it failed' : null);
    }
    const newestFirst = ['msg_6', 'msg_5', 'msg_4', 'msg_3', 'msg_2', 'msg_1', 'msg_0'];
    assert.deepEqual(idsOf(await log.page({})), newestFirst);
    assert.deepEqual(idsOf(await log.page({ to: 'ADA@example.com' })), ['msg_6', 'msg_4', 'msg_2', 'msg_0']);
    assert.deepEqual(idsOf(await log.page({ to: 'bob@example.com', purpose: 'invitation' })), ['msg_3']);
    assert.deepEqual(idsOf(await log.page({ state: 'failed' })), ['msg_4']);
    for (const to of ['nobody@example.com', 'no email address', "' or ''='"])
      assert.deepEqual(await log.page({ to }), { mails: [], nextCursor: null });
    for (const search of [{}, { to: 'ada@example.com' }]) {
      const seen: string[] = [];
      let cursor: string | null | undefined;
      do {
        const page = await log.page({ ...search, limit: '2', ...(cursor ? { cursor } : {}) });
        seen.push(...idsOf(page));
        cursor = page.nextCursor;
      } while (cursor !== null);
      assert.deepEqual(seen, idsOf(await log.page(search)));
    }
  },
);

onEachDatabase('entries are deleted after 30 days, and beyond the bound', async ({ db }) => {
  await addAccount(db, 'ada');
  const clock = new FakeClock(now);
  const log = newLog(db, clock);
  for (const [id, createdAt] of [
    ['old', now],
    ['kept', now + 1],
    ['new', now + 2],
  ] as const)
    await record(db, { ...mailTo('ada@example.com', id), createdAt });
  clock.advance({ seconds: (limits.mailLogKeptDays * dayMs) / 1000 });
  await log.deleteOld();
  assert.equal(limits.mailLogKeptDays, 30);
  assert.deepEqual(idsOf(await log.page({})), ['msg_new', 'msg_kept', 'msg_old']);
  clock.advance({ seconds: 0.001 });
  await log.deleteOld();
  assert.deepEqual(idsOf(await log.page({})), ['msg_new', 'msg_kept']);
  assert.equal(await deleteExcessMail(db, 1, 10), 1);
  assert.deepEqual(idsOf(await log.page({})), ['msg_new']);
});

const insertMany = sql('test_insert_many_mails', {
  sqlite: `insert into mail_log (id, account_pk, email, email_key, purpose, created_at, tried_at, attempt_count)
    select 'msg_many' || value, pk, 'x', 'x', 'x', value, value, 1 from accounts, json_each($2) where accounts.id = $1`,
  postgres: `insert into mail_log (id, account_pk, email, email_key, purpose, created_at, tried_at, attempt_count)
    select 'msg_many' || value, pk, 'x', 'x', 'x', value::bigint, value::bigint, 1
    from accounts, json_array_elements_text($2::json) value where accounts.id = $1`,
});
const signedUp = sql('test_signed_up', 'update accounts set unverified_since = $2, signed_up_at = $2 where id = $1');

onEachDatabase('neither one account nor strangers who sign up push out the mail of others', async ({ db }) => {
  const [ada, eve] = [await addAccount(db, 'ada'), await addAccount(db, 'eve')];
  await record(db, mailTo('eve@example.com'));
  const max = limits.mailLogPerAccountMax;
  const times = JSON.stringify(Array.from({ length: max }, (_, index) => now - max + index));
  await db.transaction((tx) => tx.run(insertMany, [ada, times]));
  await record(db, { ...mailTo('ada@example.com'), createdAt: now + 1 });
  const ids = async () => (await db.all(selectIds)).map(({ id }) => id);
  const kept = await ids();
  assert.deepEqual([kept.length, kept[0]], [max + 1, `msg_many${now - max + 1}`]);
  assert.deepEqual(kept.slice(-2), ['msg_eve@example.com', 'msg_ada@example.com']);

  await addAccount(db, 'late');
  await record(db, { ...mailTo('late@example.com'), createdAt: now + 9 });
  await db.transaction((tx) => tx.run(signedUp, ['acc_late', now]));
  assert.equal(await deleteExcessMail(db, max + 2, 10), 0);
  assert.equal(await deleteExcessMail(db, max, 10), 2);
  assert.deepEqual(await ids(), kept.slice(1), 'the mail of the sign-up, and the oldest one');
  assert.equal((await newLog(db).page({ to: 'eve@example.com' })).mails[0]?.accountId, eve);
});

const selectIds = sql<{ id: string }>('test_all_mail_ids', 'select id from mail_log order by created_at, id');
const selectAll = sql<Record<string, unknown>>('test_all_mail', 'select * from mail_log');

/** As a new administrator, because the clock advances. */
async function readPage(app: TestApp, query = ''): Promise<MailPage> {
  const answer = await administer(app, await newAdministrator(app), 'GET', `mail?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as MailPage;
}

testOnBoth(
  'administrators see to whom which mail was sent, without links and codes, until the account is deleted',
  async () => {
    let refusal: string | undefined;
    await using mailbox = await Mailbox.start({ refuse: () => refusal });
    await using app = await newApp({ environment: { ...mailbox.environment, KEYREEVE_SIGNUP: 'open' } });
    const client = new AccountClient(app, mailbox);
    const email = 'ada@example.com';
    await client.signUp(email);
    const message = await mailbox.next({ to: email });
    const code = codeIn(message);
    assert.equal((await client.verifyEmail(code)).status, 200);
    const { mailLog } = app.service.services;
    const listed = async (search: Parameters<MailLog['page']>[0] = {}): Promise<unknown[]> =>
      (await mailLog.page({ to: email, ...search })).mails.map(({ purpose, state, lastFailure }) => [
        purpose,
        state,
        lastFailure,
      ]);
    await until('the sign-up is listed', async () => (await listed()).length === 1);
    assert.deepEqual(await listed({ purpose: 'verify_email' }), [['verify_email', 'delivered', null]]);
    const stored = JSON.stringify([await app.db.all(selectAll), await readPage(app)]);
    for (const secret of [code, message.subject, 'krvc_', 'http']) assert.ok(!stored.includes(secret), secret);

    refusal = '451 4.7.1 try again later';
    assert.equal((await app.call('POST', '/auth/password-resets', { json: { email } })).status, 202);
    await until('the reset waits', async () => {
      app.clock.advance({ seconds: 1 });
      return (await listed({ state: 'waiting' })).length === 1;
    });
    const [reset] = (await readPage(app, 'state=waiting')).mails;
    assert.deepEqual([reset?.purpose, reset?.to], ['reset_password', email]);
    assert.match(reset?.lastFailure ?? '', /451 4\.7\.1 try again later/);
    assert.ok(Date.parse(reset?.nextAttemptAt ?? '') > Date.parse(reset?.lastAttemptAt ?? ''));

    // To an email address without an account: a job, and no mail.
    await app.call('POST', '/auth/password-resets', { json: { email: 'nobody@example.com' } });
    refusal = undefined;
    const { accessToken } = await client.signIn(email);
    const deletion = { currentPassword: goodPassword };
    const deleted = await app.call('DELETE', '/auth/account', { headers: bearer(accessToken), json: deletion });
    assert.equal(deleted.status, 204, deleted.text);
    await mailbox.next({ to: email, subject: 'deleted' });
    await until('no job waits', async () => {
      app.clock.advance({ seconds: 5 });
      return (await app.service.services.outbox.waiting()).length === 0;
    });
    assert.deepEqual(await app.db.all(selectAll), []);
  },
);

test('the list of mail rejects invalid queries, and requires an administrator', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  assert.deepEqual(await readPage(app), { mails: [], nextCursor: null });
  for (const query of [
    'to=',
    `to=${'a'.repeat(255)}`,
    'purpose=other',
    'state=lost',
    'limit=0',
    'cursor=!',
    'cursor=IA',
    'other=1',
  ])
    assertProblem(fromFetch(await administer(app, administrator, 'GET', `mail?${query}`)), 'invalid_request', query);
  const { accessToken } = await app.signIn();
  assertProblem(fromFetch(await administer(app, { accessToken }, 'GET', 'mail')), 'administrator_required');
});
