/** Programs that sign in as a device: from the request to the key (RFC 8628). */
import assert from 'node:assert/strict';
import { limits, userCodeLetters, type DeviceKey } from '@keyreeve/contract';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { errorOf, newDeviceClient, program, type DeviceClient } from '../../../../test-kit/device-client.ts';
import { bearer, operator, type Answered } from '../../../../test-kit/new-app.ts';
import { describe, type LoggedEvent } from '../../webhooks/events.ts';

const keysOf = async (at: DeviceClient): Promise<Record<string, unknown>[]> => {
  const answer = await at.app.call('GET', '/auth/api-keys?view=full', { headers: bearer(at.person.accessToken) });
  return (answer.json as { apiKeys: Record<string, unknown>[] }).apiKeys;
};
const pass = (at: DeviceClient, seconds: number): void => at.app.clock.advance({ seconds });

async function assertPoll(at: DeviceClient, deviceCode: string, error: string, status = 400): Promise<void> {
  const answer = await at.poll(deviceCode);
  assert.deepEqual([answer.status, errorOf(answer)], [status, error], answer.text);
}

testOnBoth('a program gets an API key that a person has approved and narrowed', async () => {
  await using at = await newDeviceClient();
  const begun = await at.begin();
  const { device_code: deviceCode, user_code: code, ...rest } = begun;
  const uri = `${at.app.service.publicUrl}/console/device`;
  assert.deepEqual(rest, {
    verification_uri: uri,
    verification_uri_complete: `${uri}#${code}`,
    expires_in: 600,
    interval: 5,
  });
  assert.match(code, new RegExp(`^[${userCodeLetters}]{4}-[${userCodeLetters}]{4}$`));
  assert.match(deviceCode, /^krvd_[0-9A-Za-z]{49}$/);
  await assertPoll(at, deviceCode, 'authorization_pending');

  const found = await at.lookUp(` ${code.toLowerCase().replace('-', ' ')} `);
  const { id, createdAt, expiresAt, ...shown } = found;
  assert.match(id, /^apr_/);
  assert.equal(Date.parse(expiresAt) - Date.parse(createdAt), 600_000);
  assert.deepEqual(shown, {
    kind: 'device',
    state: 'pending',
    program: { id: 'acme-cli', name: 'Acme CLI' },
    clientRange: '127.0.0.0/24',
    isOwnRange: true,
    scopes: program.scopes,
    lifetimeSeconds: 86_400,
    nickname: 'Acme CLI',
    keyId: null,
  });
  const approved = await at.approve(code, { nickname: 'laptop', scopes: ['orders:read'], lifetimeSeconds: 3_600 });
  assert.deepEqual(
    [approved.state, approved.nickname, approved.scopes, approved.lifetimeSeconds, approved.keyId],
    ['approved', 'laptop', ['orders:read'], 3_600, null],
  );
  assert.deepEqual(await keysOf(at), [], 'the approval has made no key');

  pass(at, 5);
  const answer = await at.poll(deviceCode);
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store'], answer.text);
  const { access_token: key, key_id: keyId, ...others } = answer.json as Record<string, unknown>;
  assert.deepEqual(others, { token_type: 'Bearer', expires_in: 3_600, scope: 'orders:read', nickname: 'laptop' });
  assert.equal(await at.isAccepted(String(key)), true);
  const [shownKey] = await keysOf(at);
  assert.deepEqual(
    [shownKey?.['id'], shownKey?.['nickname'], shownKey?.['program']],
    [keyId, 'laptop', { id: 'acme-cli', name: 'Acme CLI' }],
  );
  const used = await at.app.call('GET', `/auth/approvals/${id}`, { headers: bearer(at.person.accessToken) });
  assert.deepEqual([(used.json as { state: string }).state, (used.json as { keyId: number }).keyId], ['used', keyId]);
  assert.equal(at.app.logLines.join('').includes(String(key)), false, 'the log has no secret');
});

