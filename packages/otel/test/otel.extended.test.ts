/** A service with `--import @keyreeve/otel`: faulty collectors and settings. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from '../../server/test-kit/free-port.ts';
import { until } from '../../server/test-kit/until.ts';
import { bearer, newProgram } from '../../server/test/e2e/program.ts';
import { forwardAt, verifyUrlOf } from '../../server/test/e2e/verifier-kit.ts';
import { Collector } from './collector.ts';
import { loaded, start } from './traced-program.ts';

test('a service and its verifier send their spans, also the last ones', async () => {
  await using collector = await Collector.start();
  const environment = {
    KEYREEVE_TRACE_RATIO: '1',
    KEYREEVE_VERIFY_PORT: '0',
    OTEL_BSP_SCHEDULE_DELAY: '600000',
  };
  await using program = await start(collector, environment);
  const statuses = await Promise.all(
    Array.from({ length: 8 }, (_, n) => forwardAt(n % 2 === 0 ? program.url : verifyUrlOf(program), 'krv_none')),
  );
  assert.deepEqual(new Set(statuses), new Set([401]));
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
