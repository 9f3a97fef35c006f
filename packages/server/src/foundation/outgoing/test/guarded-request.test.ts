/** One request to an endpoint: its target, its bounds and its result. The servers are real, on loopback. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { programMsMax } from '../../../../test-kit/time-limits.ts';
import { until } from '../../../../test-kit/until.ts';
import { newReceiver, type Receiver } from '../../../../test-kit/webhook-receiver.ts';
import { AddressGuard, RefusedTarget } from '../address-guard.ts';
import { get, post, TimedOut } from '../guarded-request.ts';

const body = '{"type":"account.created"}';
const headers = { 'webhook-id': 'msg_1' };
const loopback = new AddressGuard([{ kind: 'network', cidr: '127.0.0.0/8' }]);
const send = (url: string, guard = loopback, msMax = programMsMax): Promise<number> =>
  post(guard, { url: new URL(url), headers, body }, msMax);

/** A guard that allows one name with any IP address. */
const guardFor = (host: string, port: number, resolve: () => Promise<readonly string[]>): AddressGuard =>
  new AddressGuard([{ kind: 'host', host, port }], resolve);

test('the body arrives unchanged, with its host and headers', async () => {
  await using receiver = await newReceiver();
  const guard = guardFor('hooks.test', receiver.port, () => Promise.resolve(['127.0.0.1']));
  assert.equal(await send(`http://hooks.test:${receiver.port}/a?b=c`, guard), 204);
  const [{ method, path, headers: sent, body: text }] = receiver.received as [Receiver['received'][number]];
  assert.deepEqual([method, path, text], ['POST', '/a?b=c', body]);
  assert.deepEqual(
    { ...sent },
    {
      host: `hooks.test:${receiver.port}`,
      'content-type': 'application/json',
      'content-length': String(body.length),
      'user-agent': 'Keyreeve',
      'webhook-id': 'msg_1',
      connection: 'close',
    },
  );
});

test('a name whose IP addresses change is connected to the allowed one', { tags: ['asvs:1.3.6'] }, async () => {
  await using vetted = await newReceiver();
  // Another IP address of this host, with the same port.
  await using trap = await newReceiver(undefined, process.platform === 'linux' ? '127.0.0.2' : '::1', vetted.port);
  const elsewhere = process.platform === 'linux' ? '127.0.0.2' : '::1';
  let lookups = 0;
  const guard = guardFor('rebinding.test', vetted.port, () =>
    Promise.resolve(lookups++ === 0 ? ['127.0.0.1'] : [elsewhere]),
  );
  assert.equal(await send(`http://rebinding.test:${vetted.port}/`, guard), 204);
  assert.deepEqual([lookups, vetted.received.length, trap.received.length], [1, 1, 0]);
  // The second lookup leads to the trap.
  assert.equal(await send(`http://rebinding.test:${vetted.port}/`, guard), 204);
  assert.equal(trap.received.length, 1);
});

test('no connection is made if one IP address of a name is internal', async () => {
  await using receiver = await newReceiver();
  for (const answers of [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8']]) {
    const guard = new AddressGuard([], () => Promise.resolve(answers));
    await assert.rejects(send(`https://inside.test/`, guard), RefusedTarget);
  }
  await assert.rejects(send(receiver.url, new AddressGuard([])), RefusedTarget);
  assert.equal(receiver.received.length, 0);
});

test('a redirect is not followed', { tags: ['asvs:15.3.2'] }, async () => {
  await using inside = await newReceiver();
  await using receiver = await newReceiver();
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.answer = (_, response) => void response.writeHead(status, { location: inside.url }).end();
    assert.equal(await send(receiver.url), status);
  }
  assert.equal(inside.received.length, 0);
  assert.equal(receiver.received.length, 5);
});

const limitMs = 10_000;
/** Asserts that a request ends at its limit, and not earlier. @param isWaiting waits until the request has arrived */
async function assertTimedOut(
  t: TestContext,
  request: (msMax: number) => Promise<unknown>,
  isWaiting: () => Promise<unknown>,
): Promise<void> {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let hasEnded = false;
  const ended = assert.rejects(request(limitMs), TimedOut).finally(() => (hasEnded = true));
  await isWaiting();
  t.mock.timers.tick(limitMs - 1);
  await turn();
  assert.equal(hasEnded, false);
  t.mock.timers.tick(1);
  await ended;
}

test('a request to an endpoint that never responds ends at the time limit', async (t) => {
  await using receiver = await newReceiver();
  receiver.answer = () => undefined;
  await assertTimedOut(
    t,
    (msMax) => send(receiver.url, loopback, msMax),
    () => receiver.until(1),
  );
});

test('a name resolution that never ends is stopped at the time limit', async (t) => {
  const guard = new AddressGuard([], () => new Promise(() => undefined));
  await assertTimedOut(t, (msMax) => send('https://example.com/', guard, msMax), turn);
});

