/** The log entry about the priority of password hashes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApp } from '../../../test-kit/new-app.ts';
import { watchHashingThreads } from '../../../test-kit/thread-messages.ts';

test('the log warns once that hashes run at the usual priority, with the reason', async (t) => {
  const threads = watchHashingThreads(t);
  await using app = await newApp({ hasOwnHashingThreads: true });
  await app.signIn();
  const warning = 'setpriority is not permitted';
  for (const thread of threads) for (let n = 0; n < 2; n++) thread.emit('message', { warning });
  const entries = app.logLines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === 'hashing_priority');
  assert.deepEqual(
    entries.map(({ level, detail }) => [level, detail]),
    [['warn', `password hashes can delay verifications: ${warning}`]],
  );
});
