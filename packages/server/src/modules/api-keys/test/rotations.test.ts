/** Rotations: a new secret, an overlap with the previous one, and its end. */
import assert from 'node:assert/strict';
import { limits, type KeyDetails, type RotatedKey } from '@keyreeve/contract';
import { basic, bearer, goodPassword, operator } from '../../../../test-kit/new-app.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected, newKeyClient, type KeyClient } from '../../../../test-kit/key-client.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { listKeyPrefixes } from '../store.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;
const instant = (client: KeyClient, seconds = 0): string =>
  new Date(client.app.clock.now() + seconds * 1000).toISOString();
/** The statuses of verifications. */
const statusesOf = (client: KeyClient, keys: readonly string[]): Promise<number[]> =>
  Promise.all(keys.map((key) => client.statusOf(key)));

/** @returns the key with the times of the last use of both secrets */
async function afterWriting(client: KeyClient): Promise<KeyDetails> {
  await client.app.service.services.uses.flush();
  return client.read();
}

test('a rotation returns a new secret, and the previous one is valid until the end of the overlap', async () => {
  await using client = await newKeyClient({}, { scopes: ['a'], metadata: { a: 1 } });
  const before = await client.read();
  await client.advance(hourSeconds);
  const answer = await client.send('POST', '/rotate');
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  const { key, ...rotated } = answer.json as RotatedKey;
  assert.match(key, /^krv_[0-9A-Za-z]{49}$/);
  const { id, nickname, createdAt } = before;
  assert.deepEqual(rotated, {
    id,
    nickname,
    createdAt,
    updatedAt: instant(client),
    previousExpiresAt: instant(client, daySeconds),
  });
  const previous = { expiresAt: instant(client, daySeconds), lastUsedAt: null };
  const hint = `krv_…${key.slice(-4)}`;
  assert.deepEqual(await client.read(), { ...before, updatedAt: instant(client), hint, previous });
  assert.deepEqual(await statusesOf(client, [client.key, key]), [200, 200]);

  const { previous: used } = await afterWriting(client);
  assert.equal(used?.lastUsedAt, instant(client), 'the owner sees that it is still used');
  await client.advance(daySeconds - 1);
  assert.deepEqual(await statusesOf(client, [client.key, key]), [200, 200]);
  await client.advance(1);
  assert.deepEqual(await statusesOf(client, [client.key, key]), [401, 200]);
  assert.equal((await client.read()).previous, null);
});

/** Bodies that are rejected, with the pointer of the error. */
const badRotations: Readonly<Record<string, readonly [body: unknown, pointer: string]>> = {
  'a fraction': [{ overlapSeconds: 1.5 }, '/overlapSeconds'],
  'a negative overlap': [{ overlapSeconds: -1 }, '/overlapSeconds'],
  'more than 30 days': [{ overlapSeconds: 2_592_001 }, '/overlapSeconds'],
  'an overlap as text': [{ overlapSeconds: '60' }, '/overlapSeconds'],
  'an overlap of null': [{ overlapSeconds: null }, '/overlapSeconds'],
  'endCurrent with an overlap': [{ endCurrent: true, overlapSeconds: 0 }, '/overlapSeconds'],
  'endCurrent with endPrevious': [{ endCurrent: true, endPrevious: false }, '/endPrevious'],
  'endCurrent as a number': [{ endCurrent: 1 }, '/endCurrent'],
  'endPrevious as text': [{ endPrevious: 'true' }, '/endPrevious'],
  'an unknown member': [{ key: 'krv_mine' }, '/key'],
  'an array': [[], ''],
};

test('a rotation with an invalid body changes nothing', { tags: ['asvs:2.2.1'] }, async () => {
  await using client = await newKeyClient();
  const before = await client.read();
  for (const [what, [body, pointer]] of Object.entries(badRotations))
    assert.deepEqual(
      assertRejected(await client.send('POST', '/rotate', body), 'invalid_request', what),
      [pointer],
      what,
    );
  const headers = { ...bearer(client.user.accessToken), 'content-type': 'application/json' };
  const duplicate = { headers, body: '{"overlapSeconds":0,"overlapSeconds":1}' };
  const path = `/auth/api-keys/${client.id}/rotate`;
  assertRejected(await client.app.call('POST', path, duplicate), 'malformed_json');
  assert.deepEqual(await client.read(), before);
  assert.equal(await client.statusOf(client.key), 200);
});

