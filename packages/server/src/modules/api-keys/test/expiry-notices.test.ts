/** Expiry notices: an audit event for each key and one mail for each account, once, 14 and 3 days before the expiry. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import { newAccountClient } from '../../../../test-kit/account-client.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { goodPassword, operator } from '../../../../test-kit/new-app.ts';
import { addAccount, addKey, addServiceAccount, keys, now } from '../../../../test-kit/rows.ts';
import { onEachDatabase, raceToValues, rivalsMin } from '../../../../test-kit/store-on-each-database.ts';
import type { Clock } from '../../../foundation/clock.ts';
import { Secret } from '../../../foundation/crypto/secret.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { Mailer } from '../../mail/mail.ts';
import { Outbox } from '../../outbox/outbox.ts';
import { claimJobs } from '../../outbox/store.ts';
import { ExpiryNotices } from '../expiry-notices.ts';
import { disableAccount } from '../../../../test-kit/store-changes.ts';

const noticesOn = (db: Db, clock: Clock, keysPerCommitMax?: number): ExpiryNotices => {
  const outbox = new Outbox({ db, clock, seal: keys.outboxSeal });
  const options = { db, clock, mailer: new Mailer(outbox, true) };
  return new ExpiryNotices(keysPerCommitMax === undefined ? options : { ...options, keysPerCommitMax });
};

/** Targets of the events, by id. */
const noticedKeys = async (db: Db): Promise<number[]> =>
  (await listAuditEvents(db))
    .filter(({ action }) => action === 'api_key.expiring')
    .map(({ target }) => Number(target))
    .toSorted((a, b) => a - b);

interface QueuedMail {
  readonly to: string;
  readonly template: string;
  readonly data: {
    readonly day: string;
    readonly owner: string;
    readonly count: number;
    readonly keys: readonly string[];
  };
}

async function queuedMails(db: Db, clock: FakeClock): Promise<QueuedMail[]> {
  const at = clock.now();
  const jobs = await claimJobs(db, 'mail', { now: at, claimedUntil: at + 1_000, max: 1_000 });
  return jobs.map(({ id, payload }) => JSON.parse(keys.outboxSeal.open(id, payload)) as QueuedMail);
}

test('the owner gets one mail and the audit log one event, 14 and 3 days before a key expires', async () => {
  await using client = await newAccountClient();
  const { app, mailbox } = client;
  await client.newAccount('ada@example.com');
  const { accounts, apiKeys, expiryNotices } = app.service.services;
  const { id: accountId } = await accounts.find('ada@example.com');
  const expiresAt = app.clock.now() + 30 * dayMs;
  const { id, secret } = await apiKeys.create(operator, accountId, { nickname: 'laptop', scopes: [], expiresAt });
  await apiKeys.create(operator, accountId, { nickname: 'forever', scopes: [] });
  await client.untilOutboxEmpty();
  const before = mailbox.messages.length;
  const daysOfEvents: number[] = [];
  for (let day = 1; day <= 31; day++) {
    app.clock.advance({ days: 1 });
    const given = (await noticedKeys(app.db)).length;
    await expiryNotices.send();
    await expiryNotices.send();
    if ((await noticedKeys(app.db)).length > given) daysOfEvents.push(day);
  }
  assert.deepEqual(daysOfEvents, [16, 27]);
  await client.untilOutboxEmpty();
  const mails = mailbox.messages.slice(before);
  assert.equal(mails.length, 2);
  const hint = `krv_…${secret.reveal().slice(-4)}`;
  for (const { to, subject, text } of mails) {
    assert.deepEqual(to, ['ada@example.com']);
    assert.match(subject, /expire on 2026-12-21$/);
    assert.ok(text.includes(`laptop (${id}, ${hint}): 2026-12-21 09:30 UTC`), text);
    assert.doesNotMatch(text, /forever/);
    assert.equal(text.includes(secret.reveal()), false);
  }
  const events = (await listAuditEvents(app.db)).filter(({ action }) => action === 'api_key.expiring');
  const details = `{"nickname":"laptop","expiresAt":"${new Date(expiresAt).toISOString()}"}`;
  const expected = ['system', accountId, String(id), details];
  assert.deepEqual(
    events.map((event) => [event.actor, event.accountId, event.target, event.details]),
    [expected, expected],
  );
});

