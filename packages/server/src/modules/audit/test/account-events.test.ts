/** Each change of an account is recorded in the same commit, and does not happen if it cannot be recorded. */
import assert from 'node:assert/strict';
import type { AuditAction } from '../audit.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { codeIn } from '../../../../test-kit/mailbox.ts';
import { goodPassword, type Answered } from '../../../../test-kit/new-app.ts';
import {
  assertRejected,
  newAccountClient,
  otherPassword,
  type AccountClient,
} from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { until } from '../../../../test-kit/until.ts';

const email = 'ada@example.com';
const tables = [
  'accounts',
  'sessions',
  'api_keys',
  'one_time_codes',
  'second_factors',
  'recovery_codes',
  'outbox',
  'email_changes',
  'mail_log',
];

/** The contents of all tables that such changes write, except the audit log. */
const contents = async (db: Db): Promise<string> =>
  JSON.stringify(await Promise.all(tables.map((name) => db.all(sql(`test_all_${name}`, `select * from ${name}`)))));

const rename = (db: Db, from: string, to: string): Promise<number> =>
  db.transaction((tx) => tx.run(sql(`test_rename_${from}`, `alter table ${from} rename to ${to}`)));
const hideTrail = (db: Db): Promise<number> => rename(db, 'audit_events', 'audit_events_away');
const showTrail = (db: Db): Promise<number> => rename(db, 'audit_events_away', 'audit_events');

interface Operation {
  readonly rows: readonly (readonly [actor: 'account' | 'mailbox', action: AuditAction])[];
  /** Prepares what the request needs. @returns the request */
  readonly prepare: (client: AccountClient) => Promise<() => Promise<Answered>>;
}

const operations: Readonly<Record<string, Operation>> = {
  'a verification': {
    rows: [['mailbox', 'account.verified']],
    prepare: async (client) => {
      await client.signUp(email);
      const code = await client.verificationCode(email);
      return () => client.verifyEmail(code);
    },
  },
  'a reset that deletes a key': {
    rows: [
      ['mailbox', 'api_key.deleted'],
      ['mailbox', 'account.password_set'],
    ],
    prepare: async (client) => {
      await client.createKey(await client.newAccount(email));
      const code = await client.resetCode(email);
      return () => client.confirmReset(code, otherPassword, { revokeKeys: true });
    },
  },
  'a change of the password': {
    rows: [['account', 'account.password_set']],
    prepare: async (client) => {
      const tokens = await client.newAccount(email);
      const body = { currentPassword: goodPassword, newPassword: otherPassword };
      return () => client.as(tokens, 'PUT', '/auth/account/password', body);
    },
  },
  'a request to change the email': {
    rows: [['account', 'account.email_change_requested']],
    prepare: async (client) => {
      const tokens = await client.newAccount(email);
      const body = { email: 'new@example.com', currentPassword: goodPassword };
      return () => client.as(tokens, 'PUT', '/auth/account/email', body);
    },
  },
  'a change of the email': {
    rows: [['mailbox', 'account.email_changed']],
    prepare: async (client) => {
      const body = { email: 'new@example.com', currentPassword: goodPassword };
      await client.as(await client.newAccount(email), 'PUT', '/auth/account/email', body);
      const code = await client.nextCode('new@example.com', 'Confirm your new email');
      return () => client.post('/auth/account/email/confirm', { code, password: goodPassword });
    },
  },
  'an undone change of the email': {
    rows: [['mailbox', 'account.email_change_undone']],
    prepare: async (client) => {
      const body = { email: 'new@example.com', currentPassword: goodPassword };
      await client.as(await client.newAccount(email), 'PUT', '/auth/account/email', body);
      const code = await client.nextCode('new@example.com', 'Confirm your new email');
      await client.post('/auth/account/email/confirm', { code, password: goodPassword });
      const undo = codeIn(await client.mailbox.next({ to: email, subject: /was changed/ }));
      return () => client.post('/auth/account/email/undo', { code: undo, email });
    },
  },
  'an email that an operator has set': {
    rows: [['mailbox', 'account.email_changed']],
    prepare: async (client) => {
      const { emailSetting } = client.app.service.services;
      const { id } = await client.app.createAccount(email);
      await emailSetting.request({ kind: 'operator' }, id, 'new@example.com');
      const code = await client.nextCode('new@example.com', 'Confirm your new email');
      return () => client.post('/auth/account/email/accept', { code, email });
    },
  },
  'a deletion': {
    rows: [['account', 'account.deleted']],
    prepare: async (client) => {
      const tokens = await client.newAccount(email);
      return () => client.as(tokens, 'DELETE', '/auth/account', { currentPassword: goodPassword });
    },
  },
};

for (const [what, { rows, prepare }] of Object.entries(operations)) {
  test(`${what} is recorded with its actor, and does not happen if it cannot be recorded`, async () => {
    await using client = await newAccountClient();
    const { db } = client.app;
    const ask = await prepare(client);
    await client.untilOutboxEmpty();
    const [before, log] = [await contents(db), await listAuditEvents(db)];
    await hideTrail(db);
    assertRejected(await ask(), 'unavailable');
    await showTrail(db);
    assert.equal(await contents(db), before);
    assert.deepEqual(await listAuditEvents(db), log);

    const answer = await ask();
    assert.ok(answer.status < 300, answer.text);
    const recorded = (await listAuditEvents(db)).slice(log.length);
    assert.deepEqual(
      recorded.map(({ actor, action }) => [actor.split(':', 1)[0], action]),
      rows,
    );
    assert.equal(new Set(recorded.map(({ accountId }) => accountId)).size, 1);
    assert.ok(!JSON.stringify(recorded).includes('example.com'), 'the audit log contains no email address');
  });
}

test('a sign-up and a reset that cannot be recorded create no account, code or mail, and are retried later', async () => {
  await using client = await newAccountClient();
  const { db, clock } = client.app;
  await client.newAccount('bob@example.com');
  await client.untilOutboxEmpty();
  const log = await listAuditEvents(db);
  const ofAccounts = sql<object>(
    'test_accounts_and_codes',
    `select a.id, c.purpose from accounts a left join one_time_codes c on c.account_pk = a.pk order by a.id`,
  );
  const before = await db.all(ofAccounts);
  const failures = (): number => client.app.logLines.filter((line) => line.includes('outbox_failed')).length;
  await hideTrail(db);
  await client.signUp(email);
  await client.post('/auth/password-resets', { email: 'bob@example.com' });
  await until('both jobs have failed', () => failures() >= 2);
  assert.deepEqual(await db.all(ofAccounts), before);
  await showTrail(db);
  clock.advance({ seconds: 60 });
  assert.equal((await client.verifyEmail(await client.verificationCode(email))).status, 200);
  assert.equal((await client.confirmReset(await client.nextCode('bob@example.com', 'Set a new password'))).status, 200);
  const recorded = (await listAuditEvents(db)).slice(log.length).map(({ action }) => action);
  for (const action of ['account.created', 'account.verification_requested', 'account.password_reset_requested'])
    assert.equal(recorded.filter((one) => one === action).length, 1, action);
});
