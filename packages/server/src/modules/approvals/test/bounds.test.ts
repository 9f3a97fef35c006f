/** Bounds of requests and of guesses, also for clients with many IP ranges; and that they lock no other person out. */
import assert from 'node:assert/strict';
import { limits } from '@keyreeve/contract';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { errorOf, newDeviceClient, program, type DeviceClient } from '../../../../test-kit/device-client.ts';
import { aheadMsMax } from '../../../foundation/clock.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { deleteEndedRequests, deleteRequestsAhead } from '../store.ts';

const ipOf = (n: number): string => `10.${Math.floor(n / 250)}.${n % 250}.7`;
const wrongCode = 'BBBB-BBBB';

const fillText = (bytes: (text: string) => string): string => `
  with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < $1)
  insert into approval_requests (id, kind, program_id, user_code_hash, device_code_hash, client_range, state, data,
    created_at, expires_at)
  select 'apr_' || n, 'device', '${program.id}', ${bytes(`'user ' || n`)}, ${bytes(`'device ' || n`)},
    '2001:db8:' || (n % $2) || '::/48', 'pending', '{}', $3, $3 + 600000 - $1 + n from numbers`;
const fillRows = sql('fill_requests', {
  sqlite: fillText((text) => `cast(${text} as blob)`),
  postgres: fillText((text) => `(${text})::bytea`)
    .replaceAll(/\$[12]/g, '$&::int')
    .replaceAll('$3', '$3::bigint'),
});

/** Stores outstanding requests without codes of anybody, of the client IP ranges in turn. */
const fill = (at: DeviceClient, count: number, ranges: number): Promise<number> =>
  at.app.db.transaction((tx) => tx.run(fillRows, [count, ranges, at.app.clock.now()]));

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
  const { id: seen } = await at.lookUp(code);
  let guesses = 0;
  let by = at.person;
  while (guesses < limits.wrongCodesPerRangeMax) {
    by = await at.app.signIn();
    for (let n = 0; n < limits.wrongCodesPerAccountMax; n++, guesses++)
      assertRejected(await at.send('lookup', { code: 'no code' }, { by, clientIp }), 'approval_not_found');
  }
  // The first guess of each further account, and no second one, also of guesses at once.
  for (let n = 0; n < 3; n++) {
    const other = await at.app.signIn();
    const again = { by: other, clientIp: '198.51.100.77' };
    assert.equal((await at.send('lookup', { code }, again)).status, 200);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => at.send('lookup', { code: wrongCode }, again).then(({ status }) => status)),
    );
    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      [404, ...Array<number>(7).fill(429)],
    );
    assertRejected(await at.send('lookup', { code }, again), 'too_many_codes');
    assert.equal((await at.send('lookup', { code }, { by: other, clientIp: '203.0.113.1' })).status, 200);
    // An approval needs the id too: a code alone finds nothing.
    assertRejected(await at.send('apr_other/approve', { code }, again), 'approval_not_found');
    assertRejected(await at.send(`${seen}/approve`, { code: wrongCode }, again), 'approval_not_found');
  }
  assertRejected(await at.send(`${seen}/approve`, { code }, { by, clientIp }), 'too_many_codes');
  assert.equal((await at.send(`${seen}/approve`, { code }, { clientIp })).status, 200);
  assert.equal((await at.send(`${seen}/deny`, { code }, { clientIp })).status, 200);
  const { user_code: next } = await at.begin();
  const { id } = await at.lookUp(next);
  assert.equal((await at.send(`${id}/deny`, { code: next }, { clientIp })).status, 200);
});

testOnBoth('a client IP range has a bounded number of outstanding requests, also of requests at once', async () => {
  await using at = await newDeviceClient();
  const max = limits.deviceRequestsPerRangeMax;
  const answers = await Promise.all(Array.from({ length: max + 10 }, (_, n) => at.tryBegin({}, `192.0.2.${n}`)));
  assert.equal(answers.filter(({ status }) => status === 200).length, max);
  at.app.clock.advance({ seconds: 100 });
  const rejected = await at.tryBegin({}, '192.0.2.250');
  assertRejected(rejected, 'too_many_device_requests');
  assert.equal(rejected.headers.get('retry-after'), String(limits.deviceRequestSeconds - 100));
  await at.begin({}, '192.0.3.1');
  at.app.clock.advance({ seconds: limits.deviceRequestSeconds });
  await at.begin({}, '192.0.2.1');
});

