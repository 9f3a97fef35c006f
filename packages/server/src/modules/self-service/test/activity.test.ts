/** The activity of an account: its own audit events, newest first, whole and without private details. */
import assert from 'node:assert/strict';
import type { ActivityEvent, ActivityPage } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { insertEvents, type ManyEvent } from '../../../../test-kit/many-rows.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { planOf } from '../../../../test-kit/plan-of.ts';
import { listActivity } from '../activity-store.ts';

async function fixture() {
  const app = await newApp();
  const user = await app.signIn();
  const get = (query = '') => app.call('GET', `/auth/account/activity${query}`, { headers: bearer(user.accessToken) });
  const page = async (query = ''): Promise<ActivityPage> => {
    const { status, json, text } = await get(query);
    assert.equal(status, 200, text);
    return json as ActivityPage;
  };
  return { app, user, get, page, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}
type Fixture = Awaited<ReturnType<typeof fixture>>;

async function allPages({ page }: Fixture, limit: number): Promise<ActivityEvent[]> {
  const found: ActivityEvent[] = [];
  for (let next: string | null = ''; next !== null;) {
    const { activity, nextCursor }: ActivityPage = await page(`?limit=${limit}${next === '' ? '' : `&cursor=${next}`}`);
    assert.ok(activity.length > 0, 'an empty page');
    found.push(...activity);
    next = nextCursor;
  }
  return found;
}

const summary = ({ action, actor, details }: ActivityEvent): string =>
  `${action} by ${actor} ${JSON.stringify(details)}`;

test('an account reads its sign-ins and changes, with the kind of the actor and the client of the sign-in', async () => {
  await using at = await fixture();
  const { app, user } = at;
  const headers = bearer(user.accessToken);
  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: '<b>&', scopes: ['read'] } });
  const administrator = await newAdministrator(app);
  await administer(app, administrator, 'POST', `accounts/${user.account.id}/revoke-keys`);
  await app.service.services.accounts.requireSecondFactor(operator, user.account.id, true);
  await app.service.services.accounts.requireSecondFactor(operator, user.account.id, false);
  const { activity, nextCursor } = await at.page();
  assert.deepEqual(activity.map(summary), [
    'account.second_factor_waived by operator {}',
    'account.second_factor_required by operator {}',
    'api_key.deleted by administrator {"nickname":"<b>&"}',
    'api_key.created by you {"nickname":"<b>&","scopes":["read"]}',
    'session.created by you {}',
    'account.created by operator {"role":"user"}',
  ]);
  assert.equal(nextCursor, null);
  assert.equal(activity[3]?.target, String((created.json as { id: number }).id));
  assert.deepEqual([activity[4]?.clientIp, activity[4]?.userAgent], ['127.0.0.1', 'node']);
  assert.deepEqual([activity[3]?.clientIp, activity[3]?.userAgent], [null, null]);
  assert.ok(!JSON.stringify(activity).includes(administrator.account.id));
});

testOnBoth(
  'pages of any size contain each event once, also events of the same time, and none of other accounts',
  async () => {
    await using at = await fixture();
    const { app, user } = at;
    const other = await app.createAccount();
    const now = app.clock.now();
    const events = Array.from({ length: 20_000 }, (_, n): ManyEvent => {
      const accountId = n % 50 === 0 ? user.account.id : other.id;
      return {
        at: now - (n % 3),
        accountId,
        target: String(n),
        action: 'api_key.expiring',
        details: '{"nickname":"n"}',
      };
    });
    await insertEvents(app.db, events);
    const expected = events
      .filter(({ accountId }) => accountId === user.account.id)
      .map(({ target }) => target)
      .toReversed();
    for (const limit of [7, 100]) {
      const found = (await allPages(at, limit)).filter(({ action }) => action === 'api_key.expiring');
      assert.deepEqual(
        found.map(({ target }) => target),
        expected,
      );
    }
    const plan = await planOf(app.db, (reader) => listActivity(reader, user.account.id, 10_000, 101));
    assert.match(plan, /audit_events_account/);
  },
);

