/** Readiness while the database is slow or silent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPlace } from '../../test-kit/new-db.ts';
import { until } from '../../test-kit/until.ts';
import { FaultProxy } from '../revocation-check/fault-proxy.ts';
import { newProgram } from './program.ts';

test('a database that responds after 1.2 seconds leaves the service ready, and a silent one does not', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  await using program = await newProgram({ ...place.environment, KEYREEVE_DATABASE_URL: proxy.through(place.url) });
  const ready = async (): Promise<number> => (await program.call('GET', '/health/ready')).status;

  proxy.delayMs = 1_200;
  // On a busy machine, a response can arrive after the limit of the service.
  await until('the service is ready', async () => (await ready()) === 200);

  proxy.isBlackHole = true;
  assert.equal(await ready(), 503);
  proxy.clearFaults();
  await until('the service is ready again', async () => (await ready()) === 200);
});
