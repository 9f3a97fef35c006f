/** A service with `--import @keyreeve/otel`, and a collector that receives its spans. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../server/test-kit/until.ts';
import { bearer, type Program } from '../../server/test/e2e/program.ts';
import { attributesOf, Collector } from './collector.ts';
import { parentId, sampled, start, traceId, trusting } from './traced-program.ts';

const [server, client] = [2, 3];

/** A key that can call `/auth/verify`, made by a command. */
async function serviceKey(program: Program): Promise<string> {
  const args = ['key', 'create', '--account', 'you@example.com', '--nickname', 'service', '--scope', 'keyreeve:verify'];
  const { status, stdout, stderr } = await program.command([...args, '--json']);
  assert.deepEqual([status, stderr], [0, '']);
  return (JSON.parse(stdout) as { key: string }).key;
}

test('the collector receives a recorded request with its parent, and the read that verifications share', async () => {
  await using collector = await Collector.start();
  await using program = await start(collector, {
    ...trusting,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
  });
  const { key } = await program.newKey();
  const service = bearer(await serviceKey(program));
  const json = { credentials: [key, key, key] };
  const answer = await program.call('POST', '/auth/verify/batch', { ...service, ...sampled }, json);
  assert.equal(answer.status, 200, answer.text);
  const name = 'POST /auth/verify/batch';
  await until('the spans', () => collector.named(name).length > 0);
  assert.ok(collector.spans.every((span) => span.traceId === traceId));
  const [request] = collector.named(name);
  assert.ok(request);
  assert.deepEqual([request.parentSpanId, request.kind, request.links], [parentId, server, []]);
  assert.deepEqual(attributesOf(request), {
    'http.request.method': 'POST',
    'http.response.status_code': 200,
    'http.route': '/auth/verify/batch',
  });
  assert.ok(BigInt(request.startTimeUnixNano) <= BigInt(request.endTimeUnixNano));
  const verifications = collector.named('verify');
  assert.equal(verifications.length, 4, 'the caller and three credentials');
  assert.ok(verifications.every(({ parentSpanId }) => parentSpanId === request.spanId));
  const read = collector.named('db.read').find((span) => attributesOf(span)['db.operation.batch.size'] === 3);
  assert.equal(read?.kind, client);
  assert.deepEqual(
    read.links.map(({ spanId }) => spanId).toSorted(),
    verifications
      .slice(-3)
      .map(({ spanId }) => spanId)
      .toSorted(),
  );
  const [resource] = collector.resources;
  assert.deepEqual([resource?.['service.name'], resource?.['deployment.environment']], ['keyreeve', 'test']);
  const { status, stderr } = await program.stop();
  assert.deepEqual([status, stderr], [0, '']);
});

test('without a trusted proxy and without the flag, the collector receives nothing, not even a connection', async () => {
  await using collector = await Collector.start();
  await using direct = await start(collector);
  await using proxied = await start(collector, trusting);
  const flagless = { traceparent: sampled.traceparent.replace(/01$/, '00') };
  for (const [program, headers] of [
    [direct, sampled],
    [proxied, flagless],
    [proxied, {}],
  ] as const)
    assert.equal((await program.call('GET', '/auth/forward', { ...headers, ...bearer('krv_none') })).status, 401);
  for (const program of [direct, proxied]) {
    const { status, stderr } = await program.stop();
    assert.deepEqual([status, stderr], [0, '']);
  }
  assert.equal(collector.requests, 0);
});
