/** Bounds of requests and of guesses, also for clients with many IP ranges; and that they lock no other person out. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { newDeviceClient, program, type DeviceClient } from '../../../../test-kit/device-client.ts';
import { deleteEndedRequests, insertRequestTx } from '../store.ts';

const ipOf = (n: number): string => `10.${Math.floor(n / 250)}.${n % 250}.7`;
const wrongCode = 'BBBB-BBBB';

/** Stores outstanding requests without codes of anybody. */
async function fill(at: DeviceClient, count: number, rangeOf: (n: number) => string): Promise<void> {
  const now = at.app.clock.now();
  const requested = { scopes: [], lifetimeSeconds: 60 };
  await at.app.db.transaction(
    async (tx) => {
      for (let n = 0; n < count; n++) {
        const hash = (kind: string): Buffer => Buffer.from(`${kind} ${n}`);
        const codes = { userCodeHash: hash('user'), deviceCodeHash: hash('device') };
        const row = { id: `apr_${n}`, programId: program.id, ...codes, clientRange: rangeOf(n), requested };
        await insertRequestTx(tx, { ...row, now, expiresAt: now + 600_000 - (count - n) });
      }
    },
    { isLong: true },
  );
}

testOnBoth('guesses from 1,000 client IP ranges end at the bound, and an honest person still succeeds', async () => {
  await using at = await newDeviceClient();
  const { user_code: code, device_code: deviceCode } = await at.begin({}, '192.0.2.1');
  const thief = await at.app.signIn();
  const guesses = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) => at.send('lookup', { code: wrongCode }, { by: thief, clientIp: ipOf(n) })),
  );
  const counts = new Map<number, number>();
  for (const { status } of guesses) counts.set(status, (counts.get(status) ?? 0) + 1);
  assert.deepEqual(Object.fromEntries(counts), {
    404: limits.wrongCodesPerAccountMax,
    429: 1_000 - limits.wrongCodesPerAccountMax,
  });
  const blocked = await at.send('lookup', { code }, { by: thief, clientIp: ipOf(1_001) });
  assertRejected(blocked, 'too_many_codes');
  assert.equal(blocked.headers.get('retry-after'), '3600');
  await at.approve(code);
  await at.fetch(deviceCode);
  at.app.clock.advance({ seconds: 3_600 });
  const later = await at.app.signIn();
  assertRejected(await at.send('lookup', { code: wrongCode }, { by: later }), 'approval_not_found');
});

testOnBoth('accounts of one client IP range share a bound, and right codes are not counted', async () => {
  await using at = await newDeviceClient();
  const clientIp = '198.51.100.9';
  const { user_code: code } = await at.begin();
  for (let n = 0; n < 2 * limits.wrongCodesPerAccountMax; n++)
    assert.equal((await at.send('lookup', { code }, { clientIp })).status, 200);
  let guesses = 0;
  while (guesses < limits.wrongCodesPerRangeMax) {
    const by = await at.app.signIn();
    for (let n = 0; n < limits.wrongCodesPerAccountMax; n++, guesses++)
      assertRejected(await at.send('lookup', { code: 'no code' }, { by, clientIp }), 'approval_not_found');
  }
  assertRejected(await at.send('lookup', { code }, { clientIp: '198.51.100.77' }), 'too_many_codes');
  assert.equal((await at.send('lookup', { code }, { clientIp: '203.0.113.1' })).status, 200);
  const { id } = await at.approve(code);
  // Without a guess: it is the approval of the account.
  assert.equal((await at.send(`${id}/deny`, { code }, { clientIp })).status, 200);
});

testOnBoth('a client IP range has a bounded number of outstanding requests, also of requests at once', async () => {
  await using at = await newDeviceClient();
  const max = limits.deviceRequestsPerRangeMax;
  const answers = await Promise.all(Array.from({ length: max + 10 }, (_, n) => at.tryBegin({}, `192.0.2.${n}`)));
  assert.equal(answers.filter(({ status }) => status === 200).length, max);
  assertRejected(await at.tryBegin({}, '192.0.2.250'), 'too_many_device_requests');
  await at.begin({}, '192.0.3.1');
  at.app.clock.advance({ seconds: limits.deviceRequestSeconds });
  await at.begin({}, '192.0.2.1');
});

testOnBoth('when 1,000 client IP ranges have all requests of a program, a further range still gets one', async () => {
  await using at = await newDeviceClient();
  await fill(
    at,
    limits.deviceRequestsPerProgramMax,
    (n) => `10.${(n % 1_000) % 4}.${Math.floor((n % 1_000) / 4)}.0/24`,
  );
  const { user_code: code, device_code: deviceCode } = await at.begin({}, '192.0.2.1');
  assertRejected(await at.tryBegin({}, '192.0.2.1'), 'too_many_device_requests');
  await at.begin({}, '198.51.100.1');
  await at.approve(code);
  await at.fetch(deviceCode);
  const before = at.app.clock.now() + 600_000;
  assert.equal(await deleteEndedRequests(at.app.db, before, 1_000), 1_000);
});
