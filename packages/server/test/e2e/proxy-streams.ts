/** Guarantees of each configuration in `docs/forward-auth/` for responses that the backend sends in pieces, and for connections. */
import assert from 'node:assert/strict';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { awaited } from '../../test-kit/until.ts';
import { bearer, type ProxySetup } from './proxy-setup.ts';

/** A response that is being received. */
export interface Received {
  readonly status: number;
  /** @returns when this text has arrived, counted from the start of the body */
  has(text: string): Promise<void>;
  /** @returns the whole body, at its end */
  whole(): Promise<string>;
}

/** Sends a GET. @throws if the connection ends before the headers of the response */
export async function receive(
  url: string,
  headers: readonly (readonly [string, string])[],
  path = '/',
): Promise<Received> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const { hostname: host, port } = new URL(url);
    const lines = [['Host', `${host}:${port}`] as const, ...headers].flat();
    request({ host, port, path, headers: lines, agent: false }, resolve).on('error', reject).end();
  });
  let body = '';
  let changed = Promise.withResolvers<void>();
  const ended = new Promise<void>((resolve, reject) => {
    response.on('end', resolve).on('error', reject);
  });
  // `has` reports it.
  ended.catch(() => undefined);
  response.setEncoding('utf8').on('data', (chunk: string) => {
    body += chunk;
    changed.resolve();
    changed = Promise.withResolvers<void>();
  });
  const early = async (text: string): Promise<never> => {
    await ended;
    throw new Error(`the response has ended without “${text}”: “${body}”`);
  };
  return {
    status: response.statusCode ?? 0,
    has: (text) =>
      awaited(`the client receives “${text}”`, async () => {
        while (!body.includes(text)) await Promise.race([changed.promise, early(text)]);
      }),
    whole: async () => {
      await ended;
      return body;
    },
  };
}

/** How a backend can announce the length of its body. */
const kinds: Readonly<Record<string, OutgoingHttpHeaders>> = {
  'server-sent events': { 'content-type': 'text/event-stream' },
  'a body of unknown length': { 'content-type': 'application/octet-stream' },
  'a body that ends with the connection': { connection: 'close' },
  'a body of known length': { 'content-length': 'one two three'.length },
};

/** Clients that send requests at once. */
const clients = 32;
const requestsOfEach = 20;

export const guaranteesOfStreams: Record<string, (setup: ProxySetup) => Promise<void>> = {
  'each piece of a response reaches the client before the backend sends the next one': async (setup) => {
    for (const [kind, headers] of Object.entries(kinds)) {
      const started = Promise.withResolvers<(piece: string, isLast?: boolean) => void>();
      setup.backend.respondWith((_req, res) => {
        if (headers['connection']) res.removeHeader('transfer-encoding');
        res.writeHead(200, headers);
        started.resolve((piece, isLast = false) => void (isLast ? res.end(piece) : res.write(piece)));
        // The status and the headers, too.
        res.flushHeaders();
      });
      try {
        const receiving = receive(setup.url, [bearer(setup.keyreeve.key.key)]);
        const send = await awaited(`the backend receives the request for ${kind}`, started.promise);
        send('one ');
        const received = await awaited(`the client receives the headers of ${kind}`, receiving);
        assert.equal(received.status, 200, kind);
        await received.has('one ');
        send('two ');
        await received.has('two ');
        send('three', true);
        assert.equal(await received.whole(), 'one two three', kind);
      } finally {
        setup.backend.respondWith(undefined);
      }
    }
  },

  'connections to Keyreeve are kept while 32 clients send requests, accepted and rejected ones': async (setup) => {
    if (setup.proxy.opensConnections) return;
    const before = setup.tap.connections();
    const sendAll = async (): Promise<void> => {
      for (let at = 0; at < requestsOfEach; at += 1) {
        const isWrong = at % 4 === 0;
        const { status } = await setup.send({ headers: [bearer(isWrong ? 'nonsense' : setup.keyreeve.key.key)] });
        assert.equal(status, isWrong ? 401 : 200);
      }
    };
    await Promise.all(Array.from({ length: clients }, sendAll));
    setup.backend.takeRequests();
    const opened = setup.tap.connections() - before;
    // nginx and Envoy keep the connections of two workers apart; a proxy that keeps 2 opens about 500.
    assert.ok(opened <= clients * 4, `${opened} connections for ${clients * requestsOfEach} requests`);
  },
};
