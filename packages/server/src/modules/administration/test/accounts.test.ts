/** Search and details of accounts, and the inputs that administration rejects. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { AccountPage } from '@keyreeve/contract';
import { createAccount } from '../../accounts/store.ts';
import { PostgresDb } from '../../../foundation/database/postgres.ts';
import { SqliteDb } from '../../../foundation/database/sqlite.ts';
import { listAuditEvents } from '../../../../test-kit/audit-log.ts';
import { bearer, newApp, operator, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { optionalRoutes } from '../../../../test-kit/optional-routes.ts';
import {
  administer,
  administratorRoutes,
  problemCode,
  detailOf,
  goodBodies,
  goodRequest,
  newAdministrator,
  newTarget,
} from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';

/** Accounts without a password, so that the test need not hash one for each. */
async function addAccounts(app: TestApp, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const account = { id: `acc_${name.replaceAll(/\W/g, '')}`, email: `${name}@example.org`, role: 'user' } as const;
    const now = app.clock.now();
    await createAccount(app.db, operator, {
      ...account,
      canonicalEmail: account.email.toLowerCase(),
      passwordHash: '',
      now,
    });
  }
}

async function search(app: TestApp, administrator: SignedIn, query: Record<string, string>): Promise<AccountPage> {
  const answer = await administer(app, administrator, 'GET', `accounts?${new URLSearchParams(query).toString()}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json as AccountPage;
}

/** Reads all pages. */
async function searchAll(app: TestApp, administrator: SignedIn, query: Record<string, string>) {
  const emails: string[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const page: AccountPage = await search(app, administrator, { ...query, ...(cursor === '' ? {} : { cursor }) });
    emails.push(...page.accounts.map(({ email }) => email ?? ''));
    cursor = page.nextCursor;
    assert.ok(pages < 100, 'there are too many pages');
  }
  return { emails, pages };
}

test('the details of an account contain no secret', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { account } = await newTarget(app, 'Ada@Example.org');
  const now = new Date(app.clock.now()).toISOString();
  const shown = {
    id: account.id,
    kind: 'person',
    email: 'Ada@Example.org',
    role: 'user',
    verified: true,
    hasPassword: true,
    requiresSecondFactor: false,
    createdAt: now,
    updatedAt: now,
    disabledAt: null,
    name: null,
    externalId: null,
    creatorId: null,
  };
  const counts = { apiKeyCount: 1, sessionCount: 1 };
  const detail = {
    ...shown,
    ...counts,
    secondFactor: false,
    authenticator: false,
    passkeys: 0,
    limits: null,
    quotaUse: null,
    entitlements: [],
    emailChanges: [],
  };
  assert.deepEqual(await detailOf(app, administrator, account.id), detail);
  assert.deepEqual(await search(app, administrator, { query: 'ADA@' }), { accounts: [shown], nextCursor: null });
});

testOnBoth('a search finds accounts by id and by any part of the email address, in any case', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  await addAccounts(app, ['ada', 'adam', 'bob.ada', 'eve']);
  const found = async (query: string) => (await searchAll(app, administrator, { query })).emails;
  assert.deepEqual(await found('ada'), ['ada@example.org', 'adam@example.org', 'bob.ada@example.org']);
  assert.deepEqual(await found('ADA@'), ['ada@example.org', 'bob.ada@example.org']);
  assert.deepEqual(await found('Eve@EXAMPLE.org'), ['eve@example.org']);
  assert.deepEqual(await found('acc_adam'), ['adam@example.org']);
  assert.deepEqual(await found('acc_unknown'), []);
  assert.deepEqual(await found('unknown'), []);
  const withEmail = async (email: string) => (await searchAll(app, administrator, { email })).emails;
  assert.deepEqual(await withEmail('ADA@Example.org'), ['ada@example.org']);
  for (const other of ['ada', 'example.org', 'acc_ada', 'ada@example.org\0', 'nobody@example.org'])
    assert.deepEqual(await withEmail(other), [], other);
});

test('a search finds accounts by role and state', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app, 'root@example.org');
  await addAccounts(app, ['ada', 'bob']);
  await app.service.services.accounts.disable(operator, 'acc_bob');
  const found = async (query: Record<string, string>) => (await searchAll(app, administrator, query)).emails;
  assert.deepEqual(await found({ role: 'admin' }), ['root@example.org']);
  assert.deepEqual(await found({ role: 'user' }), ['ada@example.org', 'bob@example.org']);
  assert.deepEqual(await found({ state: 'disabled' }), ['bob@example.org']);
  assert.deepEqual(await found({ state: 'enabled', role: 'user' }), ['ada@example.org']);
  assert.deepEqual(await found({ state: 'unverified' }), []);
  assert.deepEqual(await found({ state: 'disabled', query: 'acc_bob' }), ['bob@example.org']);
  assert.deepEqual(await found({ state: 'enabled', query: 'acc_bob' }), []);
  assert.deepEqual(await found({ role: 'admin', query: 'acc_bob' }), []);
});

testOnBoth('pages have neither gaps nor duplicates, while accounts are created and deleted as well', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app, 'root@example.org');
  const names = Array.from({ length: 25 }, (_, index) => `user${String(index).padStart(2, '0')}`);
  await addAccounts(app, names);
  const all = ['root@example.org', ...names.map((name) => `${name}@example.org`)];
  for (const limit of ['1', '7', '26', '100']) {
    const { emails } = await searchAll(app, administrator, { limit });
    assert.deepEqual(emails, all, limit);
  }
  const first = await search(app, administrator, { limit: '10' });
  assert.equal(first.accounts.length, 10);
  await app.service.services.accounts.delete(operator, first.accounts.at(-1)?.id ?? '');
  await addAccounts(app, ['aaa']);
  const rest = await searchAll(app, administrator, { limit: '10', cursor: first.nextCursor ?? '' });
  assert.deepEqual(rest.emails, all.slice(10));
});

const injections = [
  '%',
  '_',
  "'",
  '"',
  '\\',
  "' or '1'='1",
  '%ada%',
  'a_a',
  '; drop table accounts',
  '*',
  '(',
  '[a-z]',
  '\u202E',
];

testOnBoth('no character of a search is a wildcard or ends the SQL string', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  await addAccounts(app, ['ada', 'a_b']);
  for (const query of injections) {
    const { accounts } = await search(app, administrator, { query });
    const expected = query === '_' ? ['a_b@example.org'] : [];
    assert.deepEqual(
      accounts.map(({ email }) => email),
      expected,
      query,
    );
  }
});

test('invalid search parameters and cursors are rejected', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const wrong: readonly (readonly [what: string, status: number])[] = [
    ['accounts?query=', 400],
    ['accounts?query=a%00b', 400],
    ['accounts?query=a%0Ab', 400],
    [`accounts?query=${'a'.repeat(255)}`, 400],
    [`accounts?query=${'a'.repeat(65_536)}`, 431],
    [`accounts?query=${'a'.repeat(3_000)}`, 414],
    ['accounts?query=a&query=b', 400],
    ['accounts?limit=0', 400],
    ['accounts?limit=101', 400],
    ['accounts?limit=-1', 400],
    ['accounts?limit=1e2', 400],
    ['accounts?role=operator', 400],
    ['accounts?state=deleted', 400],
    ['accounts?order=id', 400],
    ['accounts?cursor=', 400],
    ['accounts?cursor=x', 400],
    ['accounts?cursor=AAAA', 400],
    [`accounts?cursor=${Buffer.from("' or 1=1").toString('base64url')}`, 400],
    [`accounts?cursor=${Buffer.from('1').toString('base64url')}`, 400],
    [`audit?cursor=${Buffer.from('ada@example.org').toString('base64url')}`, 400],
    [`audit?cursor=${Buffer.from('-1').toString('base64url')}`, 400],
    ['audit?account=%00', 400],
    ["audit?account=' or 1=1", 400],
    ['audit?action=%25', 400],
    ['audit?limit=1000', 400],
  ];
  for (const [path, status] of wrong) {
    const answer = await administer(app, administrator, 'GET', path);
    assert.equal(answer.status, status, `${path.slice(0, 80)} ${answer.text}`);
  }
});

test('an unknown id, or the id of another kind of object, gets 404 on every route', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const target = await newTarget(app);
  const ids = [
    'acc_0000000000000000000000',
    target.account.email,
    target.sessionId,
    String(target.keyId),
    `${target.account.id}0`,
    target.account.id.toUpperCase(),
    '%00',
    `${target.account.id}%00`,
    "'",
    'x'.repeat(500),
    '%F0%9F%92%A9',
    'me',
  ];
  const before = await listAuditEvents(app.db);
  for (const route of administratorRoutes.filter(({ path }) => path.startsWith('/admin/accounts/:id'))) {
    const [method, path, options] = goodRequest(route, target);
    for (const id of ids) {
      const requestedPath = path.replace(path.includes('/managers') ? target.serviceId : target.account.id, id);
      const answer = await app.call(method, requestedPath, { ...options, headers: bearer(administrator.accessToken) });
      assert.deepEqual([answer.status, problemCode(answer)], [404, 'account_not_found'], `${method} ${requestedPath}`);
    }
  }
  assert.deepEqual(await listAuditEvents(app.db), before, 'nothing changed');
});

test('an API key or session is found only under its own account', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const [one, other] = [await newTarget(app), await newTarget(app)];
  const wrong: readonly (readonly [string, string])[] = [
    [`api-keys/${other.keyId}`, 'key_not_found'],
    ['api-keys/0', 'key_not_found'],
    ['api-keys/1', 'key_not_found'],
    [`api-keys/${one.keyId}x`, 'key_not_found'],
    ['api-keys/%00', 'key_not_found'],
    [`sessions/${other.sessionId}`, 'session_not_found'],
    ['sessions/ses_0', 'session_not_found'],
    ['sessions/%00', 'session_not_found'],
    ["sessions/'", 'session_not_found'],
  ];
  for (const [part, code] of wrong) {
    const answer = await administer(app, administrator, 'DELETE', `accounts/${one.account.id}/${part}`);
    assert.deepEqual([answer.status, problemCode(answer)], [404, code], part);
  }
  for (const { accessToken, key } of [one, other]) {
    for (const credential of [accessToken, key])
      assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(credential) })).status, 200);
  }
});

const extras = [
  { password: 'wombat orbit velvet 42' },
  { passwordHash: '$argon2id$v=19$m=64,t=1,p=1$AAAA$AAAA' },
  { password_hash: 'x' },
  { id: 'acc_mine' },
  { verified: true },
  { disabledAt: null },
  { sessionEpoch: 0 },
  { isAdmin: true },
];

test(
  'a body with a password or another undeclared member is rejected',
  { tags: ['asvs:8.2.3', 'asvs:15.3.3'] },
  async () => {
    await using app = await newApp({ environment: optionalRoutes });
    const administrator = await newAdministrator(app);
    const headers = bearer(administrator.accessToken);
    const target = await newTarget(app);
    const before = await listAuditEvents(app.db);
    const withBody = administratorRoutes.filter(({ body }) => body !== undefined);
    assert.ok(withBody.length >= 2, 'the contract has routes with bodies');
    for (const route of withBody) {
      const [method, path] = goodRequest(route, target);
      const body: object = goodBodies[route.id] ?? {};
      // A program has an id that the request states.
      for (const extra of extras.filter((one) => Object.keys(one).every((name) => !(name in body)))) {
        const answer = await app.call(method, path, { headers, json: { ...body, ...extra } });
        assert.deepEqual(
          [answer.status, problemCode(answer)],
          [400, 'invalid_request'],
          `${path} ${JSON.stringify(extra)}`,
        );
      }
    }
    for (const method of ['PUT', 'PATCH', 'POST']) {
      const answer = await app.call(method, `/admin/accounts/${target.account.id}`, { headers, json: extras[0] });
      assert.equal(answer.status, 405, method);
    }
    for (const role of ['operator', 'root', '', null, 1, ['admin'], { $ne: 'user' }]) {
      const answer = await administer(app, administrator, 'PUT', `accounts/${target.account.id}/role`, { role });
      assert.equal(answer.status, 400, JSON.stringify(role));
    }
    assert.deepEqual(await listAuditEvents(app.db), before, 'nothing changed');
  },
);

testOnBoth('beside its transaction, a change reads the account for the response alone', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const { id } = await app.createAccount('ada@example.com');
  const response = 'select_account_detail';
  const changes: readonly (readonly [method: string, path: string, reads: readonly string[], json?: object])[] = [
    ['POST', 'disable', ['select_account_enabled_count', response]],
    ['POST', 'enable', [response]],
    ['PUT', 'role', [response], { role: 'admin' }],
    ['PUT', 'role', [response], { role: 'user' }],
    ['POST', 'end-sessions', [response]],
    ['POST', 'revoke-keys', [response]],
    ['POST', 'require-second-factor', [response]],
    ['POST', 'waive-second-factor', [response]],
  ];
  for (const [method, path, reads, json] of changes) {
    const spies = [SqliteDb.prototype, PostgresDb.prototype].map((driver) => mock.method(driver, 'get'));
    const answer = await administer(app, administrator, method, `accounts/${id}/${path}`, json);
    for (const spy of spies) spy.mock.restore();
    assert.equal(answer.status, 200, answer.text);
    const statements = spies.flatMap(({ mock: { calls } }) => calls.map(({ arguments: [statement] }) => statement));
    const ofAccounts = statements.filter(({ text }) => text.sqlite.includes('from accounts'));
    assert.deepEqual(
      ofAccounts.map(({ name }) => name),
      reads,
      `${method} ${path}`,
    );
  }
});
