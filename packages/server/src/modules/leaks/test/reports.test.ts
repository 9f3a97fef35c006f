/** `POST /auth/leaks`: what a report of leaked secrets ends, what it leaves, and its bounds. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { limits } from '@keyreeve/contract';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected, newKeyClient } from '../../../../test-kit/key-client.ts';
import { newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { keyImporter } from '../../import/api-keys.ts';
import { runImport } from '../../import/run-import.ts';
import { makeKey } from '../../api-keys/key-format.ts';

const on = { environment: { KEYREEVE_LEAK_REPORTS: 'on' } };

const report = (app: TestApp, keys: unknown): Promise<Answered> => app.call('POST', '/auth/leaks', { json: { keys } });

async function accept(app: TestApp, ...keys: string[]): Promise<void> {
  const answer = await report(app, keys);
  assert.deepEqual([answer.status, answer.json], [202, { message: 'The report has been processed.' }]);
}

const leaks = async ({ db }: TestApp) =>
  (await listAuditEvents(db)).filter(({ action }) => action === 'api_key.leaked');

const secretsOf = async (app: TestApp): Promise<unknown[]> =>
  (await leaks(app)).map(({ details }) => (JSON.parse(details ?? '{}') as { secret: string }).secret);

test('a reported secret ends, and its key is disabled until it is rotated', async () => {
  await using client = await newKeyClient(on, { scopes: ['orders:read'] });
  const { app, key, id } = client;
  const before = await client.read();
  assert.equal(await client.statusOf(key), 200);
  await accept(app, key);
  assert.equal(await client.statusOf(key), 401);
  const leaked = await client.read();
  const at = leaked.leakedAt;
  assert.ok(at !== null);
  assert.deepEqual(leaked, {
    ...before,
    leakedAt: at,
    disabledAt: at,
    disabledReason: 'leaked',
    updatedAt: at,
    lastUsedAt: leaked.lastUsedAt,
    lastUsedFrom: leaked.lastUsedFrom,
  });
  assertRejected(await client.send('PATCH', '', { disabled: false }), 'key_leaked');
  assertRejected(await client.send('PATCH', '', { disabled: false, nickname: 'other' }), 'key_leaked');
  assert.equal((await client.change({ nickname: 'renamed' })).disabledReason, 'leaked');
  assert.equal(await client.statusOf(key), 401, 'a change does not restore the secret');
  const rotated = await client.rotate();
  assert.equal(rotated.previousExpiresAt, null, 'the ended secret has no overlap');
  assert.deepEqual([await client.statusOf(key), await client.statusOf(rotated.key)], [401, 200]);
  const { leakedAt, disabledAt, disabledReason, hint } = await client.read();
  assert.deepEqual(
    { leakedAt, disabledAt, disabledReason },
    { leakedAt: null, disabledAt: null, disabledReason: null },
  );
  assert.equal(hint, `krv_…${rotated.key.slice(-4)}`);
  // The report of a secret that has ended changes nothing.
  await accept(app, key);
  assert.equal(await client.statusOf(rotated.key), 200);
  const [event, ...others] = await leaks(app);
  assert.deepEqual(others, []);
  const { actor, accountId, target, details } = event!;
  assert.deepEqual([actor, accountId, target], ['possessor', client.user.account.id, String(id)]);
  const { hash, ...shown } = JSON.parse(details ?? '') as Record<string, unknown>;
  assert.deepEqual(shown, { nickname: 'worker', secret: 'current', by: 'possessor', from: '127.0.0.0/24' });
  assert.match(String(hash), /^01[0-9a-f]{64}$/);
});

test('a leaked key that was disabled before keeps its reason, also after a rotation', async () => {
  await using client = await newKeyClient(on);
  const { app, user, id, key } = client;
  const { keyChanges } = app.service.services;
  await keyChanges.change(operator, user.account.id, id, { disabled: true });
  const { disabledAt } = await client.read();
  client.app.clock.advance({ seconds: 1 });
  await accept(app, key);
  const leaked = await client.read();
  assert.deepEqual([leaked.disabledAt, leaked.disabledReason], [disabledAt, 'administrator']);
  assert.notEqual(leaked.leakedAt, null);
  const enabling = keyChanges.change(operator, user.account.id, id, { disabled: false });
  await assert.rejects(enabling, { code: 'key_leaked' }, 'not even an operator enables it');
  const { key: next } = await client.rotate();
  assert.deepEqual([await client.statusOf(next), (await client.read()).disabledReason], [401, 'administrator']);
  await keyChanges.change(operator, user.account.id, id, { disabled: false });
  assert.deepEqual([await client.statusOf(next), await client.statusOf(key)], [200, 401]);
});

test('a reported previous secret ends alone', async () => {
  await using client = await newKeyClient(on);
  const { key } = await client.rotate({ overlapSeconds: 60 });
  await accept(client.app, client.key);
  assert.deepEqual([await client.statusOf(client.key), await client.statusOf(key)], [401, 200]);
  const { previous, leakedAt, disabledAt } = await client.read();
  assert.deepEqual({ previous, leakedAt, disabledAt }, { previous: null, leakedAt: null, disabledAt: null });
  assert.deepEqual(await secretsOf(client.app), ['previous']);
});

test('a rotation after a leak keeps the running overlap, unless it ends it', async () => {
  for (const [request, isKept] of [
    [{}, true],
    [{ endPrevious: true }, false],
    [{ endCurrent: true }, true],
  ] as const) {
    await using client = await newKeyClient(on);
    const { key } = await client.rotate({ overlapSeconds: 60 });
    const { previous } = await client.read();
    await accept(client.app, key);
    assert.equal(await client.statusOf(client.key), 401, 'the key is disabled');
    const rotated = await client.rotate(request);
    assert.equal(rotated.previousExpiresAt, isKept ? previous?.expiresAt : null);
    assert.deepEqual(
      [await client.statusOf(client.key), await client.statusOf(key), await client.statusOf(rotated.key)],
      [isKept ? 200 : 401, 401, 200],
      JSON.stringify(request),
    );
    const actions = (await listAuditEvents(client.app.db)).map(({ action }) => action).slice(-3);
    assert.deepEqual(actions, ['api_key.leaked', 'api_key.rotated', 'api_key.enabled']);
  }
});

testOnBoth('one report ends the secrets of several accounts, and ignores other texts', async () => {
  await using client = await newKeyClient(on);
  const { app, user } = client;
  const { key: current } = await client.rotate({ overlapSeconds: 60 });
  const other = await app.signIn();
  const { secret } = await app.service.services.apiKeys.create(operator, other.account.id, { nickname: 'other' });
  const untouched = await app.service.services.apiKeys.create(operator, other.account.id, { nickname: 'untouched' });
  const texts = [user.refreshToken, user.accessToken, '', 'krv_', `${current.slice(0, -1)}!`, makeKey('krv').reveal()];
  await accept(app, ...texts, client.key, current, current, secret.reveal());
  for (const ended of [client.key, current, secret.reveal()]) assert.equal(await client.statusOf(ended), 401);
  assert.equal(await client.statusOf(untouched.secret.reveal()), 200);
  assert.deepEqual((await secretsOf(app)).map(String).toSorted(), ['current', 'current', 'previous']);
  const refreshed = await app.call('POST', '/auth/token/refresh', { json: { refreshToken: user.refreshToken } });
  assert.equal(refreshed.status, 200, refreshed.text);
});

test('a key whose prefix begins with that of short-lived secrets ends', async () => {
  const settings: Record<string, string>[] = [
    { KEYREEVE_KEY_PREFIX: 'krvt_live' },
    { KEYREEVE_KEY_PREFIX: 'krvt_x' },
    { KEYREEVE_ENVIRONMENTS: 'live:krvt_live,test:krvt_x' },
  ];
  for (const environment of settings) {
    await using client = await newKeyClient({ environment: { ...on.environment, ...environment } });
    assert.match(client.key, /^krvt_(live|x)_/);
    assert.equal(await client.statusOf(client.key), 200);
    await accept(client.app, client.key);
    assert.equal(await client.statusOf(client.key), 401, JSON.stringify(environment));
    assert.deepEqual(await secretsOf(client.app), ['current']);
  }
});

test('an imported or given secret ends only if its text has the format of a key', async () => {
  const others = ['hunter2', 'krv_hunter2'];
  const ofOurs = [makeKey('krv').reveal(), makeKey('krv').reveal()];
  await using app = await newApp({ environment: on.environment });
  const { apiKeyHash: keyHash } = app.installation.keys;
  const { account } = await app.signIn();
  const { apiKeys, verifier } = app.service.services;
  const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
  const isValid = async (text: string): Promise<boolean> => (await verifier.verify(text)).valid;
  const [imported, given] = [
    [others[0]!, ofOurs[0]!],
    [others[1]!, ofOurs[1]!],
  ];
  const options = { db: app.db, clock: app.clock, keyHash, keysPerAccountMax: 9, isDryRun: false };
  const lines = imported.map((text, index) =>
    JSON.stringify({ account: account.id, nickname: `imported ${index}`, hash: hashOf(text) }),
  );
  const listener = { refused: ({ reason }: { reason: string }) => assert.fail(reason), progress: () => undefined };
  await runImport(Readable.from([Buffer.from(`${lines.join('\n')}\n`)]), keyImporter(operator, options), listener);
  for (const [index, text] of given.entries())
    await apiKeys.createWithHash(operator, account.id, { nickname: `given ${index}` }, hashOf(text));
  for (const text of ofOurs) assert.equal(await isValid(text), true);
  await accept(app, ...others, ...ofOurs);
  for (const text of ofOurs) assert.equal(await isValid(text), false);
  assert.deepEqual(await secretsOf(app), ['current', 'current']);
  const leaked = (await apiKeys.list(account.id)).map(
    ({ nickname, disabledReason }) => `${nickname} ${disabledReason}`,
  );
  const expected = ['imported 0 null', 'imported 1 leaked', 'given 0 null', 'given 1 leaked'];
  assert.deepEqual(leaked.toSorted(), expected.toSorted());
});

const rejected: Record<string, unknown> = {
  'no array': 'krv_1',
  'an empty array': [],
  'another type': [1],
  'too many texts': Array.from({ length: limits.reportedKeysMax + 1 }, () => 'x'),
  'a text that is too long': ['x'.repeat(limits.reportedKeyCharsMax + 1)],
};

test('other bodies are rejected', async () => {
  await using client = await newKeyClient(on);
  for (const [what, keys] of Object.entries(rejected))
    assertProblem(fromFetch(await report(client.app, keys)), 'invalid_request', what);
  const more = { json: { keys: [client.key], more: 1 } };
  assertProblem(fromFetch(await client.app.call('POST', '/auth/leaks', more)), 'invalid_request');
  assert.equal(await client.statusOf(client.key), 200);
});

test('without the setting, the path is unknown', async () => {
  await using client = await newKeyClient();
  for (const [method, path] of [
    ['POST', '/auth/leaks'],
    ['GET', '/auth/leaks'],
  ] as const) {
    const unknown = await client.app.call(method, '/auth/unknown', method === 'POST' ? { json: {} } : {});
    const answer = await client.app.call(method, path, method === 'POST' ? { json: { keys: [client.key] } } : {});
    const bodyOf = ({ json }: Answered) => ({ ...(json as object), instance: undefined, requestId: undefined });
    assert.equal(answer.status, 404);
    assert.deepEqual(bodyOf(answer), bodyOf(unknown));
  }
  assert.equal(await client.statusOf(client.key), 200);
});

const selectCounters = sql<{ count: number }>(
  'test_count_counters',
  'select count(*) as count from rate_limit_buckets',
);
const countCounters = async (db: Db) => (await db.get(selectCounters))?.count;

test('reports are counted per client IP range, and a flood of unknown secrets changes no key', async () => {
  await using client = await newKeyClient(on);
  const { app } = client;
  const events = (await listAuditEvents(app.db)).length;
  const counters = await countCounters(app.db);
  for (let count = 0; count < limits.leakReportsPerHourMax; count++) await accept(app, makeKey('krv').reveal());
  const limited = await report(app, [client.key]);
  assertProblem(fromFetch(limited), 'too_many_requests');
  assert.ok(Number(limited.headers.get('retry-after')) > 3_000);
  assert.equal((await listAuditEvents(app.db)).length, events);
  assert.equal(await countCounters(app.db), counters, 'a report that matches nothing writes nothing');
  assert.equal(await client.statusOf(client.key), 200);
  app.clock.advance({ seconds: 3_600 });
  await accept(app, client.key);
  assert.equal(await client.statusOf(client.key), 401);
});
