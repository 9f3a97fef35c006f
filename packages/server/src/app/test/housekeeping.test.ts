/** Housekeeping at the start and the stop of a service. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Housekeeping } from '../processes/housekeeping.ts';
import { unavailable } from '../../foundation/database/unavailable.ts';
import { sql } from '../../foundation/database/sql.ts';
import { createLog } from '../../foundation/log.ts';
import { dayMs } from '../../foundation/clock.ts';
import { newDeviceClient } from '../../../test-kit/device-client.ts';
import { newPortalBackend } from '../../../test-kit/portal.ts';
import { addSession, keys, now } from '../../../test-kit/rows.ts';
import { until } from '../../../test-kit/until.ts';
import { findLiveSession } from '../../modules/sessions/store.ts';
import { newApp } from '../../../test-kit/new-app.ts';
import { test } from '../../../test-kit/app-on-each-database.ts';

const eventsIn = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { event?: string }).event);

test('a service that stops immediately after its start logs no failure', async () => {
  const app = await newApp();
  await app[Symbol.asyncDispose]();
  assert.ok(!eventsIn(app.logLines).includes('housekeeping_failed'), app.logLines.join(''));
});

test('a task that the stop interrupts is no failure, and no later task starts; other errors are logged', async () => {
  await using app = await newApp();
  const { services } = app.service;
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const core = { db: app.db, clock: app.clock, keys, log };
  for (const [error, isLogged] of [
    [unavailable(new Error('the database is closed')), false],
    [new Error('a defect'), true],
  ] as const) {
    const started = Promise.withResolvers<void>();
    const interrupted = Promise.withResolvers<void>();
    const apply = mock.fn(() => {
      started.resolve();
      return interrupted.promise;
    });
    const send = mock.fn(() => Promise.resolve());
    const parts = { ...services, usageRetention: { apply }, expiryNotices: { send } };
    const housekeeping = new Housekeeping(core, parts);
    await started.promise;
    await housekeeping.stop();
    interrupted.reject(error);
    await new Promise(setImmediate);
    assert.deepEqual([apply.mock.callCount(), send.mock.callCount()], [1, 0]);
    assert.equal(eventsIn(lines.splice(0)).includes('housekeeping_failed'), isLogged);
  }
});

test('sessions and requests that began while a clock was ahead are deleted after an hour, not at the start', async () => {
  await using device = await newDeviceClient();
  const { app } = device;
  const { id } = await app.createAccount();
  const at = now + dayMs;
  app.clock.advance({ days: 1 });
  await (await newPortalBackend(app)).create();
  await device.begin();
  app.clock.advance({ days: -1 });
  const others = sql<{ count: number }>(
    'test_count_ahead',
    'select (select count(*) from portal_sessions) + (select count(*) from approval_requests) as count',
  );
  const countOthers = async () => (await app.db.get(others))?.count;
  await addSession(app.db, id, 'future', { now: at, idleExpiresAt: at + dayMs, expiresAt: at + dayMs });
  const isKept = async (): Promise<boolean> => (await findLiveSession(app.db, 'ses_future', at)) !== undefined;
  const started = Promise.withResolvers<void>();
  const send = () => Promise.resolve(started.resolve());
  const log = createLog('info', { write: () => undefined });
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const parts = { ...app.service.services, expiryNotices: { send } };
    const housekeeping = new Housekeeping({ db: app.db, clock: app.clock, keys, log }, parts);
    await started.promise;
    assert.deepEqual([await isKept(), await countOthers()], [true, 2]);
    mock.timers.tick(3_600_000);
    await until('the deletion of the session', async () => !(await isKept()));
    await until('the deletion of the others', async () => (await countOthers()) === 0);
    await housekeeping.stop();
  } finally {
    mock.timers.reset();
  }
});

test('a task that takes longer than its interval does not start a second time beside itself', async () => {
  await using app = await newApp();
  const log = createLog('info', { write: () => undefined });
  const ends: PromiseWithResolvers<void>[] = [];
  const apply = () => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    return end.promise;
  };
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const parts = { ...app.service.services, usageRetention: { apply } };
    const housekeeping = new Housekeeping({ db: app.db, clock: app.clock, keys, log }, parts);
    // At the start, this task follows another one.
    await until('the task has started', () => ends.length === 1);
    mock.timers.tick(3_600_000);
    assert.equal(ends.length, 1);
    ends[0]?.resolve();
    await new Promise(setImmediate);
    mock.timers.tick(600_000);
    assert.equal(ends.length, 2);
    ends[1]?.resolve();
    await housekeeping.stop();
  } finally {
    mock.timers.reset();
  }
});

test('a failure of the last flush is logged, also when the database is unavailable', async () => {
  await using app = await newApp();
  const { services } = app.service;
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const housekeeping = new Housekeeping({ db: app.db, clock: app.clock, keys, log }, services);
  mock.method(services.uses, 'flush', () => Promise.reject(unavailable(new Error('closed'))));
  await housekeeping.stop();
  assert.deepEqual(
    eventsIn(lines).filter((event) => event !== 'audit_checkpoint'),
    ['housekeeping_failed'],
  );
});
