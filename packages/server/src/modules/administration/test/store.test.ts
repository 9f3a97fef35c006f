/** Administration when a database connection breaks, and searches that read more rows than one page may. */
import assert from 'node:assert/strict';
import { dayMs } from '../../../foundation/clock.ts';
import { setEmailTx } from '../../accounts/credentials-store.ts';
import { insertCodeTx } from '../../one-time-codes/store.ts';
import { repeatChangesTx } from '../../backup/replay-changes.ts';
import { findUndoableChange, insertEmailChangeTx } from '../../accounts/email-change-store.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { findAccounts, findDetail } from '../store.ts';
import { testConfig } from '../../../../test-kit/test-config.ts';
import { claimInstallation } from '../../../../test-kit/installation.ts';
import { claimJobs } from '../../outbox/store.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { withTransaction } from '../../../../test-kit/wrapped-db.ts';
import type { Services } from '../../../app/wiring/wire.ts';
import { wireOn } from '../../../../test-kit/wire-on.ts';
import { behind, Line } from '../../../../test-kit/broken-connection.ts';
import { codeOf, onEachDatabase, raceToValues, rivalsMin, tally } from '../../../../test-kit/store-on-each-database.ts';
import { addAccount, keys, now, operator } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';
import { setAccountRole } from '../../../../test-kit/store-changes.ts';

const mail = { KEYREEVE_SMTP_URL: 'smtp://127.0.0.1:1', KEYREEVE_MAIL_FROM: 'a@example.com' };

type Change = (services: Services, id: string) => Promise<unknown>;

onEachDatabase(
  'a page of accounts reads a limited number of rows and returns where the next page starts',
  async ({ db }) => {
    for (const name of ['a1', 'b1', 'c1', 'd1', 'e2', 'f1', 'g2']) await addAccount(db, name);
    const wanted = { text: '2@', role: '', kind: '', state: '' } as const;
    const seen: string[] = [];
    const scanned: (string | undefined)[] = [];
    let after: string | undefined = '';
    while (after !== undefined) {
      const part = { after, limit: 10, rowsMax: 3 };
      const page: Awaited<ReturnType<typeof findAccounts>> = await findAccounts(db, wanted, part);
      seen.push(...page.rows.map(({ id }) => id));
      scanned.push(page.scannedUntil);
      after = page.scannedUntil;
    }
    assert.deepEqual(seen, ['acc_e2', 'acc_g2']);
    assert.deepEqual(scanned, ['c1@example.com', 'f1@example.com', undefined]);
    const any = { text: '', role: '', kind: '', state: '' } as const;
    const full = await findAccounts(db, any, { after: '', limit: 2, rowsMax: 3 });
    assert.deepEqual([full.rows.length, full.scannedUntil], [2, 'b1@example.com']);
  },
);

onEachDatabase('one administrator remains if all concurrently give up the role', async (opened) => {
  const { db } = opened;
  // The row of the installation is the lock.
  await claimInstallation(db, keys.check, now);
  const ids = await Promise.all(Array.from({ length: rivalsMin }, (_, index) => addAccount(db, `a${index}`, 'admin')));
  const outcomes = await raceToValues(opened, rivalsMin, async (connection, rival) => {
    const id = ids[rival] ?? '';
    const itself = { kind: 'account', accountId: id, sessionId: 'ses_any' } as const;
    return setAccountRole(connection, itself, { id, role: 'user', now }, async () => undefined).catch(codeOf);
  });
  assert.deepEqual(tally(outcomes), { true: rivalsMin - 1, last_administrator: 1 });
});

onEachDatabase('details are found only by the exact id', async ({ db }) => {
  await addAccount(db, 'ada');
  assert.equal((await findDetail(db, 'acc_ada', now))?.email, 'ada@Example.com');
  for (const id of ['acc_ad', 'ACC_ADA', 'acc_%', 'ada@example.com', ''])
    assert.equal(await findDetail(db, id, now), undefined, id);
});

const resets: Readonly<Record<string, Change>> = {
  'a reset by an administrator': ({ administration }, id) => administration.sendReset(operator, id),
  'the recovery of an account': ({ administration }, id) => administration.recoverAccount(operator, id),
};

for (const [what, change] of Object.entries(resets)) {
  onEachDatabase(`${what} sends its link to the email address at commit time`, async ({ db }) => {
    const ada = await addAccount(db, 'ada');
    const wanted = { email: 'new@example.com', canonicalEmail: 'new@example.com' };
    const late = withTransaction(db, async (work, options) => {
      await db.transaction((tx) => setEmailTx(tx, { principal: operator, now }, ada, wanted));
      return db.transaction(work, options);
    });
    const clock = new FakeClock();
    await change(wireOn(late, { config: testConfig(mail), clock }), ada);
    const [sent] = await claimJobs(db, 'mail', { now: clock.now(), claimedUntil: clock.now() + 1, max: 2 });
    assert.ok(sent);
    const { to } = JSON.parse(keys.outboxSeal.open(sent.id, sent.payload)) as { to: string };
    assert.equal(to, wanted.email);
  });
}

const countCodes = sql<{ count: number }>('test_count_codes', 'select count(*) as count from one_time_codes');

onEachDatabase('recovering an account without a new link invalidates earlier links as well', async ({ db }) => {
  const line = new Line();
  const clock = new FakeClock();
  const services = wireOn(behind(db, line), { config: testConfig(mail), clock });
  const ada = await addAccount(db, 'ada');
  const [at, expiresAt] = [clock.now(), clock.now() + 60_000];
  const changedAt = at - 40 * dayMs;
  const email = { email: 'old@example.com', canonicalEmail: 'old@example.com' };
  const undo = Buffer.alloc(32, 3);
  await db.transaction(async (tx) => {
    for (const [index, purpose] of (
      ['reset_password', 'change_email', 'set_email', 'undo_email_change'] as const
    ).entries())
      await insertCodeTx(tx, {
        hash: Buffer.alloc(32, index),
        purpose,
        accountId: ada,
        email,
        now: changedAt,
        expiresAt,
      });
    await insertEmailChangeTx(tx, { accountId: ada, ...email, changedAt });
  });
  line.state = 'cut before';
  await assert.rejects(
    services.administration.recoverAccount(operator, ada),
    (error) => codeOf(error) === 'unavailable',
  );
  // A restore makes the email address unconfirmed, so the account gets no link.
  await db.transaction((tx) => repeatChangesTx(tx, 'email_changed', [{ id: ada, at }], at));
  assert.ok(await findUndoableChange(db, undo, at));
  line.state = 'whole';
  const isDone = async () => (await listAuditEvents(db)).some(({ action }) => action === 'account.compromised');
  await until('the change is completed', isDone);
  assert.equal((await db.get(countCodes, []))?.count, 0);
  assert.equal(await findUndoableChange(db, undo, at), undefined);
  assert.equal((await findDetail(db, ada, at))?.hasPassword, 0);
  assert.equal((await claimJobs(db, 'mail', { now: at, claimedUntil: at + 1, max: 2 })).length, 0);
});