testOnBoth(
  'requests that began while a clock was ahead do not count after the correction, and are deleted',
  async () => {
    await using at = await newDeviceClient();
    const { clock, db } = at.app;
    const max = limits.deviceRequestsPerRangeMax;
    clock.advance({ days: 30 });
    const { device_code: ahead } = await at.begin({}, '192.0.2.1');
    for (let n = 1; n < max; n++) await at.begin({}, '192.0.2.1');
    clock.advance({ days: -30, seconds: aheadMsMax / 1_000 });
    const { device_code: tolerated } = await at.begin({}, '192.0.2.1');
    clock.advance({ seconds: -aheadMsMax / 1_000 });
    for (let n = 1; n < max; n++) await at.begin({}, '192.0.2.1');
    const rejected = await at.tryBegin({}, '192.0.2.1');
    assertRejected(rejected, 'too_many_device_requests');
    assert.equal(rejected.headers.get('retry-after'), String(limits.deviceRequestSeconds));
    assert.equal(await deleteRequestsAhead(db, clock, max - 1), max - 1);
    assert.equal(await deleteRequestsAhead(db, clock, max), 1);
    assert.equal(errorOf(await at.poll(tolerated)), 'authorization_pending');
    clock.advance({ days: 30 });
    assert.equal(errorOf(await at.poll(ahead)), 'invalid_grant');
  },
);

testOnBoth(
  'when 1,000 client IP ranges have all requests of a program, a further range still gets several',
  async () => {
    await using at = await newDeviceClient();
    await fill(at, limits.deviceRequestsPerProgramMax, 1_000);
    const { user_code: code, device_code: deviceCode } = await at.begin({}, '192.0.2.1');
    await at.begin({}, '192.0.2.1');
    await at.begin({}, '198.51.100.1');
    await at.approve(code);
    await at.fetch(deviceCode);
    const before = at.app.clock.now() + 600_000;
    assert.equal(await deleteEndedRequests(at.app.db, before, 1_000), 1_000);
  },
);

testOnBoth(
  '10,000 client IP ranges with one request each lock no other range out, and its second replaces its first',
  async () => {
    await using at = await newDeviceClient();
    await fill(at, limits.deviceRequestsPerProgramMax, limits.deviceRequestsPerProgramMax);
    const first = await at.begin({}, '192.0.2.1');
    const second = await at.begin({}, '192.0.2.2');
    assert.equal(errorOf(await at.poll(first.device_code)), 'invalid_grant');
    await at.approve(second.user_code);
    await at.fetch(second.device_code);
  },
);

testOnBoth('begins at once at the bound delete one old request each, and none of an honest range', async () => {
  await using at = await newDeviceClient();
  // The oldest requests of all.
  const honest = [await at.begin({}, '192.0.2.1'), await at.begin({}, '192.0.2.2'), await at.begin({}, '192.0.2.3')];
  await fill(at, limits.deviceRequestsPerProgramMax - 3, 200);
  const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => at.tryBegin({}, ipOf(n * 2))));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  for (const { device_code: code } of honest) assert.equal(errorOf(await at.poll(code)), 'authorization_pending');
  const before = at.app.clock.now() + 600_000;
  assert.equal(await deleteEndedRequests(at.app.db, before, 20_000), limits.deviceRequestsPerProgramMax);
});

testOnBoth('an office with three requests loses none before 5,000 older client IP ranges with two', async () => {
  await using at = await newDeviceClient();
  await fill(at, limits.deviceRequestsPerProgramMax - 3, 5_000);
  const office = [await at.begin({}, '192.0.2.1'), await at.begin({}, '192.0.2.2'), await at.begin({}, '192.0.2.3')];
  for (let n = 0; n < 8; n++) await at.begin({}, ipOf(n));
  for (const { device_code: code } of office) assert.equal(errorOf(await at.poll(code)), 'authorization_pending');
});

testOnBoth('a page begins no request from the browsers of its visitors, unless its origin is listed', async () => {
  const listed = 'https://app.example.com';
  await using at = await newDeviceClient({ environment: { KEYREEVE_CORS_ORIGINS: listed } });
  const rows: readonly (readonly [status: number, headers: Readonly<Record<string, string>>])[] = [
    [400, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    [400, { origin: 'https://sibling.example.com', 'sec-fetch-site': 'same-site' }],
    [400, { origin: 'null', 'sec-fetch-site': 'cross-site' }],
    [400, { 'sec-fetch-site': 'cross-site' }],
    // A browser without Sec-Fetch-Site, or over HTTP.
    [400, { origin: 'https://evil.example' }],
    [400, { origin: 'null' }],
    [200, { origin: listed, 'sec-fetch-site': 'cross-site' }],
    [200, { origin: 'https://auth.example.com', 'sec-fetch-site': 'same-origin' }],
    [200, { 'sec-fetch-site': 'none' }],
    [200, {}],
  ];
  for (const [status, headers] of rows) {
    const body = `client_id=${program.id}`;
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await at.app.call('POST', '/auth/oauth/device', { headers: { ...type, ...headers }, body });
    assert.equal(answer.status, status, JSON.stringify(headers));
    if (status === 400) assert.equal(errorOf(answer), 'invalid_request');
  }
  const begun = rows.filter(([status]) => status === 200).length;
  assert.equal(await deleteEndedRequests(at.app.db, at.app.clock.now() + 600_000, 100), begun);
});
