/** gRPC through the configurations in `docs/forward-auth/` with their lines for it: streams, identity and rejections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type ClientHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { freePort } from '../../test-kit/free-port.ts';
import { awaited } from '../../test-kit/until.ts';
import { pairs, values } from './proxy-client.ts';
import { claims } from './proxy-guarantees.ts';
import type { BackendRequest, ForwardAuthServer } from './proxy-kit.ts';
import type { TestedProxy } from './proxy-programs.ts';
import { runChecks, type Checks } from './proxy-run.ts';
import { apiKey, bearer, identity, identityOfKey, identityOfToken, type ProxySetup } from './proxy-setup.ts';

export interface GrpcBackend extends AsyncDisposable {
  readonly port: number;
  /** @returns the requests since the last call */
  takeRequests(): BackendRequest[];
}

/** Records requests, and returns each message of a stream at once. Accepts only HTTP/2 without TLS. */
export async function startGrpcBackend(): Promise<GrpcBackend> {
  let reached: BackendRequest[] = [];
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session)).on('error', () => session.destroy());
  });
  server.on('stream', (stream: ServerHttp2Stream, headers, _flags, rawHeaders: string[]) => {
    const { ':method': method = '', ':path': url = '' } = headers;
    reached.push({ method, url, headers: pairs(rawHeaders), trailers: [], bodyBytes: 0, bodySha256: '' });
    stream.on('error', () => undefined);
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
    stream.pipe(stream);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    takeRequests: () => {
      const all = reached;
      reached = [];
      return all;
    },
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface GrpcPorts {
  readonly backend: number;
  /** Where nginx accepts HTTP/2; the others accept it on the port for HTTP/1.1. */
  readonly nginx: number;
}

/** @returns the file with its lines for gRPC */
export const withGrpc =
  ({ backend, nginx }: GrpcPorts) =>
  (text: string): string =>
    text
      .split('\n')
      .map((line) =>
        line.includes('#:')
          ? line.replace(/#: ?/, '').replace('9000', String(backend)).replace('8081', String(nginx))
          : line,
      )
      .join('\n');

export interface GrpcStream extends Disposable {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Sends a message. @returns when it has come back */
  echo(message: string): Promise<void>;
  /** Ends the stream. @returns the status in the trailers */
  finish(): Promise<string | undefined>;
}

/** Opens a stream of a gRPC method, and waits for the headers of the response. */
export async function openStream(
  port: number,
  headers: readonly (readonly [string, string])[],
  path = '/example.v1.Orders/Watch',
): Promise<GrpcStream> {
  const session: ClientHttp2Session = connect(`http://127.0.0.1:${port}`);
  const grouped = Map.groupBy(headers, ([name]) => name.toLowerCase());
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...Object.fromEntries([...grouped].map(([name, lines]) => [name, lines.map(([, value]) => value)])),
  });
  const failed = new Promise<never>((_resolve, reject) => {
    session.on('error', reject);
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('the stream was closed')));
  });
  failed.catch(() => undefined);
  let trailers: Record<string, unknown> = {};
  stream.on('trailers', (received: Record<string, unknown>) => (trailers = received));
  const [response, , raw] = (await awaited('the client receives the headers of the stream', () =>
    Promise.race([once(stream, 'response'), failed]),
  )) as [Record<string, unknown>, number, string[]];
  let body = '';
  let changed = Promise.withResolvers<void>();
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    body += chunk;
    changed.resolve();
    changed = Promise.withResolvers<void>();
  });
  return {
    status: Number(response[':status']),
    headers: pairs(raw),
    echo: async (message) => {
      stream.write(message);
      await awaited(`“${message}” comes back`, async () => {
        while (!body.includes(message)) await Promise.race([changed.promise, failed]);
      });
    },
    finish: async () => {
      const ended = once(stream, 'end');
      stream.end();
      await awaited('the stream ends', () => Promise.race([ended, failed]));
      return trailers['grpc-status'] as string | undefined;
    },
    [Symbol.dispose]: () => session.destroy(),
  };
}

/** HTTP/2 has no header Connection (RFC 9113 section 8.2.2). */
const claimsOfHttp2 = Object.entries(claims).filter(([, headers]) => !headers.some(([name]) => name === 'Connection'));

const grpcChecks = (backend: GrpcBackend, portOf: (setup: ProxySetup) => number): Checks => ({
  'a gRPC stream carries messages both ways, and its trailers reach the client': async (setup) => {
    using stream = await openStream(portOf(setup), [bearer(setup.keyreeve.key.key)]);
    assert.equal(stream.status, 200);
    await stream.echo('one');
    await stream.echo('two');
    assert.equal(await stream.finish(), '0');
  },

  'a gRPC backend receives the identity from Keyreeve only, and no credential': async (setup) => {
    const { keyreeve } = setup;
    backend.takeRequests();
    for (const [how, headers] of [['without a claim', []] as const, ...claimsOfHttp2]) {
      for (const [credential, wanted] of [
        [bearer(keyreeve.accessToken), identityOfToken(keyreeve)],
        [apiKey(keyreeve.ordersKey.key), identityOfKey(keyreeve, keyreeve.ordersKey, 'orders:read')],
      ] as const) {
        using stream = await openStream(portOf(setup), [...headers, credential]);
        assert.equal(stream.status, 200, how);
        const [reached, ...more] = backend.takeRequests();
        assert.ok(reached && more.length === 0, how);
        assert.deepEqual(identity(reached), wanted, how);
        assert.ok(!JSON.stringify(reached).includes(credential[1]), how);
      }
    }
  },

  'a gRPC stream without a valid credential or without the scope of its path is rejected': async (setup) => {
    const { key } = setup.keyreeve.key;
    backend.takeRequests();
    const cases = [
      [[], '/example.v1.Orders/Watch', 401],
      [[bearer('nonsense')], '/example.v1.Orders/Watch', 401],
      [[bearer(key), apiKey(key)], '/example.v1.Orders/Watch', 401],
      // In the file of nginx, this path is in no location for gRPC.
      ...(setup.proxy.hasRuleByPath && setup.proxy.name !== 'nginx'
        ? [[[bearer(key)], '/orders/Watch', 403] as const]
        : []),
    ] as const;
    for (const [headers, path, status] of cases) {
      using stream = await openStream(portOf(setup), headers, path);
      // Envoy answers gRPC clients with the code UNAUTHENTICATED.
      const found = [stream.status, values(stream.headers, 'grpc-status').join()];
      assert.deepEqual(found, setup.proxy.name === 'Envoy' ? [200, '16'] : [status, '']);
      assert.equal(values(stream.headers, 'www-authenticate').length, 1);
    }
    assert.deepEqual([...backend.takeRequests(), ...setup.backend.takeRequests()], []);
  },
});

/** The port of the proxy that accepts HTTP/2. */
export const grpcPortOf = ({ proxy, url }: ProxySetup, { nginx }: GrpcPorts): number =>
  proxy.name === 'nginx' ? nginx : Number(new URL(url).port);

export function checkGrpc(proxies: readonly TestedProxy[], keyreeve: () => Promise<ForwardAuthServer>): void {
  void describe('gRPC with the configurations in docs/forward-auth', { concurrency: true }, () => {
    for (const proxy of proxies) {
      void test(`${proxy.name} with its lines for gRPC`, async (t) => {
        await using backend = await startGrpcBackend();
        const ports = { backend: backend.port, nginx: await freePort() };
        const checks = grpcChecks(backend, (setup) => grpcPortOf(setup, ports));
        await runChecks(t, { ...proxy, edit: withGrpc(ports) }, await keyreeve(), checks);
      });
    }
  });
}