test('a program that polls too fast gets `slow_down`, and later its key', async () => {
  await using at = await newDeviceClient();
  const { device_code: deviceCode, user_code: code } = await at.begin();
  await assertPoll(at, deviceCode, 'authorization_pending');
  pass(at, 4);
  await assertPoll(at, deviceCode, 'slow_down');
  pass(at, 9);
  await assertPoll(at, deviceCode, 'slow_down');
  pass(at, 15);
  await assertPoll(at, deviceCode, 'authorization_pending');
  // A clock that is set back does not stop the program.
  pass(at, -60);
  await assertPoll(at, deviceCode, 'authorization_pending');
  pass(at, 60);
  await at.approve(code);
  await at.fetch(deviceCode);
});

testOnBoth('a lost response: the same device code replaces the secret of an unused key for a minute', async () => {
  await using at = await newDeviceClient();
  const deviceCode = await at.approved();
  const first = await at.fetch(deviceCode);
  await assertPoll(at, deviceCode, 'slow_down');
  pass(at, limits.deviceRepeatAfterSeconds);
  const second = await at.fetch(deviceCode);
  assert.deepEqual(
    { ...second, access_token: '', expires_in: 0 },
    { ...first, access_token: '', expires_in: 0 },
    'the same key',
  );
  assert.deepEqual([await at.isAccepted(first.access_token), await at.isAccepted(second.access_token)], [false, true]);
  assert.equal((await keysOf(at)).length, 1);
  pass(at, limits.deviceRepeatAfterSeconds);
  await assertPoll(at, deviceCode, 'invalid_grant');
  assert.equal(await at.isAccepted(second.access_token), true, 'a used key keeps its secret');

  const unused = await at.approved();
  await at.fetch(unused);
  pass(at, limits.deviceRepeatSeconds + 1);
  await assertPoll(at, unused, 'invalid_grant');
});

testOnBoth('only a client in the client IP range in which the request began replaces the secret', async () => {
  await using at = await newDeviceClient();
  const { device_code: deviceCode, user_code: code } = await at.begin({}, '192.0.2.1');
  await at.approve(code);
  const pollFrom = (clientIp: string): Promise<Answered> => at.poll(deviceCode, undefined, undefined, clientIp);
  const first = await pollFrom('198.51.100.1');
  assert.equal(first.status, 200);
  pass(at, limits.deviceRepeatAfterSeconds);
  assert.equal(errorOf(await pollFrom('198.51.100.1')), 'invalid_grant');
  assert.equal((await pollFrom('192.0.2.99')).status, 200);
  assert.equal(await at.isAccepted((first.json as DeviceKey).access_token), false);
});

test('a key that was changed, or whose secret leaked, keeps its secret', async () => {
  await using at = await newDeviceClient();
  const deviceCode = await at.approved();
  const { key_id: keyId } = await at.fetch(deviceCode);
  const owner = { headers: bearer(at.person.accessToken) };
  await at.app.call('PATCH', `/auth/api-keys/${keyId}`, { ...owner, json: { disabled: true } });
  pass(at, limits.deviceRepeatAfterSeconds);
  await assertPoll(at, deviceCode, 'invalid_grant');
  const deleted = await at.approved({ nickname: 'second' });
  const { key_id: secondId } = await at.fetch(deleted);
  await at.app.call('DELETE', `/auth/api-keys/${secondId}`, owner);
  pass(at, limits.deviceRepeatAfterSeconds);
  await assertPoll(at, deleted, 'invalid_grant');
});

test('a taken nickname gets a number', async () => {
  await using at = await newDeviceClient();
  const long = 'é'.repeat(limits.nicknameCodePointsMax);
  for (const [given, got] of [
    ['Acme CLI', 'Acme CLI'],
    ['Acme CLI', 'Acme CLI 2'],
    ['Acme CLI', 'Acme CLI 3'],
    [long, long],
    [long, `${'é'.repeat(limits.nicknameCodePointsMax - 2)} 2`],
  ])
    assert.equal((await at.fetch(await at.approved({ nickname: given }))).nickname, got);
});

