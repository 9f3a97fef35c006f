/** The rules that keep the client strict, on a server that answers byte by byte. Decision 40 lists them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import { responseOf, startRawServer, type RecordedRequest } from '../../conformance/replay-server.ts';
import { until } from '../../server/test-kit/until.ts';
import { Keyreeve as FetchKeyreeve } from '../src/fetch.ts';
import { Keyreeve, KeyreeveUnavailable } from '../src/node.ts';
import { isIpAddress } from '../src/question.ts';

interface Question {
  readonly credential: string;
  readonly cost?: number;
}

const serviceKey = 'krv_service';
const waitMsMax = 5_000;
const questionsOf = ({ body }: RecordedRequest): Question[] =>
  (JSON.parse(body) as { questions: Question[] }).questions;
const nameOf = (question: Question): object => ({ valid: true, type: 'api_key', accountId: question.credential });
const respond = (request: RecordedRequest, socket: Socket): boolean =>
  socket.write(responseOf({ results: questionsOf(request).map(nameOf) }));

/** A server that holds its answers until the test gives them. */
async function heldServer() {
  const held: (() => void)[] = [];
  let holds = true;
  const server = await startRawServer((request, socket) => {
    if (holds) held.push(() => void respond(request, socket));
    else respond(request, socket);
  });
  const arrived = (count: number): Promise<void> =>
    until(`${count} requests`, waitMsMax, () => server.requests.length >= count);
  return {
    server,
    client: new Keyreeve({ url: server.url, serviceKey }),
    /** Waits for requests. */
    arrived,
    /** Answers a request, counted from 0. */
    answer: (index: number): void => held[index]?.(),
    /** Answers all requests, and later ones when they arrive. */
    answerAll: (): void => {
      holds = false;
      for (const answer of held) answer();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const isUnavailable = (error: unknown): boolean => error instanceof KeyreeveUnavailable && error.code === 'unavailable';
const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

suite('the client is strict', { concurrency: true }, () => {
  test('a question does not join a batch that has been sent, even one with an equal question', async () => {
    await using at = await heldServer();
    const first = at.client.verify('a', { cost: 0 });
    await at.arrived(1);
    const second = at.client.verify('a', { cost: 0 });
    await at.arrived(2);
    at.answer(0);
    at.answer(1);
    await Promise.all([first, second]);
    assert.deepEqual(
      at.server.requests.map(questionsOf),
      many(2, () => [{ credential: 'a', cost: 0 }]),
    );
  });

  test('a question after an answer is asked again', async () => {
    await using server = await startRawServer(respond);
    const client = new Keyreeve({ url: server.url, serviceKey });
    for (let count = 1; count <= 3; count++) {
      await client.verify('a', { cost: 0 });
      assert.equal(server.requests.length, count);
    }
    assert.equal(server.connections, 1);
  });

  test('equal questions share an entry of an unsent batch, with equal options and cost 0 only', async () => {
    await using server = await startRawServer(respond);
    const client = new Keyreeve({ url: server.url, serviceKey });
    const options = [{ cost: 0 }, { cost: 0 }, { cost: 0, scopes: ['a'] }, {}, {}, { cost: 1 }, { cost: 1 }];
    const results = await Promise.all(options.map((option) => client.verify('a', option)));
    assert.deepEqual(
      results,
      many(options.length, () => ({ valid: true, type: 'api_key', accountId: 'a' })),
    );
    // A caller that changes its result changes no other one.
    assert.equal(new Set(results).size, options.length);
    const asked = [{ cost: 0 }, { scopes: ['a'], cost: 0 }, {}, {}, { cost: 1 }, { cost: 1 }];
    assert.deepEqual(server.requests.map(questionsOf), [asked.map((option) => ({ credential: 'a', ...option }))]);
  });

  test('free questions are repeated once, on a new connection, if no byte of a response has arrived', async () => {
    await using server = await startRawServer((request, socket, count) => {
      if (count === 2) socket.destroy();
      else respond(request, socket);
    });
    const client = new Keyreeve({ url: server.url, serviceKey });
    await client.verify('opens a connection');
    const [free, costly] = await Promise.allSettled([client.verify('a', { cost: 0 }), client.verify('b')]);
    assert.equal(free.status, 'fulfilled');
    assert.ok(costly.status === 'rejected' && isUnavailable(costly.reason));
    assert.deepEqual(server.requests.slice(1).map(questionsOf), [
      [{ credential: 'a', cost: 0 }, { credential: 'b' }],
      [{ credential: 'a', cost: 0 }],
    ]);
    assert.equal(server.connections, 2);
  });

  test('a repeated question uses no connection that was open before', async () => {
    let answerFirst: (() => void) | undefined;
    await using server = await startRawServer((request, socket, count) => {
      // The first two answers come together, so two connections stay open.
      if (count === 1) answerFirst = () => void respond(request, socket);
      else if (count === 3) socket.destroy();
      else respond(request, socket);
      if (count === 2) answerFirst?.();
    });
    const client = new Keyreeve({ url: server.url, serviceKey });
    const first = client.verify('a');
    await until('a request', waitMsMax, () => server.requests.length > 0);
    await Promise.all([first, client.verify('b')]);
    assert.equal(server.connections, 2);
    await client.verify('c', { cost: 0 });
    assert.deepEqual([server.connections, server.requests.length], [3, 4]);
  });

  test('a free question is repeated once only', async () => {
    await using server = await startRawServer((_, socket) => socket.destroy());
    const client = new Keyreeve({ url: server.url, serviceKey });
    await assert.rejects(client.verify('a', { cost: 0 }), isUnavailable);
    assert.equal(server.requests.length, 2);
  });

  for (const [what, bytes] of [
    ['one byte', 'H'],
    ['half of the headers', 'HTTP/1.1 200 OK\r\n'],
    ['half of the body', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"results":['],
  ] as const)
    test(`a free question is not repeated after ${what} of a response`, async () => {
      await using server = await startRawServer((_, socket) => socket.write(bytes, () => socket.destroySoon()));
      const client = new Keyreeve({ url: server.url, serviceKey });
      await assert.rejects(client.verify('a', { cost: 0 }), isUnavailable);
      assert.equal(server.requests.length, 1);
    });

  test('fetch does not tell whether a byte has arrived, so no question is repeated', async () => {
    await using server = await startRawServer((_, socket) => socket.destroy());
    const client = new FetchKeyreeve({ url: server.url, serviceKey });
    await assert.rejects(client.verify('a', { cost: 0 }), isUnavailable);
    assert.equal(server.requests.length, 1);
  });

  test('after 3 s without a result a verification is unavailable, and a request without callers ends', async () => {
    const closed: Promise<unknown>[] = [];
    await using server = await startRawServer((_, socket) => closed.push(once(socket, 'close')));
    const client = new Keyreeve({ url: server.url, serviceKey });
    const started = performance.now();
    await assert.rejects(client.verify('a', { cost: 0 }), isUnavailable);
    const seconds = (performance.now() - started) / 1_000;
    assert.ok(seconds > 2.9 && seconds < 10, `${seconds} s`);
    assert.equal(server.requests.length, 1);
    let isClosed = false;
    void closed[0]?.then(() => (isClosed = true));
    await until('the request ends', waitMsMax, () => isClosed);
  });

  test('an answer with another number of results than questions is no answer', async () => {
    for (const more of [-1, 1]) {
      await using server = await startRawServer((request, socket) => {
        const results = [...questionsOf(request), { credential: 'more' }].map(nameOf);
        socket.write(responseOf({ results: more > 0 ? results : results.slice(0, -2) }));
      });
      const client = new Keyreeve({ url: server.url, serviceKey });
      const verified = await Promise.allSettled([client.verify('a'), client.verify('b')]);
      for (const one of verified) assert.ok(one.status === 'rejected' && isUnavailable(one.reason));
    }
  });

  test('text that cannot be a credential is refused without a request, by its length only', async () => {
    await using server = await startRawServer(respond);
    const client = new Keyreeve({ url: server.url, serviceKey });
    for (const text of ['', 'k'.repeat(4_097), 'é'.repeat(2_049), '語'.repeat(1_366)])
      assert.deepEqual(await client.verify(text), { valid: false, code: 'malformed' });
    assert.equal(server.requests.length, 0);
    for (const text of ['k'.repeat(4_096), 'é'.repeat(2_048), 'sk-other', 'a,b c', ' ', '\ud800'])
      assert.equal((await client.verify(text)).valid, true);
  });

  test('plain HTTP is allowed to loopback only', () => {
    const open = (url: string, allowPlainHttp?: boolean) => new Keyreeve({ url, serviceKey, allowPlainHttp });
    const allowed = [
      'https://auth.example.com',
      'http://localhost:1',
      'http://127.0.0.1',
      'http://127.9.9.9',
      'http://[::1]:1/x',
    ];
    for (const url of allowed) assert.doesNotThrow(() => open(url), url);
    for (const url of [
      'http://auth.example.com',
      'http://127.0.0.1.example.com',
      'http://localhost.example.com',
      'http://10.0.0.1',
      'http://[::2]',
    ]) {
      assert.throws(() => open(url), { name: 'TypeError', message: /plain HTTP is allowed to loopback only/ }, url);
      assert.doesNotThrow(() => open(url, true), url);
    }
    for (const url of [
      '',
      'auth.example.com',
      'ftp://localhost',
      'https://a:b@localhost',
      'https://a/?b',
      'https://a/#b',
    ])
      assert.throws(() => open(url), { name: 'TypeError', message: /expected the URL of Keyreeve/ }, url);
    assert.throws(() => new Keyreeve({ url: 'https://a', serviceKey: 'a\nb' }), /expected an API key/);
  });

  for (const Client of [Keyreeve, FetchKeyreeve])
    test(`a redirect is not followed, and its content is not read (${Client === Keyreeve ? 'node' : 'fetch'})`, async () => {
      await using target = await startRawServer(respond);
      for (const status of [301, 302, 303, 307, 308]) {
        const headers = [['Location', `${target.url}/auth/verify/batch`]] as const;
        const body = { results: [nameOf({ credential: 'a' })] };
        await using server = await startRawServer((_, socket) => socket.write(responseOf({ status, headers, body })));
        await assert.rejects(new Client({ url: server.url, serviceKey }).verify('a', { cost: 0 }), isUnavailable);
      }
      assert.equal(target.requests.length, 0);
    });

  test('options that the service rejects are an error of the caller, and no question', async () => {
    await using server = await startRawServer(respond);
    const client = new Keyreeve({ url: server.url, serviceKey });
    const wrong: [object, RegExp][] = [
      [{ scopes: many(33, String) }, /^scopes/],
      [{ scopes: ['a b'] }, /^scopes/],
      [{ scopes: [''] }, /^scopes/],
      [{ scopes: ['a'.repeat(65)] }, /^scopes/],
      [{ environments: [] }, /^environments/],
      [{ environments: ['Live'] }, /^environments/],
      [{ address: '127.0.0.1:80' }, /^address/],
      [{ address: '' }, /^address/],
      ...[-1, 0.5, 10_001, NaN].map((cost): [object, RegExp] => [{ cost }, /^cost/]),
    ];
    for (const [options, message] of wrong)
      await assert.rejects(client.verify('a', options), { name: 'TypeError', message }, JSON.stringify(options));
    assert.equal(server.requests.length, 0);
  });
});

// One after the other: beside each other on a busy machine, they would exceed the deadline.
suite('the client bounds its batches', () => {
  test('at most two batches of 256 questions are in flight; the results go to their questions', async () => {
    await using at = await heldServer();
    const names = many(1_000, (index) => `key ${index}`);
    const verified = Promise.all(names.map((name) => at.client.verify(name)));
    await at.arrived(2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(
      at.server.requests.map((request) => questionsOf(request).length),
      [256, 256],
    );
    at.answer(1);
    await at.arrived(3);
    assert.equal(at.server.requests.length, 3);
    for (const index of [0, 2]) at.answer(index);
    await at.arrived(4);
    at.answer(3);
    assert.deepEqual(
      (await verified).map((result) => result.valid && result.accountId),
      names,
    );
    assert.equal(at.server.connections, 2);
  });

  test('a batch has less bytes than the service accepts', async () => {
    await using server = await startRawServer(respond);
    const client = new Keyreeve({ url: server.url, serviceKey });
    const scopes = many(32, (index) => `${index}`.padEnd(64, 'x'));
    await Promise.all(many(256, (index) => client.verify('\u0001'.repeat(4_000) + index, { scopes })));
    assert.equal(server.requests.flatMap(questionsOf).length, 256);
    for (const { body } of server.requests) assert.ok(Buffer.byteLength(body) <= 1_050_688, `${body.length}`);
  });

  test('when 10,000 verifications wait, one more is unavailable immediately', async () => {
    await using at = await heldServer();
    const verified = many(2, () => at.client.verify('first'));
    await at.arrived(1);
    verified.push(at.client.verify('second'));
    await at.arrived(2);
    const waiting = many(10_000, (index) => at.client.verify(`key ${index}`, { cost: index % 2 }));
    const refused = at.client.verify('one more');
    await assert.rejects(refused, /10000 verifications wait already/);
    // Without a pause between the requests, because a busy machine could exceed the deadline.
    at.answerAll();
    assert.equal((await Promise.all([...verified, ...waiting])).length, 10_003);
    assert.equal(at.server.requests.length, 42);
  });
});

test('an IP address has no port, brackets, prefix or zone', () => {
  for (const ip of ['0.0.0.0', '203.0.113.7', '255.255.255.255', '::', '::1', '2001:db8::7', '::ffff:192.0.2.1'])
    assert.ok(isIpAddress(ip), ip);
  for (const text of [
    '',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4:5',
    '1.2.3.4/8',
    '[::1]',
    'fe80::1%eth0',
    ':::',
    'localhost',
    '1',
  ])
    assert.ok(!isIpAddress(text), text);
});