test('the overlap never ends later than the key, and without an overlap the previous secret ends immediately', async () => {
  await using client = await newKeyClient();
  await client.change({ expiresAt: instant(client, hourSeconds) });
  const first = await client.rotate({ overlapSeconds: 30 * daySeconds });
  assert.equal(first.previousExpiresAt, instant(client, hourSeconds));
  // The key gets a later expiry; the overlap does not.
  await client.change({ expiresAt: null });
  await client.advance(hourSeconds);
  assert.deepEqual(await statusesOf(client, [client.key, first.key]), [401, 200]);

  const second = await client.rotate({ overlapSeconds: 0 });
  assert.equal(second.previousExpiresAt, null);
  assert.deepEqual(await statusesOf(client, [client.key, first.key, second.key]), [401, 401, 200]);
  const third = await client.rotate({ overlapSeconds: 30 * daySeconds });
  assert.equal(third.previousExpiresAt, instant(client, 30 * daySeconds));
  await client.change({ expiresAt: instant(client, daySeconds) });
  assert.equal((await client.read()).previous?.expiresAt, instant(client, daySeconds));

  // An expired key has no overlap.
  await client.send('DELETE', '/previous');
  await client.change({ expiresAt: instant(client, 1) });
  await client.advance(2);
  assert.equal((await client.rotate()).previousExpiresAt, null);
});

test('a rotation during an overlap requires endPrevious, and ends the older secret', async () => {
  await using client = await newKeyClient();
  const second = await client.rotate({ overlapSeconds: hourSeconds });
  const before = await client.read();
  for (const body of [{}, { overlapSeconds: 0 }, { endPrevious: false }])
    assertRejected(await client.send('POST', '/rotate', body), 'overlap_in_progress');
  assert.deepEqual(await client.read(), before);
  const third = await client.rotate({ endPrevious: true });
  assert.deepEqual(await statusesOf(client, [client.key, second.key, third.key]), [401, 200, 200]);
});

test(
  'a rotation with endCurrent ends only the current secret, and the previous one keeps its overlap',
  { tags: ['asvs:7.4.1'] },
  async () => {
    await using client = await newKeyClient({}, { scopes: ['a'], metadata: { a: 1 } });
    // The client does not receive this response.
    const lost = await client.rotate({ overlapSeconds: hourSeconds });
    await client.advance(600);
    assert.deepEqual(await statusesOf(client, [client.key, lost.key]), [200, 200]);
    const before = await afterWriting(client);
    assert.equal(before.previous?.lastUsedAt, instant(client));
    await client.advance(1);

    const { key, ...rotated } = await client.rotate({ endCurrent: true });
    const { id, nickname, createdAt } = before;
    const previousExpiresAt = instant(client, hourSeconds - 601);
    assert.deepEqual(rotated, { id, nickname, createdAt, updatedAt: instant(client), previousExpiresAt });
    assert.deepEqual(await statusesOf(client, [client.key, lost.key, key]), [200, 401, 200]);
    const hint = `krv_…${key.slice(-4)}`;
    assert.deepEqual(await client.read(), { ...before, updatedAt: instant(client), hint });
    const event = (await listAuditEvents(client.app.db)).at(-1);
    assert.deepEqual(
      [event?.action, event?.details],
      ['api_key.rotated', '{"nickname":"worker","overlapSeconds":2999,"ended":"current"}'],
    );

    await client.advance(hourSeconds - 602);
    const last = await client.rotate({ endCurrent: true });
    assert.deepEqual(await statusesOf(client, [client.key, key, last.key]), [200, 401, 200]);
    await client.advance(1);
    assert.deepEqual(await statusesOf(client, [client.key, last.key]), [401, 200]);
  },
);

test('a rotation with endCurrent never ends the only valid secret', async () => {
  await using client = await newKeyClient();
  const refuse = async (): Promise<void> => {
    const before = await client.read();
    assertRejected(await client.send('POST', '/rotate', { endCurrent: true }), 'no_overlap_in_progress');
    assert.deepEqual(await client.read(), before);
  };
  await refuse();
  const second = await client.rotate({ overlapSeconds: 60 });
  await client.advance(60);
  await refuse();
  const third = await client.rotate();
  assert.equal((await client.send('DELETE', '/previous')).status, 200);
  await refuse();
  assert.deepEqual(await statusesOf(client, [client.key, second.key, third.key]), [401, 401, 200]);
  const fourth = await client.rotate({ endCurrent: false, overlapSeconds: 60 });
  assert.deepEqual(await statusesOf(client, [third.key, fourth.key]), [200, 200]);
});

