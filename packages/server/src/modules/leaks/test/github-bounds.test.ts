/** Bounds of `POST /auth/leaks/github`: a client without a signature does not stop the reports of GitHub. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { mock } from 'node:test';
import { limits } from '@keyreeve/contract';
import { makeKey } from '../../api-keys/key-format.ts';
import { newApp, type Answered, type TestApp } from '../../../../test-kit/new-app.ts';
import { countBodies } from '../../../../test-kit/begun-bodies.ts';
import { assertProblem, fromFetch, fromWire } from '../../../../test-kit/assert-problem.ts';
import { test } from '../../../../test-kit/app-on-each-database.ts';
import { githubSettings, GithubSigner, signedBy } from '../../../../test-kit/github.ts';
import { ask, head } from '../../../../test-kit/raw-http.ts';
import { newTempFolder } from '../../../../test-kit/temp-folder.ts';
import { until } from '../../../../test-kit/until.ts';

const path = '/auth/leaks/github';
const github = new GithubSigner();
const folder = newTempFolder();
process.once('exit', () => folder[Symbol.dispose]());
const environment = { ...githubSettings(folder.path, github), KEYREEVE_TRUSTED_PROXIES: '127.0.0.1' };
/** Well-formed headers, which every client can send. */
const foreign = signedBy(github.keyId, new GithubSigner().signatureOf(''));

const send = (app: TestApp, clientIp: string, body = '[]      ', headers = github.headers(body)): Promise<Answered> =>
  app.call('POST', path, { headers: { ...headers, 'x-forwarded-for': clientIp }, body });

const headOf = (headers: Readonly<Record<string, string>>): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return head(`POST ${path} HTTP/1.1`, 'Host: a', ...lines, `Content-Length: ${limits.githubReportBytesMax}`);
};

/** All bytes of a report but one. @returns whether the server has rejected it */
function sendSlowly(app: TestApp, clientIp: string): { socket: Socket; isRejected: () => boolean } {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  socket.write(headOf({ ...foreign, 'X-Forwarded-For': clientIp }));
  socket.write(Buffer.alloc(limits.githubReportBytesMax - 1, ' '));
  return { socket, isRejected: () => received.startsWith('HTTP/1.1 429') };
}

const bodiesOfNetwork = limits.unfinishedBodyBytesPerNetworkMax / limits.githubReportBytesMax;
const networks = limits.unfinishedBodyBytesMax / limits.unfinishedBodyBytesPerNetworkMax;

for (const [ending, end] of [
  ['closes', (socket: Socket) => socket.destroy()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
] as const)
  test(`slow bodies stop no report, also of the same network, and a client that ${ending} its connection frees them`, async () => {
    await using app = await newApp({ environment });
    using bodies = countBodies();
    // One more than the network may send, from two IP addresses.
    const slow = Array.from({ length: bodiesOfNetwork + 1 }, (_, client) => sendSlowly(app, `192.0.2.${client % 2}`));
    await until('a slow body is rejected', () => slow.some(({ isRejected }) => isRejected()));
    for (const clientIp of ['192.0.2.1', '192.0.2.3', '198.51.100.1'])
      assert.equal((await send(app, clientIp)).status, 200, clientIp);
    // Of those that fit, one had to make room for the first report.
    assert.equal(bodies.unfinished, bodiesOfNetwork - 1);
    for (const { socket } of slow) end(socket);
    await until('the bodies do not count any more', () => bodies.unfinished === 0);
  });

test('slow bodies of so many networks that they have all bytes together do not stop a report', async () => {
  await using app = await newApp({ environment });
  const slow = Array.from({ length: networks * bodiesOfNetwork + 1 }, (_, client) =>
    sendSlowly(app, `203.0.${Math.floor(client / bodiesOfNetwork)}.1`),
  );
  await until('a slow body is rejected', () => slow.some(({ isRejected }) => isRejected()));
  const body = `[${' '.repeat(limits.githubReportBytesMax - 2)}]`;
  assert.equal((await send(app, '198.51.100.1', body)).status, 200);
  for (const { socket } of slow) socket.destroy();
});

test('malformed headers are rejected before the body arrives', async () => {
  await using app = await newApp({ environment });
  const type = { 'content-type': 'application/json' };
  for (const [name, headers] of [
    ['no headers', type],
    ['no signature', { ...type, 'github-public-key-identifier': github.keyId }],
    ['a malformed key id', { ...foreign, 'github-public-key-identifier': 'b' }],
    ['a malformed signature', { ...foreign, 'github-public-key-signature': '!' }],
  ] as const)
    assertProblem(fromWire(await ask(app.url, headOf(headers))), 'invalid_signature', name);
});

test('a further report is rejected while 8 are in progress, and a wrong signature does not occupy a slot', async () => {
  await using app = await newApp({ environment });
  const { leaks } = app.service.services;
  const { promise: release, resolve } = Promise.withResolvers<void>();
  const report = leaks.report.bind(leaks);
  const slow = mock.method(leaks, 'report', async (...reported: Parameters<typeof report>) => {
    await release;
    return report(...reported);
  });
  const body = JSON.stringify([{ token: makeKey('krv').reveal(), type: 'a' }]);
  const inProgress = Array.from({ length: limits.githubReportsInProgressMax }, () => send(app, '192.0.2.1', body));
  await until('8 are in progress', () => slow.mock.callCount() === inProgress.length);
  assertProblem(fromFetch(await send(app, '198.51.100.1', body)), 'too_many_in_progress');
  assertProblem(fromFetch(await send(app, '198.51.100.1', body, foreign)), 'invalid_signature');
  resolve();
  for (const answer of await Promise.all(inProgress)) assert.equal(answer.status, 200, answer.text);
  assert.equal((await send(app, '198.51.100.1', body)).status, 200);
  assert.equal(slow.mock.callCount(), inProgress.length + 1);
});
