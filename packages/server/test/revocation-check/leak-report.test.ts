/** Reports of leaked secrets, to a server that rejects some of them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Instance } from '../../revocation-check/instance.ts';
import { reportLeak } from '../../revocation-check/leak-report.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';

interface Reported {
  readonly status: number;
  readonly requests: number;
  readonly accepts: boolean;
}

/** Reports a secret to a server that sends these rejections, and then 202. */
async function report(...rejections: readonly (readonly [status: number, code: string])[]): Promise<Reported> {
  let requests = 0;
  const server = createServer((_request, response) => {
    const [status, code] = rejections[requests++] ?? [202, ''];
    response.writeHead(status, { 'retry-after': '0' }).end(JSON.stringify({ code }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const instance = new Instance(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, programMsMax);
  instance.acceptsLeakReports = true;
  try {
    const { status } = await reportLeak(instance, 'no secret');
    return { status, requests, accepts: instance.acceptsLeakReports };
  } finally {
    instance.close();
    server.close();
    await once(server, 'close');
  }
}

test('a report is repeated while the instance processes too many reports', async () => {
  const busy = [429, 'too_many_in_progress'] as const;
  assert.deepEqual(await report(busy, busy), { status: 202, requests: 3, accepts: true });
  const many = Array.from({ length: 20 }, () => busy);
  assert.deepEqual(await report(...many), { status: 429, requests: 10, accepts: true });
});

test('an instance whose limit of reports is reached gets no more reports', async () => {
  assert.deepEqual(await report([429, 'too_many_requests']), { status: 429, requests: 1, accepts: false });
  assert.deepEqual(await report([404, 'not_found']), { status: 404, requests: 1, accepts: false });
});
