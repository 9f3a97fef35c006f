/** Two instances of one PostgreSQL database that both poll. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits, type DeviceKey } from '@keyreeve/contract';
import { currentKind } from '../../../../test-kit/new-db.ts';
import { errorOf, newDeviceClient } from '../../../../test-kit/device-client.ts';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { until } from '../../../../test-kit/until.ts';
import { readUses } from '../../api-keys/use-store.ts';

test('of polls on two instances, one gets the key, and both accept it', () =>
  currentKind.run('postgres', async () => {
    await using at = await newDeviceClient();
    await using other = await newApp({ place: at.app.place, clock: at.app.clock });
    for (let round = 0; round < 20; round++) {
      const deviceCode = await at.approved({ nickname: 'cli' });
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, n) => at.poll(deviceCode, undefined, n % 2 === 0 ? at.app : other)),
      );
      const keys = answers.filter(({ status }) => status === 200).map(({ json }) => json as DeviceKey);
      const errors = answers.filter(({ status }) => status !== 200).map((answer) => errorOf(answer));
      assert.deepEqual([keys.length, [...new Set(errors)]], [1, ['slow_down']]);
      for (const app of [at.app, other]) {
        const headers = { authorization: `Bearer ${keys[0]!.access_token}` };
        assert.equal((await app.call('GET', '/auth/forward', { headers })).status, 200);
      }
    }
  }));

test('a use that another instance has just verified keeps the secret', () =>
  currentKind.run('postgres', async () => {
    await using at = await newDeviceClient();
    await using other = await newApp({ place: at.app.place, clock: at.app.clock });
    const deviceCode = await at.approved();
    const { access_token: key, key_id: id } = await at.fetch(deviceCode);
    at.app.clock.advance({ seconds: limits.deviceRepeatAfterSeconds });
    assert.equal((await other.call('GET', '/auth/forward', { headers: bearer(key) })).status, 200);
    await until('the use is written', async () => (await readUses(at.app.db.usage, [id])).size > 0);
    assert.equal(errorOf(await at.poll(deviceCode)), 'invalid_grant');
    assert.equal(await at.isAccepted(key), true);
  }));
