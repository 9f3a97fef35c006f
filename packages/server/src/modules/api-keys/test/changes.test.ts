/** Changes of one key: what each member does, and what is rejected without any effect. */
import assert from 'node:assert/strict';
import type { ErrorCode, Problem } from '@keyreeve/contract';
import { bearer } from '../../../../test-kit/new-app.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { assertRejected, newKeyClient, type KeyClient } from '../../../../test-kit/key-client.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));

type Bad = readonly [body: unknown, code: ErrorCode, pointer?: string];

/** The time is 2026-11-21T09:30:00Z. Each body also has a valid narrowing member, unless it has the same name. */
const badChanges: Readonly<Record<string, Bad>> = {
  'an unknown member': [{ note: 'a' }, 'invalid_request', '/note'],
  'the id': [{ id: 1 }, 'invalid_request', '/id'],
  'the secret': [{ key: 'krv_mine' }, 'invalid_request', '/key'],
  'the time of creation': [{ createdAt: '2020-01-01T00:00:00Z' }, 'invalid_request', '/createdAt'],
  'the reason of a disabling': [{ disabledReason: 'administrator' }, 'invalid_request', '/disabledReason'],
  'another case': [{ Disabled: true }, 'invalid_request', '/Disabled'],
  'no nickname': [{ nickname: null }, 'invalid_request', '/nickname'],
  'an empty nickname': [{ nickname: '' }, 'invalid_request', '/nickname'],
  'a nickname with a control character': [{ nickname: 'a\u0000' }, 'nickname_invalid', '/nickname'],
  'no scopes': [{ scopes: null }, 'invalid_request', '/scopes'],
  'scopes as text': [{ scopes: 'a' }, 'invalid_request', '/scopes'],
  'a scope with a space': [{ scopes: ['a b'] }, 'invalid_request', '/scopes/0'],
  'a repeated scope': [{ scopes: ['a', 'a'] }, 'invalid_request', '/scopes'],
  '33 scopes': [{ scopes: many(33, String) }, 'invalid_request', '/scopes'],
  'a reserved scope': [{ scopes: ['keyreeve:verify'] }, 'reserved_scope'],
  'an unknown reserved scope': [{ scopes: ['keyreeve:other'] }, 'reserved_scope'],
  'an expiry in the past': [{ expiresAt: '2026-11-21T09:29:59.999Z' }, 'invalid_request', '/expiresAt'],
  'an expiry now': [{ expiresAt: '2026-11-21T09:30:00Z' }, 'invalid_request', '/expiresAt'],
  'a leap second': [{ expiresAt: '2026-12-31T23:59:60Z' }, 'invalid_request', '/expiresAt'],
  'an expiry as a number': [{ expiresAt: 1_900_000_000 }, 'invalid_request', '/expiresAt'],
  'an expiry without zone': [{ expiresAt: '2027-01-31T00:00:00' }, 'invalid_request', '/expiresAt'],
  'disabled as text': [{ disabled: 'true' }, 'invalid_request', '/disabled'],
  'disabled as null': [{ disabled: null }, 'invalid_request', '/disabled'],
  'addresses as text': [{ addresses: '192.0.2.1' }, 'invalid_request', '/addresses'],
  'no addresses': [{ addresses: [] }, 'invalid_request', '/addresses'],
  '33 addresses': [{ addresses: many(33, (i) => `192.0.2.${i}`) }, 'invalid_request', '/addresses'],
  'an address as a number': [{ addresses: ['192.0.2.1', 5] }, 'invalid_request', '/addresses/1'],
  'a long address': [{ addresses: ['1'.repeat(65)] }, 'invalid_request', '/addresses/0'],
  'metadata as text': [{ metadata: '{}' }, 'invalid_request', '/metadata'],
  'metadata as an array': [{ metadata: [] }, 'invalid_request', '/metadata'],
  '1,025 bytes of metadata': [{ metadata: { a: 'x'.repeat(1_017) } }, 'invalid_request', '/metadata'],
  '1,025 bytes of metadata in UTF-8': [{ metadata: { a: `${'é'.repeat(508)}x` } }, 'invalid_request', '/metadata'],
  'an inexact number': [{ metadata: { 'a/b': [0, 9_007_199_254_740_992] } }, 'invalid_request', '/metadata/a~1b/1'],
};

