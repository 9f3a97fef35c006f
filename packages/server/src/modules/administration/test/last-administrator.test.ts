/** Administrators cannot remove the last one of them, not even concurrently. An operator can. */
import assert from 'node:assert/strict';
import { sql } from '../../../foundation/database/sql.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { newApp, operator, type Answered, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { administer, problemCode, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { whenAvailable } from '../../../../test-kit/when-available.ts';

const rivalsMax = 16;
const unverify = sql('test_unverify', `update accounts set unverified_since = 1 where id = $1`);

type Removal = (app: TestApp, by: SignedIn, id: string) => Promise<Answered>;
const removals: Readonly<Record<string, Removal>> = {
  disabled: (app, by, id) => administer(app, by, 'POST', `accounts/${id}/disable`),
  demoted: (app, by, id) => administer(app, by, 'PUT', `accounts/${id}/role`, { role: 'user' }),
  deleted: (app, by, id) => administer(app, by, 'DELETE', `accounts/${id}`),
};

/** Counts the administrators that are not disabled. */
async function countEnabled(app: TestApp): Promise<number> {
  const all = await Array.fromAsync(app.service.services.accounts.list());
  return all.filter(({ role, disabledAt }) => role === 'admin' && disabledAt === null).length;
}

const administrators = (app: TestApp, count: number): Promise<SignedIn[]> =>
  Promise.all(Array.from({ length: count }, () => newAdministrator(app)));

for (const [what, remove] of Object.entries(removals)) {
  test(`the last administrator can be ${what} by an operator, but not through the API`, async () => {
    await using app = await newApp();
    const [one, other] = await administrators(app, 2);
    assert.ok(one && other);
    // An administrator may do this to their own account while another administrator exists.
    assert.equal((await remove(app, one, one.account.id)).status, 200);
    const rejected = await remove(app, other, other.account.id);
    assert.deepEqual([rejected.status, problemCode(rejected)], [409, 'last_administrator']);
    assert.equal((await administer(app, other, 'GET', 'accounts')).status, 200);
    await app.service.services.accounts.delete(operator, other.account.id);
    assert.equal(await countEnabled(app), 0);
  });

  testOnBoth(`one administrator remains if administrators are concurrently ${what} by each other`, async () => {
    await using app = await newApp();
    const all = await administrators(app, rivalsMax);
    const answers = await Promise.all(
      all.map((by, index) => whenAvailable(() => remove(app, by, all[(index + 1) % all.length]?.account.id ?? ''))),
    );
    // An administrator removed before its own request gets 401, or 403 if the request had already arrived.
    for (const answer of answers) assert.ok([200, 401, 403, 409].includes(answer.status), answer.text);
    assert.ok((await countEnabled(app)) >= 1);
    assert.ok(answers.some(({ status }) => status === 200));
  });

  testOnBoth(`one administrator remains if each is concurrently ${what} by themselves`, async () => {
    await using app = await newApp();
    const all = await administrators(app, rivalsMax);
    const answers = await Promise.all(all.map((by) => whenAvailable(() => remove(app, by, by.account.id))));
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
    assert.deepEqual(statuses, [...Array.from({ length: rivalsMax - 1 }, () => 200), 409]);
    assert.equal(await countEnabled(app), 1);
  });
}

test('an invited administrator counts as an administrator only after accepting the invitation', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newAdministrator(app);
  const invited = await administer(app, administrator, 'POST', 'accounts', { email: 'new@example.org', role: 'admin' });
  assert.equal(invited.status, 201, invited.text);
  const rejected = await removals['deleted']?.(app, administrator, administrator.account.id);
  assert.equal(rejected && problemCode(rejected), 'last_administrator');
});

test('the last administrator cannot mark their own account compromised; one of two administrators and an operator can', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const [one, other] = await administrators(app, 2);
  assert.ok(one && other);
  const report = (by: SignedIn): Promise<Answered> =>
    administer(app, by, 'POST', `accounts/${by.account.id}/compromised`);
  assert.equal((await report(one)).status, 200);
  const rejected = await report(other);
  assert.deepEqual([rejected.status, problemCode(rejected)], [409, 'last_administrator']);
  assert.equal((await administer(app, other, 'GET', 'accounts')).status, 200, 'nothing changed');
  await app.service.services.administration.recoverAccount(operator, other.account.id);
  assert.equal((await administer(app, other, 'GET', 'accounts')).status, 401);
});

testOnBoth('one administrator remains if all concurrently mark their own accounts compromised', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const all = await administrators(app, rivalsMax);
  const answers = await Promise.all(
    all.map((by) => whenAvailable(() => administer(app, by, 'POST', `accounts/${by.account.id}/compromised`))),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  assert.deepEqual(statuses, [...Array.from({ length: rivalsMax - 1 }, () => 200), 409]);
});

test('an account with an unverified email address cannot become administrator', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { account } = await app.signIn();
  await app.db.transaction((tx) => tx.run(unverify, [account.id]));
  const rejected = await administer(app, administrator, 'PUT', `accounts/${account.id}/role`, { role: 'admin' });
  assert.deepEqual([rejected.status, problemCode(rejected)], [409, 'account_unverified']);
  await assert.rejects(app.service.services.accounts.setRole(operator, account.id, 'admin'), {
    code: 'account_unverified',
  });
});
