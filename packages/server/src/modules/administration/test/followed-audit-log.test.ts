/** `GET /admin/audit?after=`: followers of the audit log get each event once, in order. */
import assert from 'node:assert/strict';
import type { AuditPage } from '@keyreeve/contract';
import { sql } from '../../../foundation/database/sql.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test, testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { newApp } from '../../../../test-kit/new-app.ts';

const insertEvent = sql(
  'test_insert_followed_event',
  `insert into audit_events (id, at, actor, action, target) values ($1, $2, 'operator', 'scope.set', $3)`,
);

async function fixture() {
  const app = await newApp();
  const administrator = await newAdministrator(app);
  const get = (query: string) => administer(app, administrator, 'GET', `audit?${query}`);
  const page = async (query: string): Promise<AuditPage> => {
    const { status, json, text } = await get(query);
    assert.equal(status, 200, text);
    return json as AuditPage;
  };
  const add = (id: number, target: string) =>
    app.db.transaction((tx) => tx.run(insertEvent, [id, app.clock.now(), target]));
  const newest = (await page('limit=1')).events[0]?.id ?? 0;
  return { app, get, page, add, newest, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

test('a follower gets the events after an id, oldest first, and continues with nextAfter', async () => {
  await using given = await fixture();
  const { newest, page, add } = given;
  assert.deepEqual(await page(`after=${newest}`), { events: [], nextCursor: null, nextAfter: newest });
  for (const target of ['a', 'b', 'c']) await add(newest + 'abc'.indexOf(target) + 1, target);
  const first = await page(`after=${newest}&limit=2`);
  assert.deepEqual([first.events.map(({ target }) => target), first.nextAfter], [['a', 'b'], newest + 2]);
  const second = await page(`after=${String(first.nextAfter)}`);
  assert.deepEqual([second.events.map(({ target }) => target), second.nextAfter], [['c'], newest + 3]);
  // Events that the filter leaves out are not read again.
  const filtered = await page(`after=${newest}&target=b&action=scope.set&actor=operator`);
  assert.deepEqual([filtered.events.map(({ target }) => target), filtered.nextAfter], [['b'], newest + 3]);
  assert.deepEqual((await page(`after=${newest}&account=acc_1`)).events, []);
  assert.equal((await page('limit=1')).nextAfter, undefined);
});

testOnBoth('an event that commits after one with a higher id is not left out', async () => {
  await using given = await fixture();
  const { app, newest, page, add } = given;
  await add(newest + 1, 'one');
  await add(newest + 3, 'three');
  const early = await page(`after=${newest}`);
  assert.deepEqual([early.events.map(({ target }) => target), early.nextAfter], [['one'], newest + 1]);
  await add(newest + 2, 'two');
  const late = await page(`after=${newest + 1}`);
  assert.deepEqual([late.events.map(({ target }) => target), late.nextAfter], [['two', 'three'], newest + 3]);
  // A missing event of a transaction that was rolled back delays the others for a limited time.
  await add(newest + 5, 'five');
  assert.deepEqual((await page(`after=${newest + 3}`)).events, []);
  app.clock.advance({ seconds: 11 });
  assert.deepEqual((await page(`after=${newest + 3}`)).nextAfter, newest + 5);
});

test('a follower cannot combine the id with a cursor or a time', async () => {
  await using given = await fixture();
  for (const query of ['cursor=MQ', 'from=2026-11-20T00:00:00Z', 'to=2026-11-20T00:00:00Z'])
    assertProblem(fromFetch(await given.get(`after=1&${query}`)), 'invalid_request', query);
  for (const query of ['after=', 'after=-1', 'after=1.5', 'after=x', 'after=1234567890123456'])
    assertProblem(fromFetch(await given.get(query)), 'invalid_request', query);
});
