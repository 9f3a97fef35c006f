/**
 * Responses and streams through the configurations in `docs/forward-auth/` during a long silence, with real proxies and real
 * time: longer than the default limits that count in seconds (Envoy 15 s, HAProxy 30 s in many examples, nginx and Traefik 60 s).
 * PROXY_SILENCE_SECONDS=600 waits 10 minutes, which would occupy a process of the extended lane for half of its time. proxy-time-limits.test.ts checks the limits of nginx and Envoy without waiting.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../test-kit/free-port.ts';
import { awaited } from '../../test-kit/until.ts';
import { startKeyreeve } from './forward-auth-server.ts';
import { openSocket } from './proxy-client.ts';
import { grpcPortOf, openStream, startGrpcBackend, withGrpc } from './proxy-grpc.ts';
import { proxies } from './proxy-programs.ts';
import { runChecks } from './proxy-run.ts';
import { bearer, type ProxySetup } from './proxy-setup.ts';
import { startedOnce } from './shared-keyreeve.ts';
import { receive } from './proxy-streams.ts';

const silenceSeconds = Number(process.env['PROXY_SILENCE_SECONDS'] ?? 65);
/** The steady upload sends a byte this often. */
const paceSeconds = 5;

// oxlint-disable-next-line keyreeve/no-test-bounds -- the duration of the silence is the guarantee, and no event ends it
const pass = (seconds: number): Promise<void> => setTimeout(seconds * 1_000);

type Answers = Readonly<Record<string, (res: ServerResponse, req: IncomingMessage) => Promise<void>>>;

/** @param silence ends when the silence ends */
const answersAfter = (silence: Promise<void>): Answers => ({
  '/late': async (res) => {
    await silence;
    res.end('late');
  },
  '/events': async (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    await silence;
    res.end('data: 2\n\n');
  },
  '/download': async (res) => {
    res.writeHead(200, { 'content-length': 2_000_000 }).write(Buffer.alloc(1_000_000, '1'));
    await silence;
    res.end(Buffer.alloc(1_000_000, '2'));
  },
  '/upload': async (res, req) => {
    let bytes = 0;
    req.on('data', (chunk: Buffer) => (bytes += chunk.length));
    await once(req, 'end');
    res.end(String(bytes));
  },
});

/** Sends a byte every few seconds. @returns the response of the backend */
async function upload(setup: ProxySetup, bytes: number): Promise<string> {
  const { hostname: host, port } = new URL(setup.url);
  const [name, value] = bearer(setup.keyreeve.key.key);
  const req = request({ host, port, path: '/upload', method: 'POST', headers: { [name]: value }, agent: false });
  const answered = once(req, 'response') as Promise<[IncomingMessage]>;
  answered.catch(() => undefined);
  for (let at = 0; at < bytes; at += 1) {
    req.write('x');
    await pass(paceSeconds);
  }
  req.end();
  const [response] = await awaited('the backend answers the upload', answered);
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return body;
}

const start = startedOnce(() => startKeyreeve());

void describe('silence behind the configurations in docs/forward-auth', { concurrency: true }, () => {
  for (const proxy of proxies) {
    void test(`${proxy.name} ends no response and no stream during a silence of ${silenceSeconds} s`, async (t) => {
      await using grpc = await startGrpcBackend();
      const ports = { backend: grpc.port, nginx: await freePort() };
      const check = async (setup: ProxySetup): Promise<void> => {
        const silence = Promise.withResolvers<void>();
        const answers = answersAfter(silence.promise);
        setup.backend.respondWith((req, res) => {
          // The client reports a request that the proxy has ended.
          answers[req.url ?? '']?.(res, req).catch(() => undefined);
        });
        const credential = [bearer(setup.keyreeve.key.key)];
        const events = await receive(setup.url, credential, '/events');
        const download = await receive(setup.url, credential, '/download');
        const socket = await openSocket(Number(new URL(setup.url).port), '/ws', credential);
        assert.ok(typeof socket === 'object');
        using echoing = socket;
        using stream = await openStream(grpcPortOf(setup, ports), credential);
        await events.has('data: 1');
        await download.has('1'.repeat(1_000_000));
        assert.equal(await echoing.echo('before'), 'before');
        await stream.echo('before');
        const late = receive(setup.url, credential, '/late');
        const bytes = Math.ceil(silenceSeconds / paceSeconds);
        const uploaded = upload(setup, bytes);
        // They are awaited after the silence.
        for (const pending of [late, uploaded]) pending.catch(() => undefined);
        await pass(silenceSeconds);
        silence.resolve();
        const response = await awaited('the late response arrives', late);
        assert.deepEqual([response.status, await response.whole()], [200, 'late']);
        assert.equal(await events.whole(), 'data: 1\n\ndata: 2\n\n');
        assert.equal((await download.whole()).length, 2_000_000);
        assert.equal(await echoing.echo('after'), 'after');
        await stream.echo('after');
        assert.equal(await stream.finish(), '0');
        assert.equal(await uploaded, String(bytes));
      };
      await runChecks(t, { ...proxy, edit: withGrpc(ports) }, await start(), { 'no limit ends them': check });
    });
  }
});