test('events older than 90 days are not shown, and end the list without a page more', async () => {
  await using at = await fixture();
  const { app, user } = at;
  const accountId = user.account.id;
  app.clock.advance({ seconds: 1 });
  const since = app.clock.now();
  await insertEvents(app.db, [
    { at: since - 1, accountId, target: 'old' },
    { at: since, accountId, target: 'first' },
    { at: since + 1, accountId, target: 'second' },
  ]);
  app.clock.advance({ seconds: (90 * dayMs) / 1000 });
  const signedIn = await app.call('POST', '/auth/token', {
    headers: {
      authorization: `Basic ${Buffer.from(`${user.account.email}:wombat orbit velvet 42`).toString('base64')}`,
    },
  });
  const { accessToken } = signedIn.json as { accessToken: string };
  const read = async (query: string): Promise<ActivityPage> =>
    (await app.call('GET', `/auth/account/activity?${query}`, { headers: bearer(accessToken) })).json as ActivityPage;
  const all = await read('limit=100');
  assert.deepEqual([all.activity.map(({ target }) => target).slice(1), all.nextCursor], [['second', 'first'], null]);
  const exact = await read('limit=3');
  assert.deepEqual([exact.activity.length, exact.nextCursor], [3, null]);
  assert.notEqual((await read('limit=2')).nextCursor, null);
});

test('damaged rows and details of unknown actions do not make the page fail, and show no detail', async () => {
  await using at = await fixture();
  const { app, user } = at;
  const [now, accountId] = [app.clock.now(), user.account.id];
  const key = { at: now, accountId, action: 'api_key.created' };
  await insertEvents(app.db, [
    { ...key, details: '{"nickname":' },
    { ...key, details: '[1]' },
    { ...key, details: 'null' },
    { ...key, details: '{"nickname":{"a":1},"scopes":[1],"hash":"secret","email":"a@b"}' },
    { ...key, actor: 'key:4711', details: '{"nickname":"ok","limits":{"rate":null}}' },
    { ...key, actor: 'constructor', action: 'toString', details: '{"nickname":"x"}' },
    {
      ...key,
      actor: 'possessor',
      action: 'api_key.leaked',
      details: '{"hash":"00","from":"192.0.2.0/24","by":"possessor"}',
    },
    { ...key, at: 9e15, target: 'beyond every time' },
  ]);
  const { activity } = await at.page('?limit=8');
  assert.deepEqual(activity.map(summary), [
    'api_key.leaked by finder {"by":"possessor"}',
    'toString by unknown {}',
    'api_key.created by management_key {"nickname":"ok"}',
    'api_key.created by system {}',
    'api_key.created by system {}',
    'api_key.created by system {}',
    'api_key.created by system {}',
  ]);
});

test('bad cursors, limits and unknown parameters are rejected, and a stranger reads nothing', async () => {
  await using at = await fixture();
  const encoded = (text: string): string => Buffer.from(text).toString('base64url');
  const bad = ['limit=0', 'limit=101', 'cursor=', 'cursor=!', 'account=acc_1', `cursor=${encoded('0')}`];
  bad.push(`cursor=${encoded('1.1')}`, `cursor=${encoded('9007199254740993')}`, `cursor=${encoded("1' or 1=1")}`);
  for (const query of bad) assertProblem(fromFetch(await at.get(`?${query}`)), 'invalid_request', query);
  const path = '/auth/account/activity';
  assertProblem(fromFetch(await at.app.call('GET', path)), 'missing_access_token');
  const other = await at.app.signIn();
  const { json } = await at.app.call('GET', path, { headers: bearer(other.accessToken) });
  assert.deepEqual((json as ActivityPage).activity.map(summary), [
    'session.created by you {}',
    'account.created by operator {"role":"user"}',
  ]);
});