test('a silent connection and endless headers end at the time limit', async (t) => {
  const sockets = new Set<Socket>();
  let headerLines = 0;
  const drip = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => headerLines++ < 100 && socket.write('x-more: 1\r\n'), 1);
    socket.on('close', () => clearInterval(timer));
  });
  await once(drip.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(drip.address() as AddressInfo).port}/`;
  try {
    await assertTimedOut(
      t,
      (msMax) => send(url, loopback, msMax),
      () => until('some headers are sent', () => headerLines > 3),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
    drip.close();
  }
});

test('headers above the bound are a failure', async () => {
  await using receiver = await newReceiver();
  receiver.answer = (_, response) => void response.writeHead(200, { 'x-large': 'x'.repeat(20_000) }).end();
  await assert.rejects(send(receiver.url), { code: 'HPE_HEADER_OVERFLOW' });
});

test('an endless response is read up to the bound, and its status is returned', async () => {
  await using receiver = await newReceiver();
  const endless = 256 * 2 ** 20;
  let sent = 0;
  const ended = Promise.withResolvers<void>();
  receiver.answer = (_, response) => {
    response.writeHead(200).on('close', ended.resolve);
    const more = (): void => {
      while (!response.destroyed && sent < endless) {
        sent += 65_536;
        if (!response.write('x'.repeat(65_536))) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };
  assert.equal(await send(receiver.url), 200);
  await ended.promise;
  // Sockets buffer a few MiB at most.
  assert.ok(sent < endless / 4, `${sent} bytes were read`);
});

test('a response that hangs after its status is not a failure', async (t) => {
  await using receiver = await newReceiver();
  receiver.answer = (_, response) => void response.writeHead(202).write('…');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { promise: hasStatus, resolve } = Promise.withResolvers<void>();
  const onResponse = (): void => resolve();
  subscribe('http.client.response.finish', onResponse);
  try {
    const status = send(receiver.url, loopback, limitMs);
    await hasStatus;
    await turn();
    t.mock.timers.tick(limitMs);
    assert.equal(await status, 202);
  } finally {
    unsubscribe('http.client.response.finish', onResponse);
  }
});

test('a broken connection is reported by its code', async () => {
  await using receiver = await newReceiver();
  receiver.answer = (_, response) => void response.socket?.resetAndDestroy();
  await assert.rejects(send(receiver.url), { code: 'ECONNRESET' });
  const { url } = receiver;
  await receiver[Symbol.asyncDispose]();
  await assert.rejects(send(url), { code: 'ECONNREFUSED' });
});

test('a proxy in the environment is not used', { tags: ['asvs:13.2.4'] }, async () => {
  await using proxy = await newReceiver();
  await using receiver = await newReceiver();
  const from = (file: string): string => JSON.stringify(new URL(`../${file}`, import.meta.url).href);
  const program = `
    const { AddressGuard } = await import(${from('address-guard.ts')});
    const { post } = await import(${from('guarded-request.ts')});
    const guard = new AddressGuard([{ kind: 'network', cidr: '127.0.0.0/8' }]);
    const url = new URL(process.argv[1]);
    // The global agent uses the proxy, which shows that the test can fail.
    const { get } = await import('node:http');
    await new Promise((resolve) => get('http://proxied.test/', resolve).on('error', resolve));
    process.stdout.write(String(await post(guard, { url, headers: {}, body: '{}' }, 60_000)));`;
  const through = new URL(proxy.url).origin;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, receiver.url], {
    env: { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: through, HTTPS_PROXY: through },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
  await once(child, 'close');
  assert.equal(printed, '204');
  assert.deepEqual(
    proxy.received.map(({ path }) => path),
    ['http://proxied.test/'],
  );
  assert.equal(receiver.received.length, 1);
});

test('a GET request returns the complete body of a 200 response, and fails for any other response', async () => {
  await using receiver = await newReceiver();
  const guard = guardFor('keys.test', receiver.port, () => Promise.resolve(['127.0.0.1']));
  const url = new URL(`http://keys.test:${receiver.port}/meta`);
  const bytesMax = 1_000;
  const fetched = (): Promise<Buffer> => get(guard, url, { msMax: programMsMax, bytesMax });
  receiver.answer = (_, response) => void response.end('x'.repeat(bytesMax));
  assert.equal((await fetched()).toString(), 'x'.repeat(bytesMax));
  const [{ method, path, headers: sent, body: text }] = receiver.received as [Receiver['received'][number]];
  assert.deepEqual([method, path, text], ['GET', '/meta', '']);
  assert.deepEqual(
    { ...sent },
    { host: url.host, accept: 'application/json', 'user-agent': 'Keyreeve', connection: 'close' },
  );
  receiver.answer = (_, response) => void response.end('x'.repeat(bytesMax + 1));
  await assert.rejects(fetched(), /not complete within 1000 bytes/);
  receiver.answer = (_, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('x');
    response.destroy();
  };
  await assert.rejects(fetched());
  for (const status of [204, 301, 404, 500]) {
    receiver.answer = (_, response) => void response.writeHead(status, { location: url.href }).end();
    await assert.rejects(fetched(), new RegExp(`it answered ${status}`));
  }
  const inside = new AddressGuard([], () => Promise.resolve(['127.0.0.1']));
  const outside = new URL('https://keys.example/');
  await assert.rejects(get(inside, outside, { msMax: programMsMax, bytesMax }), RefusedTarget);
});