test('a rotation with endCurrent keeps a key disabled or restricted', { tags: ['asvs:7.4.1'] }, async () => {
  await using client = await newKeyClient();
  const lost = await client.rotate();
  await client.change({ disabled: true });
  const { key } = await client.rotate({ endCurrent: true });
  const all = [client.key, lost.key, key];
  assert.deepEqual(await statusesOf(client, all), [401, 401, 401]);
  await client.change({ disabled: false, addresses: ['192.0.2.1'] });
  assert.deepEqual(await statusesOf(client, all), [403, 401, 403]);
  const last = await client.rotate({ endCurrent: true });
  assert.deepEqual(await statusesOf(client, [...all, last.key]), [403, 401, 401, 403]);
  await client.change({ addresses: null });
  assert.deepEqual(await statusesOf(client, [...all, last.key]), [200, 401, 401, 200]);
});

test('ending the previous secret applies immediately, and again finds none', { tags: ['asvs:7.4.1'] }, async () => {
  await using client = await newKeyClient();
  assertRejected(await client.send('DELETE', '/previous'), 'no_previous_secret');
  const { key } = await client.rotate();
  const ended = await client.send('DELETE', '/previous');
  const message = `The previous secret of API key ${client.id} has ended.`;
  assert.deepEqual([ended.status, ended.json], [200, { message }]);
  assert.deepEqual(await statusesOf(client, [client.key, key]), [401, 200]);
  assertRejected(await client.send('DELETE', '/previous'), 'no_previous_secret');
  assert.equal((await client.rotate({ overlapSeconds: 60 })).previousExpiresAt, instant(client, 60));
  await client.advance(60);
  assertRejected(await client.send('DELETE', '/previous'), 'no_previous_secret', 'the overlap has ended');
});

test('disabling, deleting or restricting a key applies to both of its secrets', { tags: ['asvs:7.4.1'] }, async () => {
  await using client = await newKeyClient();
  const { key } = await client.rotate();
  await client.change({ disabled: true });
  assert.deepEqual(await statusesOf(client, [client.key, key]), [401, 401]);
  const third = await client.rotate({ endPrevious: true });
  assert.deepEqual(await statusesOf(client, [key, third.key]), [401, 401], 'a rotation does not enable the key');
  await client.change({ disabled: false });
  assert.deepEqual(await statusesOf(client, [key, third.key]), [200, 200]);
  await client.change({ addresses: ['192.0.2.1'] });
  assert.deepEqual(await statusesOf(client, [key, third.key]), [403, 403]);
  await client.change({ addresses: null });
  assert.equal((await client.send('DELETE')).status, 200);
  assert.deepEqual(await statusesOf(client, [key, third.key]), [401, 401]);
  assertRejected(await client.send('POST', '/rotate', { endPrevious: true }), 'key_not_found');
});

test('a rotation records the prefix of the new secret', async () => {
  await using client = await newKeyClient();
  // As after a change of the prefix without a creation.
  await client.app.db.transaction((tx) => tx.run(sql('test_forget_prefixes', 'delete from key_prefixes')));
  await client.rotate();
  assert.deepEqual(
    (await listKeyPrefixes(client.app.db)).map(({ prefix }) => prefix),
    ['krv'],
  );
});

test('only the response to a rotation contains the new secret', { tags: ['asvs:15.3.1'] }, async () => {
  await using client = await newKeyClient();
  const { key } = await client.rotate();
  assert.equal(await client.statusOf(key), 200);
  const random = key.slice('krv_'.length);
  const answers = [
    await client.send('GET'),
    await client.send('POST', '/rotate'),
    await client.send('PATCH', '', { nickname: 'renamed' }),
    await client.app.call('GET', '/auth/api-keys?view=full', { headers: bearer(client.user.accessToken) }),
    await client.send('DELETE', '/previous'),
    await client.send('DELETE'),
  ];
  for (const { text, headers } of answers) assert.ok(!(text + JSON.stringify([...headers])).includes(random));
  assert.ok(client.app.logLines.length > 0);
  assert.ok(!client.app.logLines.join('').includes(random));
  const events = (await listAuditEvents(client.app.db)).filter(({ target }) => target === String(client.id));
  assert.ok(!JSON.stringify(events).includes(random));
  assert.deepEqual(
    events.slice(1).map(({ action, details }) => [action, details]),
    [
      ['api_key.rotated', '{"nickname":"worker","overlapSeconds":86400}'],
      ['api_key.updated', '{"nickname":"renamed","changed":["nickname"],"narrowed":[]}'],
      ['api_key.previous_ended', '{"nickname":"renamed"}'],
      ['api_key.deleted', '{"nickname":"renamed"}'],
    ],
  );
});