/** Bodies that are sent as they are. */
const badBodies: Readonly<Record<string, Bad>> = {
  'an empty object': ['{}', 'invalid_request', ''],
  'an array': ['[{"disabled":true}]', 'invalid_request', ''],
  null: ['null', 'invalid_request', ''],
  'no body': ['', 'malformed_json'],
  'a duplicate member': ['{"disabled":false,"disabled":true}', 'malformed_json'],
  'a duplicate member of the metadata': ['{"disabled":true,"metadata":{"a":1,"a":2}}', 'malformed_json'],
  '__proto__ in the metadata': ['{"disabled":true,"metadata":{"__proto__":{"a":1}}}', 'malformed_json'],
  'deep metadata': [`{"disabled":true,"metadata":{"a":${'['.repeat(8)}${']'.repeat(8)}}}`, 'malformed_json'],
  'a number beyond all bounds': ['{"disabled":true,"metadata":{"a":1e400}}', 'invalid_request', '/metadata/a'],
};

/** Whether the key is valid, its state, and the number of audit events. */
async function stateOf(client: KeyClient): Promise<unknown> {
  const status = await client.statusOf(client.key);
  await client.app.service.services.uses.flush();
  return [status, await client.read(), (await listAuditEvents(client.app.db)).length];
}

test('a change with an invalid member applies no member', { tags: ['asvs:2.2.1', 'asvs:2.3.3'] }, async () => {
  await using client = await newKeyClient({}, { scopes: ['a', 'b'], metadata: { kept: 1 } });
  const before = await stateOf(client);
  for (const [what, [members, code, pointer]] of Object.entries(badChanges)) {
    const pointers = assertRejected(
      await client.send('PATCH', '', { disabled: true, ...(members as object) }),
      code,
      what,
    );
    if (pointer !== undefined) assert.deepEqual(pointers, [pointer], what);
  }
  const headers = { ...bearer(client.user.accessToken), 'content-type': 'application/json' };
  for (const [what, [body, code, pointer]] of Object.entries(badBodies)) {
    const path = `/auth/api-keys/${client.id}`;
    const pointers = assertRejected(await client.app.call('PATCH', path, { headers, body: String(body) }), code, what);
    if (pointer !== undefined) assert.deepEqual(pointers, [pointer], what);
  }
  for (const type of ['text/plain', 'application/merge-patch+json']) {
    const options = { headers: { ...headers, 'content-type': type }, body: '{"disabled":true}' };
    const answer = await client.app.call('PATCH', `/auth/api-keys/${client.id}`, options);
    assertRejected(answer, 'unsupported_media_type', type);
  }
  assert.deepEqual(await stateOf(client), before);
});

/** With the text that the error contains: the canonical form if there is one. */
const badAddresses: Readonly<Record<string, readonly [addresses: readonly string[], pointer: string, detail: RegExp]>> =
  {
    'host bits': [['203.0.113.7/24'], '/addresses/0', /did you mean 203\.0\.113\.0\/24\?/],
    'host bits of IPv6': [['2001:DB8::1/32'], '/addresses/0', /did you mean 2001:db8::\/32\?/],
    'host bits of IPv4-mapped IPv6': [['::ffff:203.0.113.7/120'], '/addresses/0', /did you mean 203\.0\.113\.0\/24\?/],
    'IPv4-mapped IPv6 that is wider than IPv4': [['::ffff:0:0/33'], '/addresses/0', /^Expected/],
    'a zone id': [['fe80::1%eth0'], '/addresses/0', /^Expected/],
    'octal IPv4': [['010.0.0.1'], '/addresses/0', /^Expected/],
    'short IPv4': [['10.1'], '/addresses/0', /^Expected/],
    'hexadecimal IPv4': [['0x0a000001'], '/addresses/0', /^Expected/],
    'a host name': [['localhost'], '/addresses/0', /^Expected/],
    empty: [['192.0.2.1', ''], '/addresses/1', /^Expected/],
    'a port': [['192.0.2.1:80'], '/addresses/0', /^Expected/],
    brackets: [['[2001:db8::1]'], '/addresses/0', /^Expected/],
    'space at the end': [['192.0.2.1 '], '/addresses/0', /^Expected/],
    'a range from another': [['192.0.2.1-192.0.2.9'], '/addresses/0', /^Expected/],
    'a mask': [['192.0.2.0/255.255.255.0'], '/addresses/0', /^Expected/],
    '33 bits': [['192.0.2.0/33'], '/addresses/0', /^Expected/],
    '129 bits': [['2001:db8::/129'], '/addresses/0', /^Expected/],
    'bits with a leading zero': [['192.0.2.0/024'], '/addresses/0', /^Expected/],
    'no bits': [['192.0.2.0/'], '/addresses/0', /^Expected/],
    'two prefixes': [['192.0.2.0/24/24'], '/addresses/0', /^Expected/],
    'a duplicate': [['192.0.2.1', '192.0.2.1'], '/addresses/1', /^192\.0\.2\.1\/32 is already in the list/],
    'a duplicate in another form': [
      ['192.0.2.1/32', '::ffff:c000:201'],
      '/addresses/1',
      /^192\.0\.2\.1\/32 is already/,
    ],
  };

