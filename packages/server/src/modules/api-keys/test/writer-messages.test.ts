/** The messages that a creation and a deletion exchange with the writer thread of SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { untilHousekeepingHasEnded, watchWriterMessages } from '../../../../test-kit/thread-messages.ts';

test('a creation and a deletion exchange two messages each with the writer thread', async (t) => {
  await using app = await newApp();
  const headers = bearer((await app.signIn()).accessToken);
  const create = async (nickname: string): Promise<number> =>
    ((await app.call('POST', '/auth/api-keys', { headers, json: { nickname } })).json as { id: number }).id;
  // The first creation also records the prefix.
  await create('first');
  await untilHousekeepingHasEnded(app);
  const messages = watchWriterMessages(t);
  const id = await create('second');
  const creation = messages.splice(0);
  assert.equal(creation.length, 2, creation.join('; '));
  assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 200);
  assert.equal(messages.length, 2, messages.join('; '));
});
