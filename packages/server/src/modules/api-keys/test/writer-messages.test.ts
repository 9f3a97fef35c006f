/** The message of a creation or deletion to the writer thread of SQLite, and the end of the thread at it. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { bearer, newApp, operator } from '../../../../test-kit/new-app.ts';
import { until } from '../../../../test-kit/until.ts';
import { untilHousekeepingHasEnded, watchWriterMessages } from '../../../../test-kit/thread-messages.ts';

test('a creation and a deletion are one message each to the writer thread', async (t) => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const create = async (nickname: string): Promise<number> =>
    ((await app.call('POST', '/auth/api-keys', { headers, json: { nickname } })).json as { id: number }).id;
  // The first creation also records the prefix.
  await create('first');
  await untilHousekeepingHasEnded(app);
  const messages = watchWriterMessages(t);
  const id = await create('second');
  const one = ['begin savepoint call release commit'];
  assert.deepEqual(messages.splice(0), one);
  assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 200);
  assert.deepEqual(messages, one);
});

/** Ends the writer thread instead of sending the next message to it. @returns as {@link watchWriterMessages} */
function endWriterAtNextMessage(t: TestContext): string[] {
  let isArmed = true;
  return watchWriterMessages(t, (worker) => {
    if (!isArmed) return true;
    isArmed = false;
    void worker.terminate();
    return false;
  });
}

test('a deletion without a result, because the writer thread has ended, is made later', async (t) => {
  await using app = await newApp();
  const owner = await app.signIn();
  const headers = bearer(owner.accessToken);
  const created = await app.call('POST', '/auth/api-keys', { headers, json: { nickname: 'key' } });
  const { id, key } = created.json as { id: number; key: string };
  await untilHousekeepingHasEnded(app);
  endWriterAtNextMessage(t);
  assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 503);
  const verify = async (): Promise<number> => (await app.call('GET', '/auth/forward', { headers: bearer(key) })).status;
  assert.ok([401, 503].includes(await verify()));
  await until('the key is deleted', async () => (await verify()) === 401);
});

test('if the writer thread ends, a deletion of another account’s key is not repeated, and the key stays valid', async (t) => {
  await using app = await newApp();
  const [owner, other] = [await app.signIn(), await app.signIn()];
  const created = await app.call('POST', '/auth/api-keys', {
    headers: bearer(owner.accessToken),
    json: { nickname: 'key' },
  });
  const { id, key } = created.json as { id: number; key: string };
  await untilHousekeepingHasEnded(app);
  endWriterAtNextMessage(t);
  const headers = bearer(other.accessToken);
  assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 503);
  assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(key) })).status, 200);
  const again = await app.call('DELETE', `/auth/api-keys/${id}`, { headers });
  assert.equal((again.json as { code: string }).code, 'not_key_owner');
});

test('a deletion without a result is repeated with the check of its caller', async (t) => {
  await using app = await newApp();
  const owner = await app.signIn();
  const accountId = owner.account.id;
  const { apiKeys } = app.service.services;
  const { id } = await apiKeys.create(operator, accountId, { nickname: 'key' });
  await untilHousekeepingHasEnded(app);
  const messages = endWriterAtNextMessage(t);
  const ended = { kind: 'account', accountId, sessionId: `ses_${'0'.repeat(22)}` } as const;
  await assert.rejects(apiKeys.delete(ended, accountId, id), { code: 'unavailable' });
  await until(
    'the deletion is performed again',
    async () => messages.filter((one) => one.includes('call')).length === 2,
  );
  // The thread does this afterwards.
  const { id: later } = await apiKeys.create(operator, accountId, { nickname: 'later' });
  const ids = new Set((await apiKeys.list(accountId)).map((key) => key.id));
  assert.deepEqual(ids, new Set([id, later]));
});
