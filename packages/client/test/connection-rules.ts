/** Rules about connections and requests, on a server that answers byte by byte. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import {
  responseOf,
  startRawServer,
  type RecordedRequest,
  type ReplayServer,
} from '../../conformance/replay-server.ts';
import { awaited, until } from '../../server/test-kit/until.ts';
import type { Client } from '../src/client.ts';
import { nameOf, questionsOf, settled } from './held-transport.ts';
import type { Library } from './library.ts';
import { ManualTimers } from './manual-timers.ts';
import { isUnavailable, many, serviceKey, type Rule } from './rule.ts';

const questionsIn = ({ body }: RecordedRequest) => questionsOf(body);
const respond = (request: RecordedRequest, socket: Socket): boolean =>
  socket.write(responseOf({ results: questionsIn(request).map(nameOf) }));
/** A client on sockets, whose deadlines never pass. */
const connected = ({ Client, openNodeTransport }: Library, { url }: ReplayServer): Client =>
  new Client({ url, serviceKey }, openNodeTransport, new ManualTimers());

const overFetch = ({ Client, openFetchTransport }: Library, { url }: ReplayServer): Client =>
  new Client({ url, serviceKey }, openFetchTransport, new ManualTimers());

export const connectionRules: readonly Rule[] = [
  {
    name: 'batches one after the other use one connection, and two in flight use two',
    async check(library) {
      const holds: (() => void)[] = [];
      let isHeld = false;
      await using server = await startRawServer((request, socket) => {
        if (isHeld) holds.push(() => void respond(request, socket));
        else respond(request, socket);
      });
      const client = connected(library, server);
      for (let count = 1; count <= 3; count++) await client.verify('a', { cost: 0 });
      assert.deepEqual([server.requests.length, server.connections], [3, 1]);
      isHeld = true;
      const verified = Promise.all(many(600, (index) => client.verify(`key ${index}`)));
      await until('two batches have arrived', () => holds.length === 2);
      isHeld = false;
      for (const answer of holds) answer();
      assert.equal((await verified).length, 600);
      assert.deepEqual([server.requests.length, server.connections], [6, 2]);
      client.close();
    },
  },
  {
    name: 'close ends idle connections, and no verification in flight',
    async check(library) {
      const answers: (() => void)[] = [];
      const closed: number[] = [];
      await using server = await startRawServer((request, socket, count) => {
        socket.on('close', () => closed.push(count));
        answers.push(() => void respond(request, socket));
      });
      const client = connected(library, server);
      const verified: Promise<unknown>[] = [];
      for (const name of ['in flight', 'idle']) {
        verified.push(client.verify(name));
        await until('the question has arrived', () => answers.length === verified.length);
      }
      answers[1]?.();
      await verified[1];
      // The connection is idle in the next turn.
      await settled();
      client.close();
      const settling = Promise.allSettled(verified);
      await until('the idle connection has ended', () => closed.includes(2));
      answers[0]?.();
      const [inFlight] = await settling;
      assert.deepEqual(inFlight, { status: 'fulfilled', value: nameOf({ credential: 'in flight' }) });
      client.close();
    },
  },
  {
    name: 'free questions are repeated once, on a new connection, if no byte of a response has arrived',
    async check(library) {
      await using server = await startRawServer((request, socket, count) => {
        if (count === 2) socket.destroy();
        else respond(request, socket);
      });
      const client = connected(library, server);
      await client.verify('opens a connection');
      const [free, costly] = await Promise.allSettled([client.verify('a', { cost: 0 }), client.verify('b')]);
      assert.equal(free.status, 'fulfilled');
      assert.ok(costly.status === 'rejected' && isUnavailable(library)(costly.reason), costly.status);
      assert.deepEqual(server.requests.slice(1).map(questionsIn), [
        [{ credential: 'a', cost: 0 }, { credential: 'b' }],
        [{ credential: 'a', cost: 0 }],
      ]);
      assert.equal(server.connections, 2);
    },
  },
  {
    name: 'a repeated question uses no connection that was open before',
    async check(library) {
      let answerFirst: (() => void) | undefined;
      await using server = await startRawServer((request, socket, count) => {
        // The first two answers come together, so two connections stay open.
        if (count === 1) answerFirst = () => void respond(request, socket);
        else if (count === 3) socket.destroy();
        else respond(request, socket);
        if (count === 2) answerFirst?.();
      });
      const client = connected(library, server);
      const first = client.verify('a');
      await until('a request has arrived', () => server.requests.length > 0);
      await Promise.all([first, client.verify('b')]);
      assert.equal(server.connections, 2);
      await client.verify('c', { cost: 0 });
      assert.deepEqual([server.connections, server.requests.length], [3, 4]);
      client.close();
    },
  },
  {
    name: 'a free question is repeated once only',
    async check(library) {
      await using server = await startRawServer((_, socket) => socket.destroy());
      await assert.rejects(connected(library, server).verify('a', { cost: 0 }), isUnavailable(library));
      assert.equal(server.requests.length, 2);
    },
  },
  ...(
    [
      ['one byte', 'H'],
      ['half of the headers', 'HTTP/1.1 200 OK\r\n'],
      ['half of the body', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"results":['],
    ] as const
  ).map(([what, bytes]) => ({
    name: `a free question is not repeated after ${what} of a response`,
    async check(library: Library) {
      await using server = await startRawServer((_, socket) => socket.write(bytes, () => socket.destroySoon()));
      await assert.rejects(connected(library, server).verify('a', { cost: 0 }), isUnavailable(library));
      assert.equal(server.requests.length, 1);
    },
  })),
  {
    name: 'fetch does not tell whether a byte has arrived, so no question is repeated',
    async check(library) {
      await using server = await startRawServer((_, socket) => socket.destroy());
      await assert.rejects(overFetch(library, server).verify('a', { cost: 0 }), isUnavailable(library));
      assert.equal(server.requests.length, 1);
    },
  },
  ...(['openNodeTransport', 'openFetchTransport'] as const).map((open) => ({
    name: `a request without callers ends on the network (${open})`,
    async check(library: Library) {
      const closed: Promise<unknown>[] = [];
      await using server = await startRawServer((_, socket) => closed.push(once(socket, 'close')));
      const timers = new ManualTimers();
      const client = new library.Client({ url: server.url, serviceKey }, library[open], timers);
      const verified = client.verify('a', { cost: 0 });
      await until('the request has arrived', () => closed.length > 0);
      timers.move(3_000);
      await assert.rejects(verified, isUnavailable(library));
      await awaited('the request ends', Promise.all(closed));
      assert.equal(server.requests.length, 1);
    },
  })),
  {
    name: 'a batch has less bytes than the service accepts',
    async check(library) {
      await using server = await startRawServer((request, socket) =>
        socket.write(responseOf({ results: questionsIn(request).map(() => nameOf({ credential: 'a' })) })),
      );
      const client = connected(library, server);
      const scopes = many(32, (index) => `${index}`.padEnd(64, 'x'));
      await Promise.all(many(256, (index) => client.verify('\u0001'.repeat(4_000) + index, { scopes })));
      assert.equal(server.requests.flatMap(questionsIn).length, 256);
      for (const { body } of server.requests) assert.ok(Buffer.byteLength(body) <= 1_050_688, `${body.length}`);
      client.close();
    },
  },
  ...([connected, overFetch] as const).map((open) => ({
    name: `a redirect is not followed, and its content is not read (${open === connected ? 'node' : 'fetch'})`,
    async check(library: Library) {
      const accepted = { results: [nameOf({ credential: 'a' })] };
      await using target = await startRawServer((_, socket) => socket.write(responseOf(accepted)));
      for (const status of [301, 302, 303, 307, 308]) {
        const headers = [['Location', `${target.url}/auth/verify/batch`]] as const;
        const response = responseOf({ status, headers, body: accepted });
        await using server = await startRawServer((_, socket) => socket.write(response));
        await assert.rejects(open(library, server).verify('a', { cost: 0 }), isUnavailable(library));
      }
      assert.equal(target.requests.length, 0);
    },
  })),
];