test('IP ranges that are not in canonical form are rejected with that form', { tags: ['asvs:2.2.1'] }, async () => {
  await using client = await newKeyClient();
  for (const [what, [addresses, pointer, detail]] of Object.entries(badAddresses)) {
    const answer = fromFetch(await client.send('PATCH', '', { addresses }));
    const { errors = [] }: Problem = assertProblem(answer, 'invalid_request', what);
    assert.deepEqual(
      errors.map((error) => error.pointer),
      [pointer],
      what,
    );
    assert.match(errors[0]?.detail ?? '', detail, what);
  }
  assert.equal((await client.read()).addresses, null);
});

test('a change returns all members of the key, and what it does not name stays', async () => {
  await using client = await newKeyClient();
  const now = new Date(client.app.clock.now()).toISOString();
  const unchanged = {
    id: client.id,
    nickname: 'worker',
    createdAt: now,
    updatedAt: now,
    scopes: [],
    expiresAt: null,
    disabledAt: null,
    disabledReason: null,
    leakedAt: null,
    environment: null,
    hint: `krv_…${client.key.slice(-4)}`,
    publicKey: null,
    trust: null,
    addresses: null,
    limits: null,
    quotaUse: null,
    metadata: null,
    lastUsedAt: null,
    lastUsedFrom: null,
    previous: null,
  };
  assert.deepEqual(await client.read(), unchanged);
  client.app.clock.advance({ seconds: 1 });
  const updatedAt = new Date(client.app.clock.now()).toISOString();
  const changes: readonly (readonly [sent: object, shown: object])[] = [
    [{ nickname: 'Cafe\u0301' }, { nickname: 'Café' }],
    [{ scopes: ['b', 'a'] }, { scopes: ['b', 'a'] }],
    [{ expiresAt: '2027-01-31T00:00:00+02:00' }, { expiresAt: '2027-01-30T22:00:00.000Z' }],
    [
      { addresses: ['203.0.113.7', '::ffff:198.51.100.0/120', '2001:DB8:0::/48', '0.0.0.0/0'] },
      { addresses: ['203.0.113.7/32', '198.51.100.0/24', '2001:db8::/48', '0.0.0.0/0'] },
    ],
    [{ metadata: { customer: 'cus_182' } }, { metadata: { customer: 'cus_182' } }],
    [{ disabled: true }, { disabledReason: 'owner' }],
  ];
  let expected: object = unchanged;
  for (const [sent, shown] of changes) {
    const { updatedAt: changedAt, disabledAt, ...others } = await client.change(sent);
    expected = { ...expected, ...shown };
    const { updatedAt: _, disabledAt: __, ...wanted } = expected as typeof unchanged;
    assert.deepEqual(others, wanted);
    assert.ok(changedAt >= updatedAt);
    assert.equal(disabledAt, 'disabled' in sent ? updatedAt : null);
    assert.deepEqual(
      { ...(await client.read()), updatedAt: changedAt },
      { ...others, updatedAt: changedAt, disabledAt },
    );
  }
  const cleared = await client.change({
    scopes: [],
    expiresAt: null,
    addresses: null,
    metadata: null,
    disabled: false,
  });
  const { updatedAt: _, ...others } = { ...unchanged, nickname: 'Café' };
  const { updatedAt: clearedAt, ...shown } = cleared;
  assert.deepEqual(shown, others);
  assert.ok(clearedAt > updatedAt);
  assert.equal(await client.statusOf(client.key), 200);
});

