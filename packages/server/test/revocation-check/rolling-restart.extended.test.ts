/** A restart of instances behind nginx loses no request, as with `docs/compose/`. */
import { test } from 'node:test';
import { assertNoRequestFails } from './rolling-restart.ts';

test('no request fails while three instances behind nginx are restarted one after the other', (t) =>
  assertNoRequestFails(t, { instances: 3, restarts: 3, paceMs: 40 }));
