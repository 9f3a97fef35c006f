/** Mail about keys that another account or an operator created: to whom, and how many. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { newAccountClient } from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { operator } from '../../../../test-kit/new-app.ts';
import { addAccount, addServiceAccount, addSession, keys, newKey, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { DomainError } from '../../../foundation/errors.ts';
import type { Principal } from '../../../foundation/principal.ts';
import { Mailer } from '../../mail/mail.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { claimJobs } from '../../outbox/store.ts';
import { CreationNotices } from '../creation-notices.ts';
import { listRecipients } from '../key-mail-store.ts';
import { createKey, type NewKey } from '../new-key.ts';
import { disableAccount } from '../../../../test-kit/store-changes.ts';

test('the owner gets a mail when an operator creates a key, and none for an own key', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  const tokens = await client.newAccount('ada@example.com');
  const { accounts, apiKeys } = app.service.services;
  const { id: accountId } = await accounts.find('ada@example.com');
  await client.untilOutboxEmpty();
  const before = mailbox.messages.length;
  await client.as(tokens, 'POST', '/auth/api-keys', { nickname: 'own' });
  const key = { nickname: 'build server', scopes: ['orders:read', 'orders:write'] };
  const { id, secret } = await apiKeys.create(operator, accountId, key);
  await client.untilOutboxEmpty();
  const [mail, ...others] = mailbox.messages.slice(before);
  assert.ok(mail);
  assert.deepEqual(others, []);
  assert.deepEqual(mail.to, ['ada@example.com']);
  assert.match(mail.subject, /^An API key was created at /);
  const text = mail.text.replaceAll('\r\n', '\n');
  assert.ok(text.includes(`build server (${id}, krv_…${secret.reveal().slice(-4)})\n`), text);
  assert.match(text, /\n\norders:read\norders:write\n\n/);
  assert.equal(text.includes(secret.reveal()), false);
});

const noticesOn = (db: Db, isMailConfigured = true): CreationNotices => {
  const outbox = new Outbox({ db, clock: new FakeClock(now), seal: keys.outboxSeal });
  return new CreationNotices({ mailer: new Mailer(outbox, isMailConfigured), bucketHash: keys.rateLimitBucket });
};

/** @returns the recipients, sorted */
async function recipients(db: Db): Promise<string[]> {
  const jobs = await claimJobs(db, 'mail', { now, claimedUntil: now + 1_000, max: 1_000 });
  return jobs.map(({ id, payload }) => (JSON.parse(keys.outboxSeal.open(id, payload)) as { to: string }).to).toSorted();
}

const create = (db: Db, principal: Principal, key: NewKey, creationNotices = noticesOn(db)) =>
  createKey(db, principal, key, { keysMax: 1_000, creationNotices });
const unconfirm = sql('test_unconfirm', 'update accounts set email_unconfirmed_since = 1 where id = $1');

onEachDatabase(
  'an account whose email address is an earlier one after a restore gets no mail about a created key',
  async ({ db }) => {
    const ada = await addAccount(db);
    // An owner whose email address was never verified cannot have keys.
    await db.transaction((tx) => tx.run(unconfirm, [ada]));
    await create(db, operator, newKey(ada, 'laptop'));
    assert.deepEqual(await recipients(db), []);
  },
);

onEachDatabase('a rejected creation and a service without a mail server send no mail', async ({ db }) => {
  const ada = await addAccount(db);
  await create(db, operator, newKey(ada, 'laptop'), noticesOn(db, false));
  await assert.rejects(
    create(db, operator, newKey(ada, 'laptop')),
    (error) => error instanceof DomainError && error.code === 'nickname_taken',
  );
  assert.deepEqual(await recipients(db), []);
});

onEachDatabase('an account gets a bounded number of mails about created keys in an hour', async ({ db }) => {
  const ada = await addAccount(db);
  const max = limits.keyMailsPerHourMax;
  for (let n = 0; n <= max; n++) await create(db, operator, newKey(ada, `key ${n}`));
  assert.deepEqual(
    await recipients(db),
    Array.from({ length: max }, () => 'ada@Example.com'),
  );
});

onEachDatabase('the managers of a service account get a mail, except the one that created the key', async ({ db }) => {
  const [ada, bob, eve] = [await addAccount(db), await addAccount(db, 'bob'), await addAccount(db, 'eve')];
  await addAccount(db, 'stranger');
  const backend = await addServiceAccount(db, [ada], 'backend');
  const service = await addServiceAccount(db, [ada, bob, eve, backend], 'service');
  await disableAccount(db, { principal: operator, now }, eve);
  await addSession(db, ada, 'one');
  await create(db, { kind: 'account', accountId: ada, sessionId: 'ses_one' }, newKey(service, 'laptop'));
  assert.deepEqual(await recipients(db), ['bob@Example.com']);
  await create(db, operator, newKey(service, 'build server'));
  assert.deepEqual(await recipients(db), ['ada@Example.com', 'bob@Example.com']);
});

test('a management key sends no mail about the keys that it creates', async () => {
  await using client = await newAccountClient();
  const notices = noticesOn(client.app.db);
  assert.equal(
    notices.isNeeded({ kind: 'key', keyId: 1, accountId: 'acc_backend', lookup: 1, addresses: null }, 'acc_tenant'),
    false,
  );
});

onEachDatabase('an account that has created more service accounts than a person gets no mail', async ({ db }) => {
  const [ada, eve] = [await addAccount(db), await addAccount(db, 'eve')];
  const max = limits.keyMailServiceAccountsMax;
  for (let n = 0; n < max; n++) await addServiceAccount(db, [ada], `tenant${n}`);
  // Another account cannot end the mail by adding it as a manager.
  await addServiceAccount(db, [eve, ada], 'junk');
  const [recipient, ...others] = await listRecipients(db, 'acc_tenant0');
  const expected = { accountId: ada, email: 'ada@Example.com', owner: 'tenant0 (acc_tenant0)' };
  assert.deepEqual([{ ...recipient }, others], [expected, []]);
  await addServiceAccount(db, [ada], 'another');
  assert.deepEqual(await listRecipients(db, 'acc_tenant0'), []);
});
