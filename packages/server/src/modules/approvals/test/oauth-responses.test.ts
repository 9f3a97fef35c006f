/** Responses on which unchanged OAuth clients decide whether to poll again. */
import assert from 'node:assert/strict';
import { deviceCodeGrant, limits } from '@keyreeve/contract';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { errorOf, newDeviceClient, program } from '../../../../test-kit/device-client.ts';
import type { Answered } from '../../../../test-kit/new-app.ts';

test('a service that cannot respond tells a program by the OAuth code whether to try again', async () => {
  await using at = await newDeviceClient();
  const { approvals, programs } = at.app.service.services;
  const change = { kind: 'test', finish: () => Promise.reject(new Error('not finished')) };
  const { device_code: deviceCode, user_code: code } = await at.begin();
  for (let n = 1; n < limits.deviceRequestsPerRangeMax; n++) await at.begin();
  const limited = await at.tryBegin();
  approvals.pending.add((await at.lookUp(code)).id, change);
  const unfinished = await at.poll(deviceCode);
  programs.pending.add(program.id, change);
  const rows: readonly [Answered, number, string, string][] = [
    [limited, 429, 'too_many_device_requests', 'temporarily_unavailable'],
    [unfinished, 503, 'unavailable', 'slow_down'],
    [await at.poll(deviceCode), 503, 'unavailable', 'slow_down'],
    [await at.tryBegin(), 503, 'unavailable', 'temporarily_unavailable'],
    [await at.tryBegin({ scope: 'x'.repeat(100_000) }), 413, 'body_too_large', 'invalid_request'],
  ];
  for (const [answer, status, problem, error] of rows) {
    assert.deepEqual(
      [answer.status, (answer.json as { code: string }).code, errorOf(answer)],
      [status, problem, error],
    );
    assert.equal(answer.headers.has('retry-after'), status !== 413, problem);
  }
});

test('a client that first sends its id as Basic with an empty secret, as Go does, loses no poll', async () => {
  await using at = await newDeviceClient();
  const { device_code: deviceCode } = await at.begin();
  const basic = `Basic ${Buffer.from(`${program.id}:`).toString('base64')}`;
  const refused = await at.app.call('POST', '/auth/oauth/token', {
    headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: deviceCodeGrant,
      client_id: program.id,
      device_code: deviceCode,
    }).toString(),
  });
  assert.deepEqual([refused.status, errorOf(refused)], [400, 'invalid_request']);
  // At once: `slow_down` if the first request were a poll.
  assert.equal(errorOf(await at.poll(deviceCode)), 'authorization_pending');
});
