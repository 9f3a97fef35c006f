/** Programs on devices that sign out: they delete their own key (RFC 7009). */
import assert from 'node:assert/strict';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { errorOf, newDeviceClient, program, type DeviceClient } from '../../../../test-kit/device-client.ts';
import { bearer, operator, type Answered } from '../../../../test-kit/new-app.ts';
import { makeKey } from '../../api-keys/key-format.ts';

const newKeyOf = async (at: DeviceClient): Promise<{ readonly key: string; readonly id: number }> => {
  const { access_token: key, key_id: id } = await at.fetch(await at.approved());
  return { key, id };
};
const call = (at: DeviceClient, method: string, path: string, json?: object): Promise<Answered> =>
  at.app.call(method, `/auth/api-keys${path}`, { headers: bearer(at.person.accessToken), ...(json && { json }) });
const keyIdsOf = async (at: DeviceClient): Promise<unknown[]> =>
  ((await call(at, 'GET', '')).json as { apiKeys: { id: unknown }[] }).apiKeys.map(({ id }) => id);
const deletionsOf = async (at: DeviceClient) =>
  (await listAuditEvents(at.app.db)).filter(({ action }) => action === 'api_key.deleted');

async function assertRevoked(at: DeviceClient, token: string): Promise<void> {
  const answer = await at.revoke(token);
  assert.deepEqual([answer.status, answer.text, answer.headers.get('cache-control')], [200, '', 'no-store']);
}

testOnBoth('a program deletes the key that it made, and every later verification rejects it', async () => {
  await using at = await newDeviceClient();
  const { key, id } = await newKeyOf(at);
  const { id: other } = await newKeyOf(at);
  await assertRevoked(at, key);
  assert.equal(await at.isAccepted(key), false);
  assert.deepEqual(await keyIdsOf(at), [other]);
  const [deletion, ...others] = await deletionsOf(at);
  assert.deepEqual(
    [deletion?.actor, deletion?.accountId, deletion?.target, others],
    [`program:${program.id}`, at.person.account.id, String(id), []],
  );
  const activity = await at.app.call('GET', '/auth/account/activity', { headers: bearer(at.person.accessToken) });
  const { activity: events } = activity.json as { activity: { action: string; actor: string }[] };
  assert.equal(events.find(({ action }) => action === 'api_key.deleted')?.actor, 'program');
  await assertRevoked(at, key);
  assert.equal((await deletionsOf(at)).length, 1);
  assert.equal(at.app.logLines.join('').includes(key), false, 'the log has no secret');
});