testOnBoth('a long nickname that is taken is cut between characters, and no approval is lost', async () => {
  await using at = await newDeviceClient();
  const letters = 'a'.repeat(59);
  for (const [nickname, expected] of [
    [`${letters}\u{1F468}\u200D\u{1F469}\u200D\u{1F467}`, `${letters} 2`],
    [`${letters}aa\u{1F1E9}\u{1F1EA}`, `${letters}aa 2`],
    [`${letters}aaa\u2764\uFE0F`, `${letters}aaa 2`],
    [`${letters}\u0645\u06CC\u200C\u062E\u0648`, `${letters}\u0645\u06CC 2`],
  ] as const) {
    assert.equal((await at.fetch(await at.approved({ nickname }))).nickname, nickname);
    assert.equal((await at.fetch(await at.approved({ nickname }))).nickname, expected);
  }
});

testOnBoth('a denied request, and an approval that is taken back, yield no key', async () => {
  await using at = await newDeviceClient();
  const { device_code: deviceCode, user_code: code } = await at.begin();
  const { id } = await at.lookUp(code);
  assert.equal((await at.send(`${id}/deny`, { code })).status, 200);
  await assertPoll(at, deviceCode, 'access_denied');
  assertRejected(await at.send(`${id}/approve`, { code }), 'approval_decided');
  assert.equal((await at.lookUp(code)).state, 'denied', 'as in a second tab');

  const second = await at.begin();
  const approved = await at.approve(second.user_code);
  const stranger = await at.app.signIn();
  assertRejected(await at.send('lookup', { code }, { by: stranger }), 'approval_not_found');
  const denial = { code: second.user_code };
  assertRejected(await at.send(`${approved.id}/deny`, denial, { by: stranger }), 'approval_decided');
  assert.equal((await at.send(`${approved.id}/deny`, denial)).status, 200);
  await assertPoll(at, second.device_code, 'access_denied');
  assert.deepEqual(await keysOf(at), []);
});

testOnBoth('what is not allowed any more at the poll yields no key, for good', async () => {
  await using at = await newDeviceClient({
    environment: { KEYREEVE_SCOPES: 'catalogue', KEYREEVE_KEYS_PER_ACCOUNT_MAX: '1' },
  });
  const { services } = at.app.service;
  for (const scope of program.scopes) await services.scopeCatalogue.set(operator, scope, {});
  const { account } = at.person;
  const removals: Record<string, () => Promise<unknown>> = {
    'the program may not request the scope': () =>
      services.programs.change(operator, program.id, { scopes: ['orders:read'] }),
    'the lifetime is too long': () => services.programs.change(operator, program.id, { lifetimeSeconds: 3_600 }),
    'the scope needs an entitlement': () => services.scopeCatalogue.set(operator, 'orders:write', { entitled: true }),
    'the account has as many keys as it may have': () =>
      services.apiKeys.create(operator, account.id, { nickname: 'another', scopes: [] }),
  };
  for (const [what, remove] of Object.entries(removals)) {
    const deviceCode = await at.approved();
    await remove();
    const answer = await at.poll(deviceCode);
    assert.equal(errorOf(answer), 'access_denied', what);
    // What the account gets back does not matter.
    await services.programs.change(operator, program.id, program);
    await services.scopeCatalogue.set(operator, 'orders:write', { entitled: false });
    assert.equal(errorOf(await at.poll(deviceCode)), 'access_denied', what);
  }
});