testOnBoth('a changed expiry starts the notices again', async () => {
  await using client = await newAccountClient();
  const { app } = client;
  const { accounts, apiKeys, keyChanges, expiryNotices } = app.service.services;
  const { id: accountId } = await accounts.create(operator, 'ada@example.com', new Secret(goodPassword), 'user');
  const key = { nickname: 'laptop', scopes: [], expiresAt: app.clock.now() + 20 * dayMs };
  const { id } = await apiKeys.create(operator, accountId, key);
  app.clock.advance({ days: 6 });
  await expiryNotices.send();
  assert.deepEqual(await noticedKeys(app.db), [id]);
  await keyChanges.change(operator, accountId, id, { expiresAt: app.clock.now() + 20 * dayMs });
  for (let day = 0; day < 20; day++) {
    app.clock.advance({ days: 1 });
    await expiryNotices.send();
  }
  assert.deepEqual(await noticedKeys(app.db), [id, id, id]);
});

const disableKey = sql('test_disable_key', 'update api_keys set disabled_at = 1 where id = $1');
const unverify = (column: string) => sql(`test_${column}`, `update accounts set ${column} = 1 where id = $1`);

const at = (days: number): number => now + days * dayMs;

onEachDatabase('disabled accounts, disabled keys and keys with a short lifetime get no notice', async ({ db }) => {
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  await addAccount(db, 'ada');
  await addAccount(db, 'off');
  await addKey(db, 'acc_ada', 'noticed', { id: 1, expiresAt: at(16) });
  await addKey(db, 'acc_ada', 'short', { id: 2, expiresAt: at(16) - dayMs / 2, now: at(2) });
  await addKey(db, 'acc_ada', 'without expiry', { id: 3 });
  await addKey(db, 'acc_ada', 'disabled', { id: 5, expiresAt: at(16) });
  await db.transaction((tx) => tx.run(disableKey, [5]));
  await addKey(db, 'acc_off', 'of a disabled account', { id: 4, expiresAt: at(16) });
  await disableAccount(db, { principal: operator, now }, 'acc_off');
  clock.advance({ days: 2 });
  await noticesOn(db, clock).send();
  assert.deepEqual(await noticedKeys(db), [1]);
  assert.deepEqual(
    (await queuedMails(db, clock)).map(({ to, data }) => [to, data.count]),
    [['ada@Example.com', 1]],
  );
});

onEachDatabase('an account without a verified email address gets events and no mail', async ({ db }) => {
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  const columns = { new: 'unverified_since', changed: 'email_unconfirmed_since' };
  for (const [name, column] of Object.entries(columns)) {
    await addAccount(db, name);
    await addKey(db, `acc_${name}`, 'laptop', { id: name.length, expiresAt: at(16) });
    await db.transaction((tx) => tx.run(unverify(column), [`acc_${name}`]));
  }
  clock.advance({ days: 2 });
  await noticesOn(db, clock).send();
  assert.deepEqual(await noticedKeys(db), [3, 7]);
  assert.deepEqual(await queuedMails(db, clock), []);
});

onEachDatabase('many keys of an account that expire on one day are in one mail, in bounded commits', async ({ db }) => {
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  for (const name of ['ada', 'bob', 'eve']) await addAccount(db, name);
  const counts = { ada: 5, bob: limits.expiryNoticeKeysMax + 6, eve: 1 };
  let id = 0;
  for (const [name, count] of Object.entries(counts)) {
    for (let left = count; left > 0; left--) {
      const expiresAt = at(16) + id++ * 60_000;
      await addKey(db, `acc_${name}`, `key ${id}`, { id, expiresAt });
    }
  }
  clock.advance({ days: 2 });
  await noticesOn(db, clock, 3).send();
  assert.deepEqual(
    await noticedKeys(db),
    Array.from({ length: id }, (_, index) => index + 1),
  );
  const mails = (await queuedMails(db, clock)).toSorted((a, b) => a.to.localeCompare(b.to));
  assert.deepEqual(
    mails.map(({ to, template, data }) => [to, template, data.day, data.count]),
    [
      ['ada@Example.com', 'keys_expiring', '2026-12-07', 5],
      ['bob@Example.com', 'keys_expiring', '2026-12-07', limits.expiryNoticeKeysMax + 6],
      ['eve@Example.com', 'keys_expiring', '2026-12-07', 1],
    ],
  );
  for (const { data } of mails) assert.ok(data.keys.length >= 1 && data.keys.length <= limits.expiryNoticeKeysMax);
});

