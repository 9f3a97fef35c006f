/** A restart of an instance behind nginx loses no request. `rolling-restart.extended.test.ts` restarts all of three. */
import { test } from 'node:test';
import { assertNoRequestFails } from './rolling-restart.ts';

test('no request fails while one of two instances behind nginx is restarted', (t) =>
  assertNoRequestFails(t, { instances: 2, restarts: 1, paceMs: 200 }));
