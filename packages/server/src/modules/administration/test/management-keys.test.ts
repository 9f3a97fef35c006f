/** Management keys that an administrator creates: password and second factor prove the administrator in the request itself. */
import assert from 'node:assert/strict';
import { limits, type CreatedManagementKey, type ErrorCode, type Problem } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { newAdministrator, problemCode } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { nextStep, wrongCode } from '../../../../test-kit/authenticator.ts';
import { ConsoleClient } from '../../../../test-kit/console-client.ts';
import {
  bodyOf,
  codeOf,
  countsOf,
  create,
  created,
  environment,
  inDays,
  newEnrolledAdministrator,
} from '../../../../test-kit/management-keys.ts';
import { unreachableMail } from '../../../../test-kit/optional-routes.ts';
import { Mailbox } from '../../../../test-kit/mailbox.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { addPasskey, secondFactorOptions, signInOptions } from '../../../../test-kit/passkeys.ts';
import { addServiceAccount } from '../../../../test-kit/rows.ts';
import { until } from '../../../../test-kit/until.ts';
import { countJobs } from '../../outbox/store.ts';

test('an administrator creates a service account with its management key, which works', async () => {
  await using app = await newApp({ environment });
  const administrator = await newEnrolledAdministrator(app);
  // However long ago the sign-in was.
  app.clock.advance({ seconds: 1_200 });
  const answer = await create(app, administrator);
  const { serviceAccount, apiKey } = answer.json as CreatedManagementKey;
  const { id: creatorId } = administrator.account;
  assert.deepEqual([serviceAccount.name, serviceAccount.creatorId, apiKey.nickname], ['backend', creatorId, 'first']);
  const location = `/admin/accounts/${serviceAccount.id}/api-keys/${apiKey.id}`;
  assert.equal(answer.headers.get('location'), location);

  const tenant = await app.call('POST', '/auth/service-accounts', {
    headers: bearer(apiKey.key),
    json: { name: 'tenant' },
  });
  assert.equal(tenant.status, 201, tenant.text);
  const shown = await app.call('GET', location, { headers: bearer(administrator.accessToken) });
  const { scopes, addresses, expiresAt } = shown.json as Record<string, unknown>;
  assert.deepEqual([scopes, addresses], [['keyreeve:keys'], ['127.0.0.1/32', '::1/128']]);
  assert.equal(expiresAt, inDays(app, 90));

  const events = (await listAuditEvents(app.db)).filter(({ accountId }) => accountId === serviceAccount.id);
  assert.deepEqual(
    events.map(({ actor, action, target }) => [actor, action, target]),
    [
      [`account:${creatorId}`, 'service_account.created', serviceAccount.id],
      [`account:${creatorId}`, 'api_key.created', String(apiKey.id)],
    ],
  );
  assert.deepEqual(JSON.parse(events[1]?.details ?? ''), { nickname: 'first', scopes: ['keyreeve:keys'] });
});

test('enabled administrators get a mail that names the creator, the account and the client IP, and no secret', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: { ...environment, ...mailbox.environment } });
  const administrator = await newEnrolledAdministrator(app, 'creator@example.com');
  await newAdministrator(app, 'other@example.com');
  const { account: disabled } = await newAdministrator(app, 'disabled@example.com');
  await app.service.services.accounts.disable(operator, disabled.id);
  await app.createAccount('user@example.com');
  const { serviceAccount, apiKey } = await created(app, administrator);
  const subject = /^A management key was created/;
  await until('every mail has been delivered', async () => (await countJobs(app.db, 1)).length === 0);
  const mails = mailbox.messages.filter((message) => subject.test(message.subject));
  assert.deepEqual(mails.flatMap(({ to }) => to).toSorted(), ['creator@example.com', 'other@example.com']);
  for (const { text } of mails) {
    for (const part of ['creator@example.com', `backend (${serviceAccount.id})`, String(apiKey.id), '127.0.0.1/32'])
      assert.ok(text.includes(part), text);
    assert.match(text, /from the IP address (?:127\.0\.0\.1|::1)/);
    assert.equal(text.includes(apiKey.key), false);
  }
});