test('a key with a reserved scope is rotated only soon after a sign-in', { tags: ['asvs:7.5.1'] }, async () => {
  await using client = await newKeyClient();
  const { app, user } = client;
  const { id } = await app.service.services.apiKeys.create(operator, user.account.id, {
    nickname: 'gateway',
    scopes: ['keyreeve:verify'],
  });
  const rotate = () => app.call('POST', `/auth/api-keys/${id}/rotate`, { headers: bearer(user.accessToken) });
  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  assertRejected(await rotate(), 'reauth_required');
  // Its scopes may stay, and without the reserved one it is a key like any other.
  const change = (scopes: readonly string[]) =>
    app.call('PATCH', `/auth/api-keys/${id}`, { headers: bearer(user.accessToken), json: { scopes } });
  assert.equal((await change(['keyreeve:verify', 'a'])).status, 200);
  assertRejected(await rotate(), 'reauth_required');
  assert.equal((await change(['a'])).status, 200);
  assertRejected(await change(['a', 'keyreeve:verify']), 'reserved_scope');
  assert.equal((await rotate()).status, 200);
});

test(
  'a key with a reserved scope is widened only soon after a sign-in, and always narrowed',
  { tags: ['asvs:7.5.1'] },
  async () => {
    await using client = await newKeyClient();
    const { app, user } = client;
    const { id } = await app.service.services.apiKeys.create(operator, user.account.id, {
      nickname: 'gateway',
      scopes: ['keyreeve:verify'],
    });
    const change = (json: object) =>
      app.call('PATCH', `/auth/api-keys/${id}`, { headers: bearer(user.accessToken), json });
    const narrowing = [
      { addresses: ['192.0.2.0/24'] },
      { expiresAt: '2027-01-01T00:00:00Z' },
      { disabled: true },
      { nickname: 'proxy', metadata: { a: 1 } },
    ];
    const widening = [
      { addresses: ['192.0.2.1'] },
      { addresses: null },
      { expiresAt: '2027-01-02T00:00:00Z' },
      { expiresAt: null },
      { disabled: false },
    ];
    app.clock.advance({ seconds: 301 });
    for (const json of narrowing) assert.equal((await change(json)).status, 200, JSON.stringify(json));
    for (const json of widening) assertRejected(await change(json), 'reauth_required', JSON.stringify(json));
    const { expiresAt, disabledReason, addresses } = await app.service.services.keyChanges.read(user.account.id, id);
    assert.deepEqual(
      { expiresAt, disabledReason, addresses },
      { expiresAt: Date.parse('2027-01-01T00:00:00Z'), disabledReason: 'owner', addresses: '192.0.2.0/24' },
    );
    const { accessToken } = (
      await app.call('POST', '/auth/token', {
        headers: basic(user.account.email, goodPassword),
      })
    ).json as { accessToken: string };
    for (const json of widening) {
      const answer = await app.call('PATCH', `/auth/api-keys/${id}`, { headers: bearer(accessToken), json });
      assert.equal(answer.status, 200, answer.text);
    }
  },
);

test('an administrator adds a reserved scope only soon after a sign-in', { tags: ['asvs:7.5.1'] }, async () => {
  await using client = await newKeyClient();
  const { app } = client;
  const administrator = await newAdministrator(app);
  const headers = bearer(administrator.accessToken);
  const { json } = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'gateway' } });
  const path = `/auth/api-keys/${(json as { id: number }).id}`;
  const change = () => app.call('PATCH', path, { headers, json: { scopes: ['keyreeve:verify'] } });
  app.clock.advance({ seconds: limits.recentSignInSeconds + 1 });
  assertRejected(await change(), 'reauth_required');
  app.clock.advance({ seconds: -1 });
  assert.equal((await change()).status, 200);
  // The scope is in force only while the account has the role.
  await app.service.services.accounts.setRole(operator, administrator.account.id, 'user');
  const shown = await app.call('GET', path, { headers });
  assert.deepEqual((shown.json as { scopes: string[] }).scopes, []);
});
