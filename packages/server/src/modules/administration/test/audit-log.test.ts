/** The audit log for administrators: filters, pages with bounded reads, and exports without formulas. */
import assert from 'node:assert/strict';
import { limits, type AuditPage } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import type { Db } from '../../../foundation/database/db.ts';
import { sql } from '../../../foundation/database/sql.ts';
import { administer, newAdministrator, newTarget } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { insertEvents, type ManyEvent } from '../../../../test-kit/many-rows.ts';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { findIdAfter } from '../../audit/search-store.ts';
import { AuditLog } from '../audit-log.ts';

async function fixture(events: (now: number) => readonly ManyEvent[]) {
  const app = await newApp();
  const now = app.clock.now();
  // Before the administrator signs in, so that its events are the newest.
  await insertEvents(app.db, events(now));
  const administrator = await newAdministrator(app);
  const get = (path: string) => administer(app, administrator, 'GET', path);
  const page = async (query: string): Promise<AuditPage> => {
    const { status, json, text } = await get(`audit?${query}`);
    assert.equal(status, 200, text);
    return json as AuditPage;
  };
  return { app, now, administrator, get, page, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}
type Fixture = Awaited<ReturnType<typeof fixture>>;

/** The targets of all pages, and the number of pages. */
async function allPages({ page }: Fixture, query: string): Promise<{ targets: (string | null)[]; pages: number }> {
  const targets: (string | null)[] = [];
  let pages = 0;
  for (let next: string | null = ''; next !== null; pages++) {
    const { events, nextCursor }: AuditPage = await page(`${query}${next === '' ? '' : `&cursor=${next}`}`);
    targets.push(...events.map(({ target }) => target));
    next = nextCursor;
  }
  return { targets, pages };
}

test('the audit log lists events newest first, filtered by account and action, with the actor', async () => {
  await using opened = await fixture(() => []);
  const { app, administrator, page } = opened;
  const [one, other] = [await newTarget(app), await newTarget(app)];
  for (const { account } of [one, other]) {
    for (const what of ['disable', 'enable'])
      await administer(app, administrator, 'POST', `accounts/${account.id}/${what}`);
  }
  const ofOne = (await page(`account=${one.account.id}`)).events;
  assert.deepEqual(
    ofOne.map(({ action }) => action),
    ['account.enabled', 'account.disabled', 'api_key.created', 'session.created', 'account.created'],
  );
  assert.equal(ofOne[0]?.actor, `account:${administrator.account.id}`);
  assert.equal(ofOne.at(-1)?.actor, operator.kind);
  const disablings = (await page('action=account.disabled')).events.map(({ accountId }) => accountId);
  assert.deepEqual(disablings, [other.account.id, one.account.id]);
  assert.deepEqual(await page('account=acc_unknown'), { events: [], nextCursor: null });
  const all = (await page('')).events;
  const paged: unknown[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const next: AuditPage = await page(`limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
    paged.push(...next.events);
    cursor = next.nextCursor;
  }
  assert.deepEqual(paged, all);
});

testOnBoth(
  'the next page repeats no event, also when events are added between the reads of the first page',
  async () => {
    await using app = await newApp();
    const at = app.clock.now();
    const numbers = Array.from({ length: 2 * limits.adminRowsPerPageMax }, (_, number) => number);
    await insertEvents(
      app.db,
      numbers.map((number) => ({ at, target: `t${number}`, action: number % 2 === 0 ? 'scope.set' : 'scope.deleted' })),
    );
    const db: Pick<Db, 'all' | 'get'> = {
      get: (statement, values) => app.db.get(statement, values),
      all: async (statement, values) => {
        const rows = await app.db.all(statement, values);
        await insertEvents(
          app.db,
          numbers.slice(0, 20).map(() => ({ at, target: 'added' })),
        );
        return rows;
      },
    };
    const log = new AuditLog({ db: db as Db, clock: app.clock });
    // More than match in the searched part, so that the search decides where the next page starts.
    const limit = String(limits.adminRowsPerPageMax);
    const targets: (string | null)[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: AuditPage = await log.page({ action: 'scope.set', limit, ...(cursor === '' ? {} : { cursor }) });
      targets.push(...page.events.map(({ target }) => target));
      cursor = page.nextCursor ?? undefined;
    }
    const expected = numbers.filter((number) => number % 2 === 0).map((number) => `t${number}`);
    assert.deepEqual(targets, expected.toReversed());
  },
);

const instant = (ms: number): string => new Date(ms).toISOString();

test('each filter selects its events, and filters combine', async () => {
  await using at = await fixture((now) => [
    { at: now - 4, target: 'a', actor: 'operator', action: 'scope.set' },
    { at: now - 3, target: 'b', actor: 'account:acc_x', action: 'scope.set', accountId: 'acc_y' },
    { at: now - 2, target: 'b', actor: 'account:acc_x', action: 'scope.deleted', accountId: 'acc_y' },
    { at: now - 1, target: 'c', actor: 'key:4711', action: 'scope.deleted' },
  ]);
  for (const [query, expected] of [
    ['action=scope.set', ['b', 'a']],
    ['actor=operator&action=scope.set', ['a']],
    ['actor=account:acc_x', ['b', 'b']],
    ['actor=key:4711', ['c']],
    ['target=b', ['b', 'b']],
    ['target=b&action=scope.set', ['b']],
    ['account=acc_y&action=scope.deleted', ['b']],
    ['account=acc_y&actor=key:4711', []],
    [`from=${instant(at.now - 3)}&to=${instant(at.now - 1)}`, ['b', 'b']],
    [`to=${instant(at.now - 3)}`, ['a']],
    [`from=${instant(at.now + 1)}`, []],
  ] as const)
    assert.deepEqual((await allPages(at, query)).targets, expected, query);
});

testOnBoth(
  'a rare event among 20,000 is found in bounded pages, and times select where the search starts and ends',
  async () => {
    const count = 20_000;
    await using at = await fixture((now) =>
      Array.from({ length: count }, (_, n) => ({
        at: now - (count - n) * 3_600_000,
        target: String(n),
        actor: n % 7_000 === 5 ? 'github' : 'system',
      })),
    );
    const rare = await allPages(at, 'actor=github');
    assert.deepEqual(rare, { targets: ['14005', '7005', '5'], pages: 5 });
    const hour = (n: number): string => instant(at.now - (count - n) * 3_600_000);
    const narrow = await allPages(at, `actor=github&from=${hour(7_000)}&to=${hour(7_010)}`);
    assert.deepEqual(narrow, { targets: ['7005'], pages: 1 });
    const { targets } = await allPages(at, `from=${hour(3_000)}&to=${hour(3_250)}&limit=100`);
    assert.deepEqual(
      targets,
      Array.from({ length: 250 }, (_, n) => String(3_249 - n)),
    );
    const first = await at.page('limit=2');
    // The id of the last event.
    const id = Buffer.from(first.nextCursor ?? '', 'base64url').toString();
    assert.equal(id, String(first.events[1]?.id));
  },
);

const selectIds = sql<{ id: number; at: number }>(
  'test_ids',
  'select id, at from audit_events where id > 1 order by id',
);
const deleteSome = sql('test_delete_events', 'delete from audit_events where id % 3 = 0');

test('the start of a search by time is after all events until the time, also with gaps in the ids', async () => {
  const start = Date.UTC(2026, 0, 1);
  await using at = await fixture(() => Array.from({ length: 500 }, (_, n) => ({ at: start + Math.floor(n / 4) })));
  const { db } = at.app;
  await db.transaction((tx) => tx.run(deleteSome));
  // The first event, of the signing key, is older than its time says.
  const all = await db.all(selectIds);
  for (const time of [start - 1, start, start + 7, start + 60, start + 124, start + 125, at.now + dayMs]) {
    const before = await findIdAfter(db, time);
    assert.deepEqual(
      all.filter(({ id }) => id < before),
      all.filter((event) => event.at <= time),
      String(time - start),
    );
  }
});

const hostile = [
  '=1+1',
  '+1',
  '-1',
  '@a',
  '\tx',
  '\r=1',
  'a;=1',
  'a; "=1',
  'say "hi"',
  'a,b',
  'line\nbreak',
  '\n=1',
  'ä',
];

test(
  'an export has every event once, and no field of it starts a formula',
  { tags: ['asvs:5.4.1', 'asvs:5.4.2'] },
  async () => {
    await using at = await fixture((now) => [
      ...hostile.map((target) => ({ at: now, target, actor: 'github', details: JSON.stringify({ target }) })),
      { at: now, actor: 'github', target: 'damaged', details: '=cmd|broken' },
      { at: 9e15, actor: 'github', target: 'beyond every time' },
    ]);
    const jsonl = await at.get('audit/export?format=jsonl&actor=github');
    assert.equal(jsonl.headers.get('content-type'), 'application/jsonl; charset=utf-8');
    const events = jsonl.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditPage['events'][number]);
    assert.deepEqual(events.map(({ target }) => target).toReversed(), [...hostile, 'damaged', 'beyond every time']);
    assert.deepEqual(events, (await at.page('actor=github')).events);
    const csv = await at.get('audit/export?actor=github');
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(csv.headers.get('content-disposition'), 'attachment; filename="audit.csv"');
    assert.ok(csv.text.startsWith('"id","at","actor","action","accountId","target","details"\r\n'));
    // A spreadsheet ends fields at commas, semicolons or tabs, and lines at line breaks.
    for (const part of csv.text.split(/[,;\t\r\n]/)) assert.doesNotMatch(part, /^[" ]*[=+\-@]/u, part);
  },
);

test('accounts that do not read their exports prevent no export of another account or an administrator', async () => {
  await using at = await fixture(() => []);
  const path = '/auth/account/export';
  // Kept: fetch reads a response to its end when it is garbage.
  const unread: Response[] = [];
  const aborting = new AbortController();
  for (let account = 0; account < limits.exportReadsMax / limits.exportsPerAccountMax; account++) {
    const user = await at.app.signIn();
    // 20 MB: more than the kernel accepts for a client that reads nothing.
    const event = { at: at.now, accountId: user.account.id, target: 'x'.repeat(2_000) };
    const events = Array.from({ length: 1_000 }, () => event);
    for (let batch = 0; batch < 10; batch++) await insertEvents(at.app.db, events);
    for (let own = 0; own < limits.exportsPerAccountMax; own++) {
      const options = { headers: bearer(user.accessToken), signal: aborting.signal };
      unread.push(await fetch(new URL(path, at.app.url), options));
    }
  }
  const next = await at.app.call('GET', path, { headers: bearer((await at.app.signIn()).accessToken) });
  assert.equal(next.status, 200, next.text);
  const own = await at.app.call('GET', '/admin/audit/export?target=nothing', {
    headers: bearer(at.administrator.accessToken),
  });
  assert.equal(own.status, 200, own.text);
  assert.ok(unread.every(({ status, bodyUsed }) => status === 200 && !bodyUsed));
  aborting.abort();
});

test('an export of 20,000 events with few matches is complete', async () => {
  await using at = await fixture((now) =>
    Array.from({ length: 20_000 }, (_, n) => ({
      at: now,
      target: String(n),
      actor: n % 3_000 === 0 ? 'github' : 'mailbox',
    })),
  );
  const few = await at.get('audit/export?format=jsonl&actor=github');
  assert.equal(few.text.trimEnd().split('\n').length, 7);
  const all = await at.get('audit/export?format=csv&actor=mailbox');
  assert.equal(all.text.trimEnd().split('\r\n').length, 1 + 20_000 - 7);
  const none = await at.get('audit/export?target=nothing');
  assert.equal(none.text.split('\r\n').length, 2);
});

test('malformed filters are rejected, by the list and by the export', async () => {
  await using at = await fixture(() => []);
  const bad = ['from=yesterday', 'to=2026-13-01T00:00:00Z', 'from=2026-01-01', 'actor=', "actor=' or 1=1", 'target='];
  bad.push('target=%00', 'target=a%20b', `target=${'a'.repeat(257)}`, 'action=x', 'account=acc_', 'unknown=1', 'from=');
  bad.push('from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from=2026-01-01T00:00:00Z&to=2026-01-01T00:00:00Z');
  for (const query of bad)
    for (const path of ['audit', 'audit/export'])
      assertProblem(fromFetch(await at.get(`${path}?${query}`)), 'invalid_request', `${path} ${query}`);
  assertProblem(fromFetch(await at.get('audit/export?format=xml')), 'invalid_request');
  assertProblem(fromFetch(await at.get('audit/export?cursor=MQ')), 'invalid_request');
});