onEachDatabase('a service account has one mail to each of its managers that are persons', async ({ db }) => {
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  const [ada, bob] = [await addAccount(db, 'ada'), await addAccount(db, 'bob')];
  const backend = await addServiceAccount(db, [ada], 'backend');
  const service = await addServiceAccount(db, [ada, bob, backend], 'service');
  for (const id of [1, 2]) await addKey(db, service, `key ${id}`, { id, expiresAt: at(16) });
  clock.advance({ days: 2 });
  await noticesOn(db, clock, 1).send();
  const mails = (await queuedMails(db, clock)).toSorted((a, b) => a.to.localeCompare(b.to));
  assert.deepEqual(
    mails.map(({ to, data }) => [to, data.owner, data.count]),
    [
      ['ada@Example.com', 'service (acc_service)', 2],
      ['bob@Example.com', 'service (acc_service)', 2],
    ],
  );
});

onEachDatabase('several instances give each notice once', async (opened) => {
  const { db } = opened;
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  for (const name of ['ada', 'bob']) {
    await addAccount(db, name);
    for (let n = 0; n < 4; n++) {
      const id = (name === 'ada' ? 10 : 20) + n;
      await addKey(db, `acc_${name}`, `key ${n}`, { id, expiresAt: at(16) });
    }
  }
  clock.advance({ days: 2 });
  await raceToValues(opened, rivalsMin, (connection) => noticesOn(connection, clock, 2).send());
  assert.deepEqual(await noticedKeys(db), [10, 11, 12, 13, 20, 21, 22, 23]);
  assert.equal((await queuedMails(db, clock)).length, 2);
});

onEachDatabase('after a standstill, a key gets only the shorter notice, and an expired one none', async ({ db }) => {
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  await addAccount(db, 'ada');
  await addKey(db, 'acc_ada', 'expired', { id: 1, expiresAt: at(20) });
  await addKey(db, 'acc_ada', 'soon', { id: 2, expiresAt: at(32) });
  await addKey(db, 'acc_ada', 'later', { id: 3, expiresAt: at(40) });
  await addKey(db, 'acc_ada', 'much later', { id: 4, expiresAt: at(60) });
  clock.advance({ days: 30 });
  await noticesOn(db, clock).send();
  assert.deepEqual(await noticedKeys(db), [2, 3]);
  const mails = await queuedMails(db, clock);
  assert.equal(mails.length, 2);
});

onEachDatabase('after a clock was a year ahead, each later day of expiry gets its notices, once', async (opened) => {
  const { db } = opened;
  const clock = new FakeClock(now);
  await noticesOn(db, clock).send();
  await noticesOn(db, new FakeClock(at(365))).send();
  await addAccount(db, 'ada');
  await addKey(db, 'acc_ada', 'laptop', { id: 1, expiresAt: at(16) });
  clock.advance({ days: 1 });
  await raceToValues(opened, rivalsMin, (connection) => noticesOn(connection, clock).send());
  assert.deepEqual(await noticedKeys(db), []);
  clock.advance({ days: 1 });
  // The clock of another instance is a day ahead.
  await noticesOn(db, new FakeClock(at(3))).send();
  for (let times = 0; times < 2; times++) await noticesOn(db, clock).send();
  await noticesOn(db, new FakeClock(at(3))).send();
  assert.deepEqual(await noticedKeys(db), [1]);
  clock.advance({ days: 11 });
  await noticesOn(db, clock).send();
  assert.deepEqual(await noticedKeys(db), [1, 1]);
});

onEachDatabase('on PostgreSQL, the clock of the database decides which notices are due', async ({ db }) => {
  const real = Date.now();
  const expiresAt = real + 30 * dayMs;
  const year = { now: () => real + 365 * dayMs, isSystem: true };
  await noticesOn(db, new FakeClock(real)).send();
  await addAccount(db, 'ada');
  await addKey(db, 'acc_ada', 'laptop', { id: 1, expiresAt });
  await addKey(db, 'acc_ada', 'much later', { id: 2, expiresAt: real + 379 * dayMs });
  await noticesOn(db, year).send();
  assert.deepEqual(await noticedKeys(db), db.dialect === 'postgres' ? [] : [2]);
});