testOnBoth('an approval ends with its session, with the account and with the program', async () => {
  await using at = await newDeviceClient();
  const { services } = at.app.service;
  const owner = { headers: bearer(at.person.accessToken) };
  const ended = await at.approved();
  assert.equal(
    (await at.app.call('POST', '/auth/token/revoke', { json: { refreshToken: at.person.refreshToken } })).status,
    204,
  );
  await assertPoll(at, ended, 'access_denied');
  assert.equal((await at.app.call('GET', '/auth/api-keys', owner)).status, 401);

  const other = await at.app.signIn();
  const begun = await at.begin();
  await at.approve(begun.user_code, {}, other);
  await services.accounts.disable(operator, other.account.id);
  await services.accounts.enable(operator, other.account.id);
  await assertPoll(at, begun.device_code, 'access_denied');

  const third = await at.app.signIn();
  const last = await at.begin();
  await at.approve(last.user_code, {}, third);
  await services.programs.remove(operator, program.id, false);
  await assertPoll(at, last.device_code, 'invalid_client', 401);
  await services.programs.add(operator, program);
  await assertPoll(at, last.device_code, 'invalid_grant');
});

test('codes expire after 10 minutes', async () => {
  await using at = await newDeviceClient();
  const pending = await at.begin();
  const approved = await at.approved();
  pass(at, limits.deviceRequestSeconds);
  await assertPoll(at, pending.device_code, 'expired_token');
  await assertPoll(at, approved, 'expired_token');
  assertRejected(await at.send('lookup', { code: pending.user_code }), 'approval_not_found');
});

test('the requests that are rejected', async () => {
  await using at = await newDeviceClient();
  const { device_code: deviceCode, user_code: code } = await at.begin();
  const table: [what: string, answer: Awaited<ReturnType<DeviceClient['poll']>>, status: number, error: string][] = [
    ['an unknown program', await at.tryBegin({ client_id: 'other' }), 401, 'invalid_client'],
    ['no text of a program', await at.tryBegin({ client_id: 'Ä/..' }), 401, 'invalid_client'],
    ['a scope of another program', await at.tryBegin({ scope: 'orders:read billing' }), 400, 'invalid_scope'],
    ['a poll of another program', await at.poll(deviceCode, 'other'), 401, 'invalid_client'],
    ['an unknown device code', await at.poll(`${deviceCode.slice(0, -1)}_`), 400, 'invalid_grant'],
    ['the user code', await at.poll(code), 400, 'invalid_grant'],
    ['no device code', await at.poll(''), 400, 'invalid_request'],
  ];
  for (const [what, answer, status, error] of table)
    assert.deepEqual([answer.status, errorOf(answer)], [status, error], what);

  const { id } = await at.lookUp(code);
  const path = `${id}/approve`;
  assertRejected(await at.send(path, { code: 'BBBB-BBBB' }), 'approval_not_found');
  assertRejected(await at.send('apr_other/approve', { code }), 'approval_not_found');
  assertRejected(await at.send(path, { code, scopes: ['billing'] }), 'invalid_request');
  assertRejected(await at.send(path, { code, lifetimeSeconds: 86_401 }), 'invalid_request');
  assertRejected(await at.send(path, { code, nickname: ' x' }), 'nickname_invalid');
  const stranger = await at.app.signIn();
  const read = await at.app.call('GET', `/auth/approvals/${id}`, { headers: bearer(stranger.accessToken) });
  assertRejected(read, 'approval_not_found');
  pass(at, limits.recentSignInSeconds + 1);
  assertRejected(await at.send(path, { code }), 'reauth_required');
});

test('without a console, no request begins', async () => {
  await using at = await newDeviceClient({ environment: { KEYREEVE_CONSOLE: 'off' } });
  const { status, json } = await at.tryBegin();
  const error_description = 'The console, which approves requests, is off.';
  assert.deepEqual([status, json], [401, { error: 'invalid_client', error_description }]);
});

test('a program may request some of its scopes', async () => {
  await using at = await newDeviceClient();
  const begun = await at.begin({ scope: 'orders:write' });
  assert.deepEqual((await at.lookUp(begun.user_code)).scopes, ['orders:write']);
  await at.approve(begun.user_code);
  assert.equal((await at.fetch(begun.device_code)).scope, 'orders:write');
});

