/** Which lines of the log a terminal shows below the link for the first administrator. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLine } from '../../foundation/log.ts';
import { until } from '../../../test-kit/until.ts';
import { RoutineLines } from '../routine-lines.ts';

test('until an administrator exists, lines of requests and of each minute are hidden, and failures are shown', async () => {
  const routine = new RoutineLines();
  const checkpoint: LogLine = { event: 'audit_checkpoint' };
  assert.equal(routine.isHidden(checkpoint), false, 'before the link is shown');

  let hasAdministrator = false;
  routine.hideUntil(() => Promise.resolve(hasAdministrator));
  const shown = (
    [
      { event: 'request', status: 200 },
      { event: 'refused', status: 401 },
      { event: 'refused', status: 503 },
      { event: 'repeated', status: 401 },
      { event: 'verifications' },
      checkpoint,
      { event: 'outbox_failed' },
      { event: 'stopping' },
    ] satisfies LogLine[]
  ).filter((line) => !routine.isHidden(line));
  assert.deepEqual(shown, [{ event: 'refused', status: 503 }, { event: 'outbox_failed' }, { event: 'stopping' }]);

  hasAdministrator = true;
  await until('lines are shown', () => !routine.isHidden(checkpoint));
  assert.equal(routine.isHidden({ event: 'request', status: 200 }), false);
});
