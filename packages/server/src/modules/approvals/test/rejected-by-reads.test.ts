/** Rejected requests of devices cost reads only: a client that sends many of them must not occupy the writer. */
import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { limits } from '@keyreeve/contract';
import { assertRejected } from '../../../../test-kit/account-client.ts';
import { testOnBoth } from '../../../../test-kit/app-on-each-database.ts';
import { errorOf, newDeviceClient } from '../../../../test-kit/device-client.ts';
import { bearer } from '../../../../test-kit/new-app.ts';
import type { Db, Transaction } from '../../../foundation/database/db.ts';

/** @returns the names of the statements that transactions have read with `get`, of rate limits, owners of keys and requests */
function watchTransactions(db: Db): () => readonly string[] {
  const names: string[] = [];
  const real = db.transaction.bind(db);
  mock.method(db, 'transaction', ((body, options) =>
    real((tx) => {
      const get = tx.get.bind(tx);
      mock.method(tx, 'get', (...args: Parameters<Transaction['get']>) => {
        names.push(args[0].name);
        return get(...args);
      });
      return body(tx);
    }, options)) as Db['transaction']);
  // Not those of housekeeping.
  return () => names.filter((name) => /bucket|account|request/.test(name));
}

testOnBoth('begins beyond the bound of a client IP range run no transaction', async () => {
  await using at = await newDeviceClient();
  const names = watchTransactions(at.app.db);
  for (let n = 0; n < limits.deviceRequestsPerRangeMax; n++) await at.begin({}, '192.0.2.1');
  const ofBegins = names();
  // Far from the bound of the program, no transaction counts its requests.
  assert.deepEqual(new Set(ofBegins), new Set(['increment_rate_limit_bucket', 'count_requests_of_range']));
  for (let n = 0; n < 20; n++) assertRejected(await at.tryBegin({}, '192.0.2.2'), 'too_many_device_requests');
  assert.deepEqual(names(), ofBegins);
});

testOnBoth('polls of an account that may not create keys for a while run no transaction', async () => {
  await using at = await newDeviceClient({ environment: { KEYREEVE_CREATIONS_PER_MINUTE_MAX: '1' } });
  const headers = bearer(at.person.accessToken);
  const deviceCode = await at.approved();
  assert.equal((await at.app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a' } })).status, 201);
  const names = watchTransactions(at.app.db);
  for (let n = 0; n < 5; n++) assert.equal(errorOf(await at.poll(deviceCode)), 'slow_down');
  assert.deepEqual(names(), []);
  at.app.clock.advance({ seconds: limits.creationWindowSeconds });
  await at.fetch(deviceCode);
  assert.notDeepEqual(names(), []);
});