test('an administrator creates a further management key of an existing service account, also of another manager', async () => {
  await using app = await newApp({ environment });
  const administrator = await newEnrolledAdministrator(app);
  const { serviceAccount } = await created(app, administrator);
  nextStep(app);
  const further = { name: undefined, accountId: serviceAccount.id, nickname: 'second' };
  const again = await created(app, administrator, further);
  assert.deepEqual(again.serviceAccount, serviceAccount);
  nextStep(app);
  const { account: manager } = await app.signIn();
  const managed = await addServiceAccount(app.db, [manager.id]);
  const { apiKey } = await created(app, administrator, { ...further, accountId: managed });
  const used = await app.call('GET', '/auth/service-accounts', { headers: bearer(apiKey.key) });
  assert.equal(used.status, 200, used.text);
  nextStep(app);
  for (const accountId of [manager.id, administrator.account.id, 'acc_0000000000000000000000', 'x'])
    assertRejected(await create(app, administrator, { ...further, accountId }), 'account_not_found', accountId);
  assertRejected(await create(app, administrator, { accountId: managed }), 'invalid_request', 'both');
  assertRejected(await create(app, administrator, { name: undefined }), 'invalid_request', 'neither');
});

testOnBoth('without the right password and second factor in the request, nothing is created', async () => {
  await using app = await newApp({ environment });
  const administrator = await newEnrolledAdministrator(app);
  const { authenticator } = await addPasskey(app, administrator);
  const { email } = administrator.account;
  const used = codeOf(app, administrator);
  await created(app, administrator);
  const before = await countsOf(app);
  const unused = authenticator.get(await secondFactorOptions(app, email));
  const rejected: readonly (readonly [what: string, code: ErrorCode, changes: object])[] = [
    ['a wrong password', 'password_wrong', { currentPassword: 'wrong wombat orbit 42' }],
    ['a code that was used', 'second_factor_wrong', { code: used }],
    ['a wrong code', 'second_factor_wrong', { code: wrongCode(administrator.secret, app.clock.now()) }],
    ['no second factor', 'invalid_request', { code: undefined }],
    ['both', 'invalid_request', { passkey: unused }],
    ['no password', 'invalid_request', { currentPassword: undefined, code: undefined, passkey: unused }],
    [
      'the challenge of a sign-in',
      'second_factor_wrong',
      { code: undefined, passkey: authenticator.get(await signInOptions(app)) },
    ],
  ];
  for (const [what, code, changes] of rejected)
    assertRejected(await create(app, administrator, { name: 'another', ...changes }), code, what);
  assert.deepEqual(await countsOf(app), before);

  await created(app, administrator, { name: 'by passkey', code: undefined, passkey: unused });
  const replayed = { name: 'again', code: undefined, passkey: unused };
  assertRejected(await create(app, administrator, replayed), 'second_factor_wrong', 'a response that was used');
});

test('an administrator without a second factor creates no management key, not even soon after the sign-in', async () => {
  await using app = await newApp({ environment });
  const administrator = await newAdministrator(app);
  const enrolled = { ...administrator, secret: 'JBSWY3DPEHPK3PXP', recoveryCodes: [] };
  assertRejected(await create(app, enrolled), 'second_factor_not_enrolled');
  assert.deepEqual(await countsOf(app), [0, 0]);
});

test('guesses of the password are limited', async () => {
  await using app = await newApp({ environment });
  const administrator = await newEnrolledAdministrator(app);
  const guess = () => create(app, administrator, { currentPassword: 'wrong wombat orbit 42' });
  let answer = await guess();
  for (let tries = 1; problemCode(answer) === 'password_wrong' && tries < 20; tries++) answer = await guess();
  assertRejected(answer, 'too_many_attempts');
  assertRejected(await create(app, administrator), 'too_many_attempts', 'the right password');
});

test('a management key needs narrow IP ranges and an early expiry, and a rejected request uses no code', async () => {
  await using app = await newApp({ environment });
  const administrator = await newEnrolledAdministrator(app);
  const cases: readonly (readonly [pointer: string, changes: object])[] = [
    ['/addresses', { addresses: undefined }],
    ['/addresses', { addresses: null }],
    ['/addresses', { addresses: [] }],
    ['/addresses/1', { addresses: ['127.0.0.1', '0.0.0.0/0'] }],
    ['/addresses/0', { addresses: ['10.0.0.0/7'] }],
    ['/addresses/0', { addresses: ['::/0'] }],
    ['/addresses/0', { addresses: ['2001::/31'] }],
    ['/addresses/0', { addresses: ['::ffff:0:0/96'] }],
    ['/addresses/0', { addresses: ['localhost'] }],
    ['/expiresAt', { expiresAt: undefined }],
    ['/expiresAt', { expiresAt: null }],
    ['/expiresAt', { expiresAt: inDays(app, 0) }],
    ['/expiresAt', { expiresAt: inDays(app, limits.managementKeyDaysMax + 1) }],
    ['/scopes', { scopes: ['keyreeve:keys'] }],
  ];
  for (const [pointer, changes] of cases) {
    const answer = await create(app, administrator, changes);
    assert.equal(problemCode(answer), 'invalid_request', JSON.stringify(changes));
    const pointers = (answer.json as Problem).errors?.map((error) => error.pointer);
    assert.deepEqual(pointers, [pointer], JSON.stringify(changes));
  }
  assert.deepEqual(await countsOf(app), [0, 0]);
  const widest = { addresses: ['10.0.0.0/8', 'fd00::/32'], expiresAt: inDays(app, limits.managementKeyDaysMax) };
  await created(app, administrator, widest);
});

