/** Trace ids: only a valid traceparent counts, and it connects the response with the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newApp } from '../../../test-kit/new-app.ts';
import { traceContextOf, traceIdOf } from '../trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const valid = `00-${traceId}-${parentId}-01`;

test('a valid traceparent gives its trace id, whatever the flags and the case of the name', () => {
  assert.equal(traceIdOf(['Host', 'a', 'TraceParent', valid]), traceId);
  assert.equal(traceIdOf(['traceparent', `00-${traceId}-${parentId}-00`]), traceId);
});

test('the flag sampled is the last bit, and a later version begins with the fields of version 00', () => {
  const flagOf = (value: string): boolean | undefined => traceContextOf(['traceparent', value])?.isSampled;
  for (const flags of ['01', '03', 'ff']) assert.equal(flagOf(`00-${traceId}-${parentId}-${flags}`), true, flags);
  for (const flags of ['00', '02', 'fe']) assert.equal(flagOf(`00-${traceId}-${parentId}-${flags}`), false, flags);
  const later = `cc-${traceId}-${parentId}-01`;
  for (const value of [later, `${later}-`, `${later}-what the future will be like`]) assert.equal(flagOf(value), true);
  assert.deepEqual(traceContextOf(['traceparent', valid]), { traceId, spanId: parentId, isSampled: true });
});

test('an invalid traceparent is ignored', () => {
  const invalid = [
    '',
    traceId,
    `0-${traceId}-${parentId}-01`,
    `01-${traceId}-${parentId}-01.`,
    `01-${traceId}-${parentId}-0`,
    `01-${traceId}-${parentId}-01-${'x'.repeat(512)}`,
    `00-${traceId}-${parentId}-1`,
    `00-${traceId}-${parentId}-0G`,
    `0A-${traceId}-${parentId}-01`,
    `ff-${traceId}-${parentId}-01`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${traceId.slice(1)}-${parentId}-01`,
    `${valid}-extra`,
    ` ${valid}`,
    `${valid}\n`,
    `${valid}, ${valid}`,
  ];
  for (const value of invalid) assert.equal(traceIdOf(['traceparent', value]), undefined, value);
  assert.equal(traceIdOf(['traceparent', valid, 'Traceparent', valid]), undefined);
  assert.equal(traceIdOf(['tracestate', valid]), undefined);
});

test('the log lines and the problem document of a request have its trace id, and those of others have none', async () => {
  await using app = await newApp();
  const headers = { traceparent: valid };
  const bodies = [
    await app.call('GET', '/auth/api-keys', { headers }),
    await app.call('GET', '/auth/forward', { headers }),
    await app.call('GET', '/nowhere', { headers: { traceparent: `${valid}0` } }),
    await app.call('GET', '/auth/forward'),
  ].map(({ json }) => json as { traceId?: string; requestId: string });
  await app.call('GET', '/.well-known/jwks.json', { headers });
  assert.deepEqual(
    bodies.map((body) => body.traceId),
    [traceId, traceId, undefined, undefined],
  );
  const lines = app.logLines.map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.deepEqual(
    bodies.map(({ requestId }) => lines.find((line) => line['requestId'] === requestId)?.['traceId']),
    [traceId, traceId, undefined, undefined],
  );
  const [read] = lines.filter(({ event }) => event === 'request');
  assert.equal(read?.['traceId'], traceId);
});
