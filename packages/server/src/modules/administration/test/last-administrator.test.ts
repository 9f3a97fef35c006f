/** Somebody is always left who can administer, however many do what at once; an operator may do otherwise. */
import assert from 'node:assert/strict';
import { sql } from '../../../foundation/database/sql.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { newApp, operator, type Answered, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { administer, problemCode, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const rivalsMax = 16;
const unverify = sql('test_unverify', `update accounts set unverified_since = 1 where id = $1`);

type Removal = (app: TestApp, by: SignedIn, id: string) => Promise<Answered>;
const removals: Readonly<Record<string, Removal>> = {
  disabled: (app, by, id) => administer(app, by, 'POST', `accounts/${id}/disable`),
  demoted: (app, by, id) => administer(app, by, 'PUT', `accounts/${id}/role`, { role: 'user' }),
  deleted: (app, by, id) => administer(app, by, 'DELETE', `accounts/${id}`),
};

/** Again while the machine is too busy to say. */
async function asked(ask: () => Promise<Answered>): Promise<Answered> {
  let answer = await ask();
  for (let turn = 0; answer.status === 503 && turn < 20; turn++) answer = await ask();
  return answer;
}

/** Those who could sign in and administer. */
async function able(app: TestApp): Promise<number> {
  const all = await Array.fromAsync(app.service.services.accounts.list());
  return all.filter(({ role, disabledAt }) => role === 'admin' && disabledAt === null).length;
}

const administrators = (app: TestApp, count: number): Promise<SignedIn[]> =>
  Promise.all(Array.from({ length: count }, () => newAdministrator(app)));

for (const [what, remove] of Object.entries(removals)) {
  test(`the last administrator can’t be ${what} through the API, and an operator can`, async () => {
    await using app = await newApp();
    const [one, other] = await administrators(app, 2);
    assert.ok(one && other);
    // It may do so to itself, as long as another is left.
    assert.equal((await remove(app, one, one.account.id)).status, 200);
    const refused = await remove(app, other, other.account.id);
    assert.deepEqual([refused.status, problemCode(refused)], [409, 'last_administrator']);
    assert.equal((await administer(app, other, 'GET', 'accounts')).status, 200);
    await app.service.services.accounts.delete(operator, other.account.id);
    assert.equal(await able(app), 0);
  });

  test(`of administrators who are ${what} by each other at once one is left`, async () => {
    await using app = await newApp();
    const all = await administrators(app, rivalsMax);
    const answers = await Promise.all(
      all.map((by, place) => asked(() => remove(app, by, all[(place + 1) % all.length]?.account.id ?? ''))),
    );
    // Who was removed before its turn came is nobody any more: 401, or 403 when its request had just arrived.
    for (const answer of answers) assert.ok([200, 401, 403, 409].includes(answer.status), answer.text);
    assert.ok((await able(app)) >= 1);
    assert.ok(answers.some(({ status }) => status === 200));
  });

  test(`of administrators who are each ${what} by themselves at once one is left`, async () => {
    await using app = await newApp();
    const all = await administrators(app, rivalsMax);
    const answers = await Promise.all(all.map((by) => asked(() => remove(app, by, by.account.id))));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [...Array.from({ length: rivalsMax - 1 }, () => 200), 409]);
    assert.equal(await able(app), 1);
  });
}

test('who is invited as an administrator is none who is left until the invitation is accepted', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newAdministrator(app);
  const invited = await administer(app, administrator, 'POST', 'accounts', { email: 'new@example.org', role: 'admin' });
  assert.equal(invited.status, 201, invited.text);
  const refused = await removals['deleted']?.(app, administrator, administrator.account.id);
  assert.equal(refused && problemCode(refused), 'last_administrator');
});

test('the last administrator can’t mark itself compromised, one of two can, and an operator can', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const [one, other] = await administrators(app, 2);
  assert.ok(one && other);
  const report = (by: SignedIn): Promise<Answered> =>
    administer(app, by, 'POST', `accounts/${by.account.id}/compromised`);
  assert.equal((await report(one)).status, 200);
  const refused = await report(other);
  assert.deepEqual([refused.status, problemCode(refused)], [409, 'last_administrator']);
  assert.equal((await administer(app, other, 'GET', 'accounts')).status, 200, 'nothing has changed');
  await app.service.services.administration.recoverAccount(operator, other.account.id);
  assert.equal((await administer(app, other, 'GET', 'accounts')).status, 401);
});

test('of administrators who each mark themselves compromised at once one is left', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const all = await administrators(app, rivalsMax);
  const answers = await Promise.all(
    all.map((by) => asked(() => administer(app, by, 'POST', `accounts/${by.account.id}/compromised`))),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [...Array.from({ length: rivalsMax - 1 }, () => 200), 409]);
});

test('an account whose email nobody has verified is made no administrator', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { account } = await app.signIn();
  await app.db.transaction((tx) => tx.run(unverify, [account.id]));
  const refused = await administer(app, administrator, 'PUT', `accounts/${account.id}/role`, { role: 'admin' });
  assert.deepEqual([refused.status, problemCode(refused)], [409, 'account_unverified']);
  await assert.rejects(app.service.services.accounts.setRole(operator, account.id, 'admin'), {
    code: 'account_unverified',
  });
});
