/** A service with `--import @keyreeve/otel`, and a collector that receives its spans. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../server/test-kit/free-port.ts';
import { until } from '../../server/test-kit/until.ts';
import { bearer, newProgram, type Environment, type Program } from '../../server/test/e2e/program.ts';
import { attributesOf, Collector } from './collector.ts';

const loaded = { NODE_OPTIONS: `--import ${import.meta.resolve('../src/register.ts')}` };
const trusting = { KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = { traceparent: `00-${traceId}-${parentId}-01` };
const [server, client] = [2, 3];

const start = (collector: Collector, environment: Environment = {}): Promise<Program> =>
  newProgram({ ...loaded, ...collector.environment, ...environment });

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

test('the workers of a service send their spans, also the last ones', async () => {
  await using collector = await Collector.start();
  const environment = { KEYREEVE_WORKERS: '2', KEYREEVE_TRACE_RATIO: '1', OTEL_BSP_SCHEDULE_DELAY: '600000' };
  await using program = await start(collector, environment);
  const codes = await Promise.all(
    Array.from({ length: 8 }, () => program.call('GET', '/auth/forward', bearer('krv_none'))),
  );
  assert.deepEqual(new Set(codes.map(({ status }) => status)), new Set([401]));
  assert.equal(collector.requests, 0);
  const { status, stderr } = await program.stop();
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(collector.named('GET /auth/forward').length, 8);
  assert.ok(collector.named('GET /auth/forward').every(({ parentSpanId }) => parentSpanId === undefined));
});

test('a collector that does not answer, answers with an error or is down affects neither requests nor the stop', async () => {
  await using hanging = await Collector.start();
  hanging.answer = () => undefined;
  await using failing = await Collector.start();
  failing.answer = (response) => void response.writeHead(400).end('no\u001b[2J');
  const down = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`, OTEL_BSP_SCHEDULE_DELAY: '50' };
  for (const [environment, requests, warning] of [
    [hanging.environment, () => hanging.requests, /^$/],
    [
      failing.environment,
      () => failing.requests,
      /^keyreeve-otel: the collector does not accept spans: [\x20-\x7e]+\n$/,
    ],
    [down, () => 1, undefined],
  ] as const) {
    await using program = await newProgram({
      ...loaded,
      ...environment,
      KEYREEVE_TRACE_RATIO: '1',
      // More spans than fit: the others are dropped.
      OTEL_BSP_MAX_QUEUE_SIZE: '16',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '8',
    });
    const { key } = await program.newKey();
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => program.call('GET', '/auth/forward', bearer(key))),
    );
    assert.ok(answers.every(({ status }) => status === 200));
    await until('an export', () => requests() > 0);
    if (warning && warning.source !== '^$')
      await program.waitFor('a warning', () => (program.stderr === '' ? undefined : true));
    const { status, stdout, stderr } = await program.stop();
    assert.equal(status, 0);
    assert.match(stdout, /"event":"stopped","isDrained":true/);
    if (warning) assert.match(stderr, warning);
  }
});

test('OTEL_SDK_DISABLED and OTEL_TRACES_EXPORTER=none switch it off, and a wrong setting is named', async () => {
  await using collector = await Collector.start();
  for (const environment of [{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }]) {
    await using program = await start(collector, { ...environment, KEYREEVE_TRACE_RATIO: '1' });
    await program.call('GET', '/auth/forward', bearer('krv_none'));
    assert.deepEqual((({ status, stderr }) => [status, stderr])(await program.stop()), [0, '']);
  }
  assert.equal(collector.requests, 0);
  await using program = await start(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' });
  const { stderr } = await program.stop();
  assert.equal(
    stderr,
    'keyreeve-otel: configuration: OTEL_EXPORTER_OTLP_PROTOCOL must be http/json, not grpc; http/json is used\n',
  );
});
