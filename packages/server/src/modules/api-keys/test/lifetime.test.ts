/** KEYREEVE_KEY_LIFETIME_DAYS_MAX: no key gets a later expiry, and a creation without one gets the latest. */
import assert from 'node:assert/strict';
import type { CreatedKey, KeyDetails, Problem } from '@keyreeve/contract';
import { assertProblem, fromFetch } from '../../../../test-kit/assert-problem.ts';
import { newAdministrator } from '../../../../test-kit/administrators.ts';
import { newPlace } from '../../../../test-kit/new-db.ts';
import { bearer, newApp, operator, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { findKeyOwner } from '../store.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';

const environment = { KEYREEVE_KEY_LIFETIME_DAYS_MAX: '30' };
/** 30 days after the time of the tests. */
const latest = '2026-12-21T09:30:00.000Z';

async function fixture(app: TestApp) {
  const headers = bearer((await app.signIn()).accessToken);
  const create = (members: object): Promise<Answered> =>
    app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'a', ...members } });
  const change = (id: number, json: object): Promise<Answered> =>
    app.call('PATCH', `/auth/api-keys/${id}`, { headers, json });
  const expiryOf = async (id: number): Promise<string | null> => {
    const { json } = await app.call('GET', `/auth/api-keys/${id}`, { headers });
    return (json as KeyDetails).expiresAt;
  };
  return { create, change, expiryOf };
}

const assertTooLate = (answer: Answered): void => {
  const { errors }: Problem = assertProblem(fromFetch(answer), 'invalid_request');
  const detail = `It must be at most ${latest}, because keys live for at most 30 days.`;
  assert.deepEqual(errors, [{ pointer: '/expiresAt', detail, code: 'lifetime_exceeded', limit: 30 }]);
};

test('a creation without expiry gets the latest one, and its response is the fixed one', async () => {
  await using app = await newApp({ environment });
  const { create, expiryOf } = await fixture(app);
  const created = await create({});
  assert.equal(created.status, 201, created.text);
  const { id, ...others } = created.json as CreatedKey;
  assert.deepEqual(Object.keys(others), ['nickname', 'key', 'createdAt', 'updatedAt']);
  assert.equal(await expiryOf(id), latest);
  const earlier = await create({ nickname: 'b', expiresAt: '2026-12-01T00:00:00Z' });
  assert.equal(await expiryOf((earlier.json as CreatedKey).id), '2026-12-01T00:00:00.000Z');
  const account = await app.createAccount();
  const byOperator = await app.service.services.apiKeys.create(operator, account.id, { nickname: 'a' });
  assert.equal(byOperator.expiresAt, Date.parse(latest));
  app.clock.advance({ days: 30 });
  const { status } = await app.call('GET', '/auth/forward', { headers: bearer((created.json as CreatedKey).key) });
  assert.equal(status, 401);
});

test('an expiry that is too late, or none, is rejected with the latest time', { tags: ['asvs:2.2.1'] }, async () => {
  await using app = await newApp({ environment });
  const { create, change, expiryOf } = await fixture(app);
  const late = '2026-12-21T09:30:00.001Z';
  for (const expiresAt of [late, null]) assertTooLate(await create({ expiresAt }));
  const { id } = (await create({ expiresAt: '2026-12-01T00:00:00Z' })).json as CreatedKey;
  for (const expiresAt of [late, null]) assertTooLate(await change(id, { expiresAt, disabled: true }));
  assert.equal(await expiryOf(id), '2026-12-01T00:00:00.000Z');
  assert.equal((await change(id, { expiresAt: latest })).status, 200);
  assert.equal(await expiryOf(id), latest);
  const administrator = bearer((await newAdministrator(app)).accessToken);
  const accountId = await findKeyOwner(app.db, id);
  const path = `/admin/accounts/${accountId}/api-keys/${id}`;
  assertTooLate(await app.call('PATCH', path, { headers: administrator, json: { expiresAt: null } }));
});

test('keys from before the setting keep their expiry until a change names it', async () => {
  await using place = await newPlace();
  const key = await (async () => {
    await using app = await newApp({ place });
    const { account } = await app.signIn('ada@example.com');
    const created = await app.service.services.apiKeys.create(operator, account.id, { nickname: 'a' });
    return { id: created.id, accountId: account.id, secret: created.secret.reveal() };
  })();
  await using app = await newApp({ place, environment });
  const { keyChanges, verifier } = app.service.services;
  const changed = await keyChanges.change(operator, key.accountId, key.id, { nickname: 'b' });
  assert.equal(changed.expiresAt, null);
  const rotated = await keyChanges.rotate(operator, key.accountId, key.id, { overlapSeconds: 60, endPrevious: false });
  assert.equal(rotated.key.expiresAt, null);
  assert.equal((await verifier.verify(rotated.secret.reveal())).valid, true);
});
