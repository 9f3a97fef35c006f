/** The messages that a creation and a deletion exchange with the writer thread of SQLite. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearer, newApp } from '../../../../test-kit/new-app.ts';
import { watchWriterMessages } from '../../../../test-kit/thread-messages.ts';
import { until } from '../../../../test-kit/until.ts';
import { sql } from '../../../foundation/database/sql.ts';

const countNotices = sql<{ count: number }>('test_count_notices', 'select count(*) as count from expiry_notices');

test('a creation and a deletion exchange two messages each with the writer thread', async (t) => {
  await using app = await newApp({ writer: 'thread' });
  const headers = bearer((await app.signIn()).accessToken);
  const create = async (nickname: string): Promise<number> =>
    ((await app.call('POST', '/auth/api-keys', { headers, json: { nickname } })).json as { id: number }).id;
  // The first creation also records the prefix.
  await create('first');
  // The housekeeping at the start writes, too: at last, the progress of the two expiry notices.
  const isStarted = async (): Promise<boolean> => (await app.db.get(countNotices))?.count === 2;
  await until('the housekeeping at the start has ended', isStarted);
  const messages = watchWriterMessages(t);
  const id = await create('second');
  const creation = messages.splice(0);
  assert.equal(creation.length, 2, creation.join('; '));
  assert.equal((await app.call('DELETE', `/auth/api-keys/${id}`, { headers })).status, 200);
  assert.equal(messages.length, 2, messages.join('; '));
});
