/** A slow database: requests that cannot be processed in time are rejected early, and each gets a response. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, newApp } from '../../../test-kit/new-app.ts';
import { newPlace } from '../../../test-kit/new-db.ts';
import { FaultProxy } from '../../../test/revocation-check/fault-proxy.ts';
import { problemCode } from '../../../test-kit/administrators.ts';

const clients = 400;

test('of 400 creations at 0.3 s each, every one succeeds or returns 429 or 503 (postgres)', async () => {
  await using place = await newPlace('postgres');
  await using proxy = await FaultProxy.start(place.url);
  const environment = { ...place.environment, KEYREEVE_DATABASE_URL: proxy.through(place.url) };
  await using app = await newApp({ place: { ...place, environment }, areWaitsShort: true });
  const { accessToken } = await app.signIn();
  proxy.delayMs = 300;
  const answers = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      app.call('POST', '/auth/api-keys', { headers: bearer(accessToken), json: { nickname: `key ${client}` } }),
    ),
  );
  proxy.delayMs = 0;
  const outcomes = new Set(answers.map((answer) => problemCode(answer) ?? answer.status));
  for (const outcome of outcomes)
    assert.ok([201, 'too_many_in_progress', 'unavailable'].includes(outcome), `${outcome}`);
  assert.ok(outcomes.has(201) && outcomes.has('too_many_in_progress'), [...outcomes].join());
  for (const { status, headers } of answers) assert.ok(status === 201 || headers.has('retry-after'), `${status}`);
});
