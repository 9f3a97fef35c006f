/** The overview of administrators: sums over processes, and minutes. */
import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Overview } from '@keyreeve/contract';
import { VerificationDurations } from '../../verification/durations.ts';
import { administer, newAdministrator } from '../../../../test-kit/administrators.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { FakeClock } from '../../../../test-kit/fake-clock.ts';
import { bearer, newApp, type SignedIn, type TestApp } from '../../../../test-kit/new-app.ts';
import { now } from '../../../../test-kit/rows.ts';
import { onEachDatabase } from '../../../../test-kit/store-on-each-database.ts';
import { Minutes, type MinutesOptions } from '../minutes.ts';
import { listInstances, listMinutes } from '../store.ts';

async function read(app: TestApp, administrator: SignedIn): Promise<Overview> {
  const { status, json, text } = await administer(app, administrator, 'GET', 'overview');
  assert.equal(status, 200, text);
  return json as Overview;
}

test('the overview has what was counted in the last minute, and this process', async () => {
  await using app = await newApp();
  const administrator = await newAdministrator(app);
  const key = await app.serviceKey();
  const verify = (credential: string) =>
    app.call('POST', '/auth/verify', { headers: bearer(key), json: { credential } });
  await verify(key);
  await verify('krv_malformed');
  const start = app.clock.now() - (app.clock.now() % 60_000);
  app.clock.advance({ seconds: (start + 60_000 - app.clock.now()) / 1_000 });
  const { minutes } = app.service.services;
  await minutes.write();
  const overview = await read(app, administrator);
  assert.equal(overview.minutes.length, 60);
  const last = overview.minutes.at(-1);
  assert.equal(last?.at, new Date(start).toISOString());
  // The key of the caller is verified as well.
  assert.deepEqual(last?.results, [
    { result: 'api_key', count: 3 },
    { result: 'malformed', count: 1 },
  ]);
  assert.deepEqual(last?.signIns, [{ result: 'accepted', count: 1 }]);
  assert.deepEqual(overview.minutes[0]?.results, []);
  assert.ok(overview.verificationMs.p50 !== null && overview.databaseMs.p99 !== null);
  assert.deepEqual(
    overview.instances.map(({ id, seenAt, isRunning }) => [id, seenAt, isRunning]),
    [[minutes.id, overview.now, true]],
  );
  assert.equal(overview.hashing.running, 0);
  assert.equal(overview.events[0]?.action, 'api_key.created');
  // What was counted is not counted again.
  app.clock.advance({ seconds: 60 });
  await minutes.write();
  assert.deepEqual((await read(app, administrator)).minutes.at(-1)?.results, []);
});

const newMinutes = (db: MinutesOptions['db'], clock: FakeClock) => {
  const results: Record<string, number> = { api_key: 0 };
  const sources = { results, signIns: {}, hashes: () => ({}), verificationMs: new VerificationDurations() };
  return {
    results,
    minutes: new Minutes({ db, clock, version: '1', masterKeyId: '0123456789abcdef', settings: '{}', sources }),
  };
};

onEachDatabase(
  'processes have rows of their own, an idle one writes no minute, and a stopped one is removed',
  async ({ db }) => {
    const clock = new FakeClock(now);
    const [one, two] = [newMinutes(db, clock), newMinutes(db, clock)];
    one.results['api_key'] = 5;
    clock.advance({ seconds: 60 });
    await one.minutes.write();
    await two.minutes.write();
    assert.equal((await listInstances(db, 9)).length, 2);
    const rows = await listMinutes(db, 0);
    assert.deepEqual(
      rows.map(({ minute, counts }) => [minute, (JSON.parse(counts) as { results: unknown }).results]),
      [[now, { api_key: 5 }]],
    );
    two.results['api_key'] = 1;
    await two.minutes.stop();
    assert.deepEqual(
      (await listInstances(db, 9)).map(({ id }) => id),
      [one.minutes.id],
    );
    assert.equal((await listMinutes(db, 0)).length, 2);
    clock.advance({ seconds: 48 * 3_600 + 61 });
    await one.minutes.deleteOld();
    assert.deepEqual([await listMinutes(db, 0), await listInstances(db, 9)], [[], []]);
  },
);

onEachDatabase(
  'counts that cannot be written wait for the next write, of the minute to which they belong',
  async ({ db }) => {
    const clock = new FakeClock(now);
    let isDown = true;
    const flaky = Object.create(db, {
      transaction: {
        value: (...rest: Parameters<typeof db.transaction>) =>
          isDown ? Promise.reject(new Error('down')) : db.transaction(...rest),
      },
    }) as typeof db;
    const { results, minutes } = newMinutes(flaky, clock);
    results['api_key'] = 2;
    clock.advance({ seconds: 60 });
    await assert.rejects(minutes.write(), /down/);
    isDown = false;
    results['api_key'] = 5;
    clock.advance({ seconds: 60 });
    await minutes.write();
    const counts = (await listMinutes(db, 0)).map((row) => [
      row.minute,
      (JSON.parse(row.counts) as { results: object }).results,
    ]);
    assert.deepEqual(counts, [
      [now, { api_key: 2 }],
      [now + 60_000, { api_key: 3 }],
    ]);
  },
);

onEachDatabase('counts that are taken twice in a minute, after a late write, are all in its row', async ({ db }) => {
  const clock = new FakeClock(now);
  const { results, minutes } = newMinutes(db, clock);
  const counted = async (): Promise<unknown[]> =>
    (await listMinutes(db, 0)).map((row) => [row.minute, (JSON.parse(row.counts) as { results: object }).results]);
  results['api_key'] = 2;
  // 40 seconds late.
  clock.advance({ seconds: 100 });
  await minutes.write();
  assert.deepEqual(await counted(), [[now + 60_000, { api_key: 2 }]]);
  Object.assign(results, { api_key: 5, malformed: 1 });
  clock.advance({ seconds: 20 });
  await minutes.write();
  assert.deepEqual(await counted(), [[now + 60_000, { api_key: 5, malformed: 1 }]]);
});

onEachDatabase('a process that stops during a write leaves no row', async ({ db }) => {
  const clock = new FakeClock(now);
  const started = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isFirst = true;
  const slow = Object.create(db, {
    transaction: {
      value: async (...rest: Parameters<typeof db.transaction>) => {
        if (isFirst) {
          isFirst = false;
          started.resolve();
          await gate.promise;
        }
        return db.transaction(...rest);
      },
    },
  }) as typeof db;
  const { minutes } = newMinutes(slow, clock);
  const written = minutes.write();
  await started.promise;
  const stopped = minutes.stop();
  await turn();
  gate.resolve();
  await Promise.all([written, stopped]);
  assert.deepEqual(await listInstances(db, 9), []);
});