test('a program deletes no key of another program, of no program, or of another kind', async () => {
  await using at = await newDeviceClient();
  const { programs } = at.app.service.services;
  await programs.add(operator, { ...program, id: 'other-cli', name: 'Other CLI' });
  const { key } = await newKeyOf(at);
  const own = (await call(at, 'POST', '', { nickname: 'own' })).json as { key: string };
  const begun = await at.begin();
  const rows: readonly [string, Promise<Answered>, number, string | undefined][] = [
    ['another program', at.revoke(key, 'other-cli'), 400, 'invalid_grant'],
    ['no program', at.revoke(own.key), 400, 'invalid_grant'],
    ['an undeclared program', at.revoke(key, 'none-cli'), 401, 'invalid_client'],
    ['no id of a program', at.revoke(key, 'No program'), 401, 'invalid_client'],
    ['no key', at.revoke(makeKey('krv').reveal()), 200, undefined],
    ['a short-lived secret', at.revoke(makeKey('krvt').reveal()), 400, 'unsupported_token_type'],
    ['an access token', at.revoke(at.person.accessToken), 400, 'unsupported_token_type'],
    ['a refresh token', at.revoke(at.person.refreshToken), 400, 'unsupported_token_type'],
    ['a device code', at.revoke(begun.device_code), 400, 'unsupported_token_type'],
    ['another text', at.revoke('text'), 200, undefined],
    ['the key with another checksum', at.revoke(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`), 200, undefined],
  ];
  for (const [name, sent, status, error] of rows) {
    const answer = await sent;
    assert.deepEqual([answer.status, answer.json ? errorOf(answer) : undefined], [status, error], name);
  }
  const authenticated = await at.app.call('POST', '/auth/oauth/revoke', {
    headers: { ...bearer(key), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: program.id, token: key }).toString(),
  });
  assert.deepEqual([authenticated.status, errorOf(authenticated)], [400, 'invalid_request']);
  const without = await at.app.call('POST', '/auth/oauth/revoke', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ client_id: program.id, token_type_hint: 'access_token' }).toString(),
  });
  assert.deepEqual([without.status, errorOf(without)], [400, 'invalid_request']);
  assert.deepEqual([await at.isAccepted(key), await at.isAccepted(own.key)], [true, true]);
  assert.deepEqual(await deletionsOf(at), []);
});

test('a program signs out whatever the state of the key, the account and the program is', async () => {
  await using at = await newDeviceClient();
  const { accounts, programs } = at.app.service.services;
  const disabled = await newKeyOf(at);
  assert.equal((await call(at, 'PATCH', `/${disabled.id}`, { disabled: true })).status, 200);
  await assertRevoked(at, disabled.key);
  const narrowed = await newKeyOf(at);
  await programs.change(operator, program.id, { scopes: [], lifetimeSeconds: 600 });
  await assertRevoked(at, narrowed.key);
  await programs.change(operator, program.id, { lifetimeSeconds: 3_600 });
  const expired = await newKeyOf(at);
  const ofDisabled = await newKeyOf(at);
  const ofRemoved = await newKeyOf(at);
  at.app.clock.advance({ seconds: 3_600 });
  await assertRevoked(at, expired.key);
  await accounts.disable(operator, at.person.account.id);
  await assertRevoked(at, ofDisabled.key);
  await programs.remove(operator, program.id, false);
  await assertRevoked(at, ofRemoved.key);
  assert.equal(errorOf(await at.revoke(ofRemoved.key)), 'invalid_client');
  assert.deepEqual(
    (await deletionsOf(at)).map(({ actor }) => actor),
    Array<string>(5).fill(`program:${program.id}`),
  );
});

testOnBoth('a previous secret signs the program out until its overlap ends, and not later', async () => {
  await using at = await newDeviceClient();
  const rotate = async (id: number, overlapSeconds: number): Promise<string> => {
    const answer = await call(at, 'POST', `/${id}/rotate`, { overlapSeconds });
    assert.equal(answer.status, 200, answer.text);
    return (answer.json as { key: string }).key;
  };
  const kept = await newKeyOf(at);
  const newest = await rotate(kept.id, 60);
  at.app.clock.advance({ seconds: 60 });
  await assertRevoked(at, kept.key);
  assert.equal(await at.isAccepted(newest), true);
  const replaced = await newKeyOf(at);
  await rotate(replaced.id, 0);
  await assertRevoked(at, replaced.key);
  const deleted = await newKeyOf(at);
  const next = await rotate(deleted.id, 60);
  await assertRevoked(at, deleted.key);
  assert.deepEqual([await at.isAccepted(deleted.key), await at.isAccepted(next)], [false, false]);
  assert.deepEqual(await keyIdsOf(at), [kept.id, replaced.id]);
});

testOnBoth('of 16 sign-outs at once beside rotations, each ends the secret, and one deletes the key', async () => {
  await using at = await newDeviceClient();
  for (let round = 0; round < 4; round++) {
    const { key, id } = await newKeyOf(at);
    const before = (await deletionsOf(at)).length;
    const rotation = call(at, 'POST', `/${id}/rotate`, { overlapSeconds: 0 });
    const answers = await Promise.all(Array.from({ length: 16 }, () => at.revoke(key)));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(await at.isAccepted(key), false);
    // Whichever comes first: the rotation ends the secret of the sign-outs, or finds no key.
    const isRotated = (await rotation).status === 200;
    assert.equal((await deletionsOf(at)).length - before, isRotated ? 0 : 1);
    assert.equal((await keyIdsOf(at)).includes(id), isRotated);
  }
});
