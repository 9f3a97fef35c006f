/** API keys that an administrator creates for service accounts and for other persons. */
import assert from 'node:assert/strict';
import { limits, type CreatedKey, type Problem } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import type { Enrolled } from '../../../../test-kit/authenticator.ts';
import { codeOf, newEnrolledAdministrator } from '../../../../test-kit/management-keys.ts';
import { unreachableMail as mail } from '../../../../test-kit/optional-routes.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { bearer, goodPassword, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { sql } from '../../../foundation/database/sql.ts';

const unconfirm = sql('test_unconfirm_owner', 'update accounts set email_unconfirmed_since = 1 where id = $1');
const unverify = sql('test_unverify_owner', 'update accounts set unverified_since = 1 where id = $1');

/** With the proof, after which the code is used. */
function create(app: TestApp, administrator: Enrolled, id: string, json: object = {}): Promise<Answered> {
  const body = { nickname: 'worker', currentPassword: goodPassword, code: codeOf(app, administrator), ...json };
  return administer(app, administrator, 'POST', `accounts/${id}/api-keys`, body);
}

const withoutProof = { currentPassword: undefined, code: undefined };
const countKeys = async (app: TestApp, id: string): Promise<number> =>
  (await app.service.services.apiKeys.list(id)).length;

test('an administrator creates a key of a service account, and its managers learn who created it', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newAdministrator(app, 'admin@example.com');
  const { id: managerId } = await app.createAccount('manager@example.com');
  const id = await addServiceAccount(app.db, [managerId]);
  const json = { nickname: 'worker', scopes: ['orders:read'] };
  const answer = await administer(app, administrator, 'POST', `accounts/${id}/api-keys`, json);
  assert.equal(answer.status, 201, answer.text);
  const { id: keyId, key, ...others } = answer.json as CreatedKey;
  assert.deepEqual(Object.keys(others), ['nickname', 'createdAt', 'updatedAt']);
  assert.equal(answer.headers.get('location'), `/admin/accounts/${id}/api-keys/${keyId}`);
  const verified = await app.call('GET', '/auth/forward?scope=orders:read', { headers: bearer(key) });
  assert.equal(verified.headers.get('x-keyreeve-account'), id);
  const event = (await listAuditEvents(app.db)).at(-1);
  assert.deepEqual(
    [event?.actor, event?.action, event?.accountId, event?.target],
    [`account:${administrator.account.id}`, 'api_key.created', id, String(keyId)],
  );
  const { text } = await mailbox.next({ to: 'manager@example.com', subject: /^An administrator of/ });
  for (const part of ['admin@example.com', id, String(keyId), 'orders:read']) assert.ok(text.includes(part), text);

  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  const late = await administer(app, administrator, 'POST', `accounts/${id}/api-keys`, { nickname: 'late' });
  assertRejected(late, 'reauth_required');
});

test('an administrator grants no scope of Keyreeve to another account, and uses the own routes for the own account', async () => {
  await using app = await newApp({ environment: mail });
  const administrator = await newEnrolledAdministrator(app);
  const { id: personId } = await app.createAccount();
  const serviceId = await addServiceAccount(app.db, [personId]);
  for (const id of [personId, serviceId])
    for (const scope of ['keyreeve:keys', 'keyreeve:verify', 'keyreeve:canary'])
      assertRejected(await create(app, administrator, id, { scopes: [scope] }), 'reserved_scope', `${id} ${scope}`);
  assertRejected(await create(app, administrator, administrator.account.id), 'own_account');
  for (const id of ['acc_0000000000000000000000', 'x'])
    assertRejected(await create(app, administrator, id), 'account_not_found', id);
  assert.deepEqual([await countKeys(app, personId), await countKeys(app, serviceId)], [0, 0]);
});

testOnBoth('a key of a person needs the proof of the administrator, and the person gets a mail about it', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: mailbox.environment });
  const administrator = await newEnrolledAdministrator(app, 'admin@example.com');
  const { id } = await app.createAccount('ada@example.com');
  const missing = await create(app, administrator, id, withoutProof);
  assertRejected(missing, 'invalid_request');
  assert.deepEqual(
    (missing.json as Problem).errors?.map(({ pointer }) => pointer),
    ['/currentPassword'],
  );
  assertRejected(await create(app, administrator, id, { currentPassword: 'wrong wombat orbit 42' }), 'password_wrong');
  const answer = await create(app, administrator, id);
  assert.equal(answer.status, 201, answer.text);
  const { id: keyId, key } = answer.json as CreatedKey;
  const { text } = await mailbox.next({ to: 'ada@example.com', subject: /^An administrator of/ });
  for (const part of ['admin@example.com', 'ada@example.com', String(keyId), 'To delete the key'])
    assert.ok(text.includes(part), text);
  assert.equal(text.includes(key), false);
  assertRejected(await create(app, administrator, id, { nickname: 'again' }), 'second_factor_wrong', 'a used code');
  assert.equal(await countKeys(app, id), 1);

  const owner = await app.call('POST', '/auth/token', {
    headers: { authorization: `Basic ${btoa(`ada@example.com:${goodPassword}`)}` },
  });
  const { accessToken } = owner.json as { accessToken: string };
  const deleted = await app.call('DELETE', `/auth/api-keys/${keyId}`, { headers: bearer(accessToken) });
  assert.equal(deleted.status, 200, 'the person deletes the key');
});

testOnBoth('without a mail to the person, no key of the person is created', async () => {
  await using app = await newApp({ environment: { ...mail, KEYREEVE_THROTTLE: 'off' } });
  const administrator = await newEnrolledAdministrator(app);
  const { id: unconfirmed } = await app.createAccount();
  await app.db.transaction((tx) => tx.run(unconfirm, [unconfirmed]));
  assertRejected(await create(app, administrator, unconfirmed), 'email_unconfirmed');
  const { id: unverified } = await app.createAccount();
  await app.db.transaction((tx) => tx.run(unverify, [unverified]));
  assertRejected(await create(app, administrator, unverified), 'email_unverified');
  const { id: flooded } = await app.createAccount();
  const { apiKeys } = app.service.services;
  for (let made = 0; made < limits.keyMailsPerHourMax; made++)
    await apiKeys.create(operator, flooded, { nickname: `key ${made}` });
  assertRejected(await create(app, administrator, flooded), 'too_many_creations');
  assert.deepEqual(await Promise.all([unconfirmed, unverified].map((id) => countKeys(app, id))), [0, 0]);
  assert.equal(await countKeys(app, flooded), limits.keyMailsPerHourMax);
  // A rejected creation uses no code.
  const { id } = await app.createAccount();
  assert.equal((await create(app, administrator, id)).status, 201);
});

test('an installation without mail creates keys of service accounts only', async () => {
  await using app = await newApp();
  const administrator = await newEnrolledAdministrator(app);
  const { id } = await app.createAccount();
  assertRejected(await create(app, administrator, id), 'mail_not_configured');
  const serviceId = await addServiceAccount(app.db, [id]);
  assert.equal((await create(app, administrator, serviceId, withoutProof)).status, 201);
});
