/** The messages that a creation and a deletion exchange with the writer thread of SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
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
