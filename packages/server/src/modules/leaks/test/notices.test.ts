/** Mail and webhook messages about leaked secrets: to whom, with what, and how many. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { newAccountClient } from '../../../../test-kit/account-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { operator } from '../../../../test-kit/new-app.ts';
import { addAccount, addServiceAccount, keys, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { makeKey } from '../../api-keys/key-format.ts';
import { Mailer, type MailMessage } from '../../mail/mail.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { claimJobs } from '../../outbox/store.ts';
import type { LeakedSecret, Reporter } from '../leak.ts';
import { Leaks } from '../leaks.ts';
import { LeakMail } from '../notices.ts';

test('the owner gets one mail for a report, which lists each key once and contains no secret', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  await client.newAccount('ada@example.com');
  const { accounts, apiKeys, keyChanges, leaks } = app.service.services;
  const { id: accountId } = await accounts.find('ada@example.com');
  const [ci, laptop] = [
    await apiKeys.create(operator, accountId, { nickname: 'ci' }),
    await apiKeys.create(operator, accountId, { nickname: 'laptop' }),
  ];
  const rotate = (id: number) => keyChanges.rotate(operator, accountId, id, { overlapSeconds: 60, endPrevious: false });
  const newCi = (await rotate(ci.id)).secret.reveal();
  const newLaptop = (await rotate(laptop.id)).secret.reveal();
  const { text: both, subject } = await mailOf([ci.secret.reveal(), newCi, laptop.secret.reveal()]);
  assert.match(subject, /have leaked and are disabled$/);
  assert.ok(both.includes(`\n\nci (${ci.id}, krv_…${newCi.slice(-4)})\n\n`), both);
  assert.ok(both.includes(`\n\nlaptop (${laptop.id})\n\n`), both);
  assert.match(both, /of ada@example\.com\..* Number of keys: 1\./s);

  await keyChanges.endPrevious(operator, accountId, laptop.id).catch(() => undefined);
  await rotate(laptop.id);
  const { text: previous, subject: ended } = await mailOf([newLaptop]);
  assert.match(ended, /have leaked and have ended$/);
  assert.ok(previous.includes(`\n\nlaptop (${laptop.id})\n\n`), previous);
  for (const secret of [newCi, newLaptop])
    for (const text of [both, previous]) assert.equal(text.includes(secret), false);

  async function mailOf(texts: readonly string[]): Promise<{ subject: string; text: string }> {
    await client.untilOutboxEmpty();
    const before = mailbox.messages.length;
    await leaks.report(
      operator,
      texts.map((text) => ({ text })),
    );
    await client.untilOutboxEmpty();
    // A report without an effect sends none.
    await leaks.report(
      operator,
      texts.map((text) => ({ text })),
    );
    await client.untilOutboxEmpty();
    const [mail, ...others] = mailbox.messages.slice(before);
    assert.ok(mail);
    assert.deepEqual([mail.to, others], [['ada@example.com'], []]);
    return { subject: mail.subject, text: mail.text.replaceAll('\r\n', '\n') };
  }
});

const possessor = { kind: 'possessor', from: null } as const;

const leaked = (accountId: string, keyId: number, secret: LeakedSecret['secret'] = 'current'): LeakedSecret => ({
  secret,
  keyId,
  accountId,
  nickname: `key ${keyId}`,
  hint: null,
});

async function queue(
  db: Db,
  secrets: readonly LeakedSecret[],
  isMailConfigured = true,
  reporter: Reporter = possessor,
): Promise<void> {
  const outbox = new Outbox({ db, clock: new FakeClock(now), seal: keys.outboxSeal });
  const mail = new LeakMail({ mailer: new Mailer(outbox, isMailConfigured), bucketHash: keys.rateLimitBucket });
  await db.transaction((tx) => mail.queueTx(tx, reporter, secrets, now));
}

/** @returns the recipients with the template, sorted */
async function queued(db: Db): Promise<string[]> {
  const jobs = await claimJobs(db, 'mail', { now, claimedUntil: now + 1_000, max: 1_000 });
  const messages = jobs.map(({ id, payload }) => JSON.parse(keys.outboxSeal.open(id, payload)) as MailMessage);
  return messages.map(({ to, template }) => `${to} ${template}`).toSorted();
}

onEachDatabase('each account of a report gets its mail, and managers of a service account theirs', async ({ db }) => {
  const [ada, bob] = [await addAccount(db), await addAccount(db, 'bob')];
  const service = await addServiceAccount(db, [ada, bob], 'service');
  await queue(db, [leaked(service, 1), leaked(bob, 2, 'previous'), leaked(service, 3, 'short_lived')]);
  assert.deepEqual(await queued(db), [
    'ada@Example.com keys_leaked',
    'bob@Example.com key_secrets_ended',
    'bob@Example.com keys_leaked',
  ]);
});

onEachDatabase('a service without a mail server sends no mail about leaks', async ({ db }) => {
  await queue(db, [leaked(await addAccount(db), 1)], false);
  assert.deepEqual(await queued(db), []);
});

onEachDatabase('mails about ended secrets are bounded, and suppress no mails about disabled keys', async ({ db }) => {
  const ada = await addAccount(db);
  const max = limits.keyMailsPerHourMax;
  for (let n = 0; n <= max; n++) await queue(db, [leaked(ada, 1, 'short_lived')]);
  await queue(db, [leaked(ada, 1)]);
  assert.deepEqual(await queued(db), [
    ...Array.from({ length: max }, () => 'ada@Example.com key_secrets_ended'),
    'ada@Example.com keys_leaked',
  ]);
});

onEachDatabase('mails about reports of the operator and of GitHub are not bounded', async ({ db }) => {
  const ada = await addAccount(db);
  const max = limits.keyMailsPerHourMax;
  for (let n = 0; n <= max; n++) await queue(db, [leaked(ada, 1)]);
  for (const reporter of [operator, { kind: 'github' }] as const)
    for (let n = 0; n <= max; n++) await queue(db, [leaked(ada, 1)], true, reporter);
  assert.equal((await queued(db)).length, max + 2 * (max + 1));
});

onEachDatabase('secrets of an account among many other texts cause one mail', async ({ db }) => {
  const ada = await addAccount(db);
  const clock = new FakeClock(now);
  const { apiKeys } = wireOn(db, { clock });
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal });
  const leaks = new Leaks({
    db,
    clock,
    revocations: undefined,
    hash: keys.apiKeyHash,
    keyPrefixes: ['krv'],
    pending: apiKeys.pending,
    notices: new LeakMail({ mailer: new Mailer(outbox, true), bucketHash: keys.rateLimitBucket }),
  });
  const texts: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { secret } = await apiKeys.create(operator, ada, { nickname: `key ${n}` });
    texts.push(secret.reveal(), ...Array.from({ length: 255 }, () => makeKey('krv').reveal()));
  }
  const results = await leaks.report(
    operator,
    texts.map((text) => ({ text })),
  );
  assert.equal(results.filter((result) => result === 'current').length, 3);
  assert.deepEqual(await queued(db), ['ada@Example.com keys_leaked']);
});
