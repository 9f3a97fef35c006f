/** Sampling, the ids of spans, and the phases that subscribers prolong. */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { RecordedSpans } from '../../../test-kit/recorded-spans.ts';
import { announcePhase, Sampling, Span, type TracingPhase } from '../tracing.ts';

const count = 100_000;

/** @returns how many of the requests are chosen */
function chosen(ratio: number): number {
  const sampling = new Sampling(ratio);
  return Array.from({ length: count }, () => sampling.isNextChosen()).filter(Boolean).length;
}

test('the ratio is the share of the chosen requests', () => {
  assert.deepEqual([chosen(0), chosen(1)], [0, count]);
  for (const ratio of [0.01, 0.5]) {
    const deviation = Math.sqrt(count * ratio * (1 - ratio));
    // A wrong failure is as likely as one in 10^12.
    assert.ok(Math.abs(chosen(ratio) - count * ratio) < 7.5 * deviation, String(ratio));
  }
});

test('each span has an id of its own, and is published once', () => {
  using spans = new RecordedSpans();
  const root = new Span({ name: 'a' });
  const children = Array.from({ length: 500 }, () => root.child('b'));
  for (const child of [...children, ...children, root]) child.end();
  assert.equal(spans.all.length, 501);
  assert.equal(new Set(spans.all.map(({ spanId }) => spanId)).size, 501);
  for (const { traceId, spanId } of spans.all)
    assert.ok(/^[0-9a-f]{32}$/.test(traceId) && /^[0-9a-f]{16}$/.test(spanId) && traceId === root.traceId);
});

test('a subscriber that fails or never ends does not keep the service from starting and stopping', async () => {
  const phases: string[] = [];
  const onPhase = (message: unknown): void => {
    const { phase, waitFor } = message as TracingPhase;
    phases.push(phase);
    waitFor(Promise.reject(new Error('the subscriber has failed')));
    if (phase === 'stop') waitFor(new Promise(() => undefined));
  };
  subscribe('keyreeve:tracing', onPhase);
  try {
    await announcePhase('start');
    await announcePhase('stop');
  } finally {
    unsubscribe('keyreeve:tracing', onPhase);
  }
  assert.deepEqual(phases, ['start', 'stop']);
});