const consolePath = '/api/admin/management-keys';

test('without the setting, the operation does not exist', async () => {
  await using app = await newApp({ environment: unreachableMail });
  const administrator = await newEnrolledAdministrator(app, 'admin@example.com');
  assertRejected(await create(app, administrator), 'not_found');
  const client = new ConsoleClient(app);
  await client.signIn('admin@example.com', codeOf(app, administrator));
  nextStep(app);
  const json = bodyOf(app, administrator);
  assert.equal(problemCode(await client.call('POST', consolePath, { json })), 'not_found');
  const { features } = (await client.call('GET', '/config')).json as { features: Record<string, unknown> };
  assert.equal(features['managementKeys'], false);
  assert.deepEqual(await countsOf(app), [0, 0]);
});

test(
  'the console creates management keys, and a page of another origin does not',
  { tags: ['asvs:3.5.1'] },
  async () => {
    await using app = await newApp({ environment });
    const administrator = await newEnrolledAdministrator(app, 'admin@example.com');
    const client = new ConsoleClient(app);
    await client.signIn('admin@example.com', codeOf(app, administrator));
    nextStep(app);
    const json = bodyOf(app, administrator);
    const send = (headers: Record<string, string>) => client.call('POST', consolePath, { json, headers });
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://example.com' },
    ])
      assert.equal(problemCode(await send(headers)), 'cross_origin_request', JSON.stringify(headers));
    const answer = await send({});
    assert.equal(answer.status, 201, answer.text);
    assert.equal(problemCode(await send({})), 'name_taken');
    assert.equal(
      problemCode(await client.call('POST', consolePath, { json: { ...json, name: 'b' } })),
      'second_factor_wrong',
    );
  },
);

test(
  'a session gets no secret of a management key, and does not widen one, without the proof',
  { tags: ['asvs:7.5.1'] },
  async () => {
    await using app = await newApp({ environment });
    const administrator = await newEnrolledAdministrator(app);
    const { serviceAccount, apiKey } = await created(app, administrator);
    const headers = bearer(administrator.accessToken);
    const managed = `/auth/service-accounts/${serviceAccount.id}/api-keys`;
    const scopes = ['keyreeve:keys'];
    for (const [method, at, json] of [
      ['POST', `${managed}/${apiKey.id}/rotate`, { overlapSeconds: 0 }],
      ['PATCH', `${managed}/${apiKey.id}`, { addresses: null }],
      ['PATCH', `/admin/accounts/${serviceAccount.id}/api-keys/${apiKey.id}`, { expiresAt: null }],
      ['POST', managed, { nickname: 'mine', scopes }],
      ['POST', '/auth/api-keys', { nickname: 'mine', scopes }],
      ['POST', `/admin/accounts/${serviceAccount.id}/api-keys`, { nickname: 'mine', scopes }],
    ] as const)
      assertRejected(await app.call(method, at, { headers, json }), 'reserved_scope', `${method} ${at}`);
  },
);

test('an administrator creates a bounded number of management keys in an hour', async () => {
  await using app = await newApp({ environment });
  const administrator = await newEnrolledAdministrator(app);
  const max = limits.provenCreationsPerHourMax;
  for (let made = 0; made < max; made++) {
    await created(app, administrator, { name: `backend ${made}` });
    nextStep(app);
  }
  assertRejected(await create(app, administrator, { name: 'one more' }), 'too_many_creations');
  assert.deepEqual(await countsOf(app), [max, max]);
});

test('a recovery code works once, and its use is recorded and mailed', async () => {
  await using mailbox = await Mailbox.start();
  await using app = await newApp({ environment: { ...environment, ...mailbox.environment } });
  const administrator = await newEnrolledAdministrator(app, 'admin@example.com');
  const [code] = administrator.recoveryCodes;
  await created(app, administrator, { code });
  await mailbox.next({ to: 'admin@example.com', subject: /recovery code/i });
  const events = (await listAuditEvents(app.db)).map(({ action }) => action);
  assert.ok(events.includes('recovery_code.used'), events.join(' '));
  assertRejected(await create(app, administrator, { name: 'again', code }), 'second_factor_wrong');
});
