/** What the overview reports as needing attention, and what it does not. */
import assert from 'node:assert/strict';
import type { Overview } from '@keyreeve/contract';
import { dayMs } from '../../../foundation/clock.ts';
import { DomainError } from '../../../foundation/errors.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { newApp, type TestApp } from '../../../../test-kit/new-app.ts';
import { now, operator } from '../../../../test-kit/rows.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { postponeJob, insertJobTx } from '../../outbox/store.ts';
import { Attention, missingOf, type Finding } from '../attention.ts';

type Item = Overview['attention'][number];

async function read(app: TestApp): Promise<Item[]> {
  const { status, json, text } = await administer(app, await newAdministrator(app), 'GET', 'overview');
  assert.equal(status, 200, text);
  return (json as Overview).attention;
}

/** The installation of tests has warnings of its own. */
const withoutChecks = (items: readonly Item[]): string[] =>
  items.filter(({ code }) => code !== 'check_warning').map(({ code, subject }) => `${code} ${subject}`);

test('a failing endpoint, an old signing key and a missing process need attention', async () => {
  await using app = await newApp({ environment: { KEYREEVE_WEBHOOK_TARGETS: '127.0.0.0/8' } });
  const { minutes, signingKeys, webhooks } = app.service.services;
  await minutes.write();
  const [active] = await signingKeys.list();
  app.clock.advance({ seconds: (181 * dayMs) / 1_000 });
  await signingKeys.rotate(operator, { immediately: false });
  const url = 'http://127.0.0.1:1/';
  const endpoint = await webhooks.endpoints.create(operator, { url, events: ['scope.set'] });
  await webhooks.sender
    .deliver({
      id: 'msg_1',
      payload: { endpointId: endpoint.id, body: JSON.stringify({ type: 'scope.set', timestamp: new Date(now) }) },
    })
    .catch(() => undefined);
  const attention = await read(app);
  assert.deepEqual(withoutChecks(attention), [
    `instance_missing ${minutes.id}`,
    `webhook_failing ${endpoint.id}`,
    `signing_key_old ${active?.kid ?? ''}`,
  ]);
  assert.match(attention.find(({ code }) => code === 'webhook_failing')?.detail ?? '', /^http:\/\/127\.0\.0\.1:1\/: ./);
});

test('failing and late jobs need attention, one item for each kind; jobs that wait for their time do not', async () => {
  await using app = await newApp();
  const { clock, db, service } = app;
  const insert = async (kind: 'mail' | 'sign_up' | 'password_reset', reason?: string): Promise<void> => {
    const row = service.services.outbox.prepare(kind, kind, {});
    await db.transaction((tx) => insertJobTx(tx, { ...row, dueAt: clock.now() + dayMs }));
    if (reason !== undefined) await postponeJob(db, { id: row.id, handedOver: 0 }, clock.now() + dayMs, reason);
  };
  await insert('mail', '451 try again later');
  await insert('mail', '451 try again later');
  await insert('sign_up');
  const since = new Date(clock.now()).toISOString();
  clock.advance({ seconds: 901 });
  await insert('password_reset');
  const attention = await read(app);
  assert.deepEqual(
    attention.filter(({ code }) => code.startsWith('jobs_')),
    [
      { code: 'jobs_failing', since, subject: 'mail', count: 2, detail: null },
      { code: 'jobs_late', since, subject: 'sign_up', count: 1, detail: null },
    ],
  );
});

test('findings of the checks of the installation need attention', async () => {
  await using app = await newApp({ environment: { KEYREEVE_THROTTLE: 'off' } });
  const found = (await read(app)).filter(({ detail }) => detail?.startsWith('KEYREEVE_THROTTLE is off'));
  assert.deepEqual(
    found.map(({ code, subject, since, count }) => ({ code, subject, since, count })),
    [{ code: 'check_warning', subject: 'configuration', since: null, count: null }],
  );
});

test('the checks run once a minute for all requests, and again after a failure', async () => {
  await using app = await newApp();
  const clock = new FakeClock(now);
  const { db, service } = app;
  const { outbox, webhooks, signingKeys } = service.services;
  let runs = 0;
  let answer: () => Promise<Finding[]> = async () => Promise.reject(new DomainError('unavailable'));
  const attention = new Attention({
    db,
    clock,
    outbox,
    endpoints: webhooks.endpoints,
    signingKeys,
    findings: () => {
      runs++;
      return answer();
    },
  });
  await assert.rejects(attention.list([]), { code: 'unavailable' });
  answer = async () => [{ name: 'environments', state: 'failed', detail: 'two have one prefix' }];
  const [first] = await Promise.all([attention.list([]), attention.list([])]);
  assert.deepEqual(first[0], {
    code: 'check_failed',
    since: null,
    subject: 'environments',
    count: null,
    detail: 'two have one prefix',
  });
  clock.advance({ seconds: 59 });
  await attention.list([]);
  assert.equal(runs, 2);
  clock.advance({ seconds: 1 });
  await attention.list([]);
  assert.equal(runs, 3);
});

test('a process that another one has replaced is not missing', () => {
  const minute = 60_000;
  const row = (id: string, startedAt: number, seenAt: number) => ({
    id,
    version: '1',
    startedAt,
    seenAt,
    masterKeyId: '',
    settings: '{}',
  });
  const missing = (...rows: ReturnType<typeof row>[]): string[] => missingOf(rows, 60 * minute).map(({ id }) => id);
  assert.deepEqual(missing(row('a', 0, 60 * minute), row('b', 0, 57 * minute)), []);
  assert.deepEqual(missing(row('a', 0, 60 * minute), row('b', 0, 56 * minute)), ['b']);
  assert.deepEqual(missing(row('a', 57 * minute, 60 * minute), row('b', 0, 56 * minute)), []);
  // One process replaces one.
  assert.equal(
    missing(row('a', 57 * minute, 60 * minute), row('b', 0, 56 * minute), row('c', 0, 56 * minute)).length,
    1,
  );
});
