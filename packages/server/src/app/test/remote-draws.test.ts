/** Draws of a process that only verifies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '@keyreeve/contract';
import { toPlain } from '../../foundation/database/plain-error.ts';
import { isOutcomeUnknown, unavailable } from '../../foundation/database/unavailable.ts';
import type { DrawRequest, DrawResult } from '../../modules/key-limits/draws.ts';
import type { ToMain } from '../processes/messages.ts';
import { RemoteDraws } from '../processes/remote-draws.ts';

const request: DrawRequest = { limits: [], questions: [] };
const result: DrawResult = { waitedMs: 1, limits: [], lacking: [] };

function fixture() {
  const sent: Extract<ToMain, { kind: 'draw' }>[] = [];
  const draws = new RemoteDraws((message) => void (message.kind === 'draw' && sent.push(message)));
  return { draws, sent };
}

test('each draw gets its own response, and the error of the main process', async () => {
  const { draws, sent } = fixture();
  const [first, second] = [draws.draw(request), draws.draw(request)];
  const [one = { id: 0 }, two = { id: 0 }] = sent;
  assert.notEqual(one.id, two.id);
  draws.receive({ kind: 'drawn', id: two.id, error: toPlain(unavailable(new Error('down'))) });
  draws.receive({ kind: 'drawn', id: one.id, result });
  assert.deepEqual(await first, result);
  await assert.rejects(
    second,
    (error) => !isOutcomeUnknown(error) && (error as { code: string }).code === 'unavailable',
  );
});

test('without a response in time, the outcome of a draw is unknown, and a late response has no effect', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { draws, sent } = fixture();
  const drawing = draws.draw(request);
  drawing.catch(() => undefined);
  t.mock.timers.tick(limits.drawResponseMsMax - 1);
  t.mock.timers.tick(1);
  await assert.rejects(drawing, isOutcomeUnknown);
  draws.receive({ kind: 'drawn', id: sent[0]?.id ?? 0, result });
});

test('while the main process responds to no draw, no more are sent than it can make at once', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { draws, sent } = fixture();
  const late = Array.from({ length: limits.drawsInProgressMax }, () => draws.draw(request));
  for (const draw of late) draw.catch(() => undefined);
  t.mock.timers.tick(limits.drawResponseMsMax);
  await Promise.allSettled(late);
  await assert.rejects(draws.draw(request), (error) => !isOutcomeUnknown(error));
  assert.equal(sent.length, limits.drawsInProgressMax);
  draws.receive({ kind: 'drawn', id: sent[0]?.id ?? 0, result });
  void draws.draw(request).catch(() => undefined);
  assert.equal(sent.length, limits.drawsInProgressMax + 1);
});