test('metadata is merged: absent members stay, and null removes a member', async () => {
  await using client = await newKeyClient();
  const steps: readonly (readonly [sent: object | null, stored: object | null])[] = [
    [
      { a: 1, b: { c: 2, d: 3 } },
      { a: 1, b: { c: 2, d: 3 } },
    ],
    [
      { b: { c: null, e: [null] }, f: null },
      { a: 1, b: { d: 3, e: [null] } },
    ],
    [{ a: null, b: 'text' }, { b: 'text' }],
    [{ b: { x: null } }, { b: {} }],
    [{ b: null }, {}],
    [null, null],
    [{ full: 'x'.repeat(1_011) }, { full: 'x'.repeat(1_011) }],
  ];
  for (const [metadata, stored] of steps)
    assert.deepEqual((await client.change({ metadata })).metadata, stored, JSON.stringify(metadata));
  // The bound applies to the result.
  assert.deepEqual(assertRejected(await client.send('PATCH', '', { metadata: { more: 'xx' } }), 'invalid_request'), [
    '/metadata',
  ]);
});

test('a request that changes nothing is not recorded, and the time of the last change stays', async () => {
  await using client = await newKeyClient();
  const body = {
    nickname: 'worker',
    scopes: ['a'],
    expiresAt: '2027-01-31T00:00:00Z',
    addresses: ['192.0.2.0/24'],
    metadata: { a: 1 },
    disabled: true,
  };
  const changed = await client.change(body);
  const events = await listAuditEvents(client.app.db);
  client.app.clock.advance({ seconds: 60 });
  assert.deepEqual(await client.change(body), changed);
  assert.deepEqual(await client.change({ metadata: {} }), changed);
  assert.deepEqual(await client.change({ addresses: ['::ffff:192.0.2.0/120'] }), changed);
  assert.deepEqual(await listAuditEvents(client.app.db), events);
  assert.deepEqual(
    events.slice(-2).map(({ action, details }) => [action, JSON.parse(details ?? '')]),
    [
      [
        'api_key.updated',
        {
          nickname: 'worker',
          changed: ['scopes', 'expiresAt', 'addresses', 'metadata'],
          narrowed: ['expiresAt', 'addresses'],
          scopesBefore: [],
          scopes: ['a'],
        },
      ],
      ['api_key.disabled', { nickname: 'worker', reason: 'owner' }],
    ],
  );
});

test('the nickname of another key of the account is rejected, and that of another account’s key is not', async () => {
  await using client = await newKeyClient();
  const { app, user } = client;
  const create = (accessToken: string, nickname: string) =>
    app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname } });
  await create(user.accessToken, 'taken');
  await create((await app.signIn()).accessToken, 'elsewhere');
  assertRejected(await client.send('PATCH', '', { nickname: 'taken', disabled: true }), 'nickname_taken');
  assert.equal((await client.read()).disabledAt, null);
  assert.equal((await client.change({ nickname: 'elsewhere' })).nickname, 'elsewhere');
  assert.equal((await create(user.accessToken, 'worker')).status, 201, 'the earlier nickname is free');
});

test('a shortened expiry, and a scope that is removed, apply to the next verification', async () => {
  await using client = await newKeyClient({}, { scopes: ['a', 'b'] });
  const withScope = async (): Promise<number> =>
    (await client.app.call('GET', '/auth/forward?scope=b', { headers: bearer(client.key) })).status;
  assert.equal(await withScope(), 200);
  await client.change({ scopes: ['a'] });
  assert.equal(await withScope(), 403);
  await client.change({ expiresAt: '2026-11-21T09:30:01Z' });
  assert.equal(await client.statusOf(client.key), 200);
  client.app.clock.advance({ seconds: 1 });
  assert.equal(await client.statusOf(client.key), 401);
  await client.change({ expiresAt: null });
  assert.equal(await client.statusOf(client.key), 200, 'a later expiry is in force again');
});
