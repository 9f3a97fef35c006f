/** Rivals for one request: polls, approvals and denials at the same time, on one and on two instances. */
import assert from 'node:assert/strict';
import { limits, type DeviceKey } from '@keyreeve/contract';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { errorOf, newDeviceClient, type DeviceClient } from '../../../../test-kit/device-client.ts';
import { bearer, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';

const pollsAtOnce = 500;

/** Polls of some instances at once. @returns the keys, and how many polls got each error */
async function pollAtOnce(at: DeviceClient, deviceCode: string, count: number, apps: readonly TestApp[] = [at.app]) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, n) => at.poll(deviceCode, undefined, apps[n % apps.length])),
  );
  const keys = answers.filter(({ status }) => status === 200).map(({ json }) => json as DeviceKey);
  const errors = new Set(answers.filter(({ status }) => status !== 200).map((answer) => errorOf(answer)));
  return { keys, errors: [...errors].toSorted() };
}

async function keysOf(at: DeviceClient): Promise<unknown[]> {
  const answer = await at.app.call('GET', '/auth/api-keys', { headers: bearer(at.person.accessToken) });
  return (answer.json as { apiKeys: unknown[] }).apiKeys;
}

testOnBoth(`of ${pollsAtOnce} polls of an approved request, one gets the key`, async () => {
  await using at = await newDeviceClient();
  const deviceCode = await at.approved();
  const { keys, errors } = await pollAtOnce(at, deviceCode, pollsAtOnce);
  assert.deepEqual([keys.length, errors], [1, ['slow_down']]);
  assert.equal(await at.isAccepted(keys[0]!.access_token), true);
  assert.equal((await keysOf(at)).length, 1);
});

testOnBoth('of 16 polls after a lost response, one replaces the secret', async () => {
  await using at = await newDeviceClient();
  const deviceCode = await at.approved();
  const first = await at.fetch(deviceCode);
  at.app.clock.advance({ seconds: limits.deviceRepeatAfterSeconds });
  const { keys, errors } = await pollAtOnce(at, deviceCode, 16);
  assert.deepEqual([keys.length, errors], [1, ['slow_down']]);
  const accepted = [await at.isAccepted(first.access_token), await at.isAccepted(keys[0]!.access_token)];
  assert.deepEqual(accepted, [false, true]);
  assert.equal((await keysOf(at)).length, 1);
});

testOnBoth('of 16 approvals at once, one is made', async () => {
  await using at = await newDeviceClient();
  const { user_code: code, device_code: deviceCode } = await at.begin();
  const { id } = await at.lookUp(code);
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, n) => at.send(`${id}/approve`, { code, nickname: `key ${n}` })),
  );
  const approved = answers.filter(({ status }) => status === 200);
  assert.equal(approved.length, 1);
  assert.ok(answers.every(({ status }) => status === 200 || status === 409));
  const { nickname } = approved[0]!.json as { nickname: string };
  assert.equal((await at.fetch(deviceCode)).nickname, nickname);
});

testOnBoth('a denial beside polls: after its response no poll gets a key', async () => {
  await using at = await newDeviceClient();
  for (let round = 0; round < 8; round++) {
    const { user_code: code, device_code: deviceCode } = await at.begin();
    const { id } = await at.approve(code, { nickname: `key ${round}` });
    const denial: Promise<Answered> = at.send(`${id}/deny`, { code });
    const [{ keys }, { status }] = await Promise.all([pollAtOnce(at, deviceCode, 4), denial]);
    const after = await at.poll(deviceCode);
    assert.notEqual(after.status, 200);
    // Either the key exists and the denial came too late, or the other way round.
    assert.deepEqual([keys.length, status], keys.length === 1 ? [1, 409] : [0, 200]);
  }
});