testOnBoth('an account that must enrol a second factor first approves nothing, and its approvals end', async () => {
  await using at = await newDeviceClient();
  const { accounts } = at.app.service.services;
  const { id } = at.person.account;
  const deviceCode = await at.approved();
  const lost = await at.approved({ nickname: 'lost response' });
  const { key_id: keyId } = await at.fetch(lost);
  const { user_code: code } = await at.begin();
  await accounts.requireSecondFactor(operator, id, true);
  assertRejected(await at.send('lookup', { code }), 'second_factor_enrolment_required');
  await assertPoll(at, deviceCode, 'access_denied');
  pass(at, limits.deviceRepeatAfterSeconds);
  await assertPoll(at, lost, 'access_denied');
  await accounts.requireSecondFactor(operator, id, false);
  await assertPoll(at, deviceCode, 'access_denied');
  assert.equal((await at.fetch(lost)).key_id, keyId, 'the key exists, with the rights that the session has again');
  const denied = (await listAuditEvents(at.app.db)).filter(({ action }) => action === 'approval.denied');
  assert.deepEqual(
    denied.map(({ actor, details }) => [actor, details]),
    [['system', JSON.stringify({ program: program.id, reason: 'second_factor_enrolment_required' })]],
  );
});

test('a clock that jumps ends requests, and never prolongs them or the minute for a lost response', async () => {
  await using at = await newDeviceClient();
  const day = 86_400;
  const { device_code: pending, user_code: code } = await at.begin();
  pass(at, -day);
  await assertPoll(at, pending, 'expired_token');
  assertRejected(await at.send('lookup', { code }), 'invalid_access_token');
  pass(at, day);
  await assertPoll(at, pending, 'authorization_pending');
  const approved = await at.approved();
  pass(at, day);
  await assertPoll(at, approved, 'expired_token');
  pass(at, -day);

  const deviceCode = await at.approved();
  const { access_token: key } = await at.fetch(deviceCode);
  pass(at, -day);
  await assertPoll(at, deviceCode, 'invalid_grant');
  // Instances with clocks that differ.
  pass(at, day - 1);
  await assertPoll(at, deviceCode, 'slow_down');
  pass(at, day);
  await assertPoll(at, deviceCode, 'invalid_grant');
  pass(at, -day + 1);
  assert.equal(await at.isAccepted(key), true);
});

test('events, webhooks and metrics have what happened to a request', async () => {
  await using at = await newDeviceClient();
  const deviceCode = await at.approved();
  const { key_id: keyId } = await at.fetch(deviceCode);
  pass(at, limits.deviceRepeatAfterSeconds);
  await at.fetch(deviceCode);
  const denied = await at.begin();
  const { id } = await at.lookUp(denied.user_code);
  await at.send(`${id}/deny`, { code: denied.user_code });
  await assertPoll(at, denied.device_code, 'access_denied');
  const refused = await at.approved();
  await at.app.service.services.programs.change(operator, program.id, { scopes: [] });
  await assertPoll(at, refused, 'access_denied');

  const events = await listAuditEvents(at.app.db);
  const actions = events.map(({ action }) => action).filter((action) => /^(approval|api_key)\./.test(action));
  assert.deepEqual(actions, [
    'approval.approved',
    'api_key.created',
    'api_key.rotated',
    'approval.denied',
    'approval.approved',
    'approval.denied',
  ]);
  const created = events.find(({ action }) => action === 'api_key.created');
  assert.deepEqual(created && describe({ ...created, mac: new Uint8Array() } as unknown as LoggedEvent), {
    type: 'api_key.created',
    data: {
      accountId: at.person.account.id,
      keyId,
      nickname: program.name,
      createdBy: 'account',
      program: program.id,
    },
  });
  const { counts } = at.app.service.services.approvals;
  const expected = { begun: 3, approved: 2, denied: 1, issued: 1, reissued: 1, refused: 1 };
  assert.deepEqual({ ...counts }, expected);
});
