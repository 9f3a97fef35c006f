/** The server for WebSockets of the page about connections that stay open works as it stands. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { awaited, until } from '../../server/test-kit/until.ts';
import { readPage } from '../../server/test/docs/shell-blocks.ts';
import { bearer, newProgram, type Key, type Program } from '../../server/test/e2e/program.ts';

const blockOf = (path: string, index: number): string =>
  Array.from(readPage(path).matchAll(/^```js\n([^]*?)^```$/gm), ([, block = '']) => block)[index] ?? '';

/** Of a handshake. */
const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
};

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly program: Program;
  readonly accessToken: string;
  /** Opens a connection with a new key. */
  connect(): Promise<{ readonly key: Key; readonly connection: WebSocket }>;
}

/** Starts the server of the page. @param seconds between two verifications */
async function startServer(seconds: number): Promise<Server> {
  const port = await freePort();
  const host = `127.0.0.1:${port}`;
  const program = await newProgram({ KEYREEVE_WEBHOOK_TARGETS: host });
  const { accessToken } = await program.signIn();
  const json = async (...args: string[]): Promise<Record<string, unknown>> =>
    JSON.parse((await program.command([...args, '--json'])).stdout) as Record<string, unknown>;
  const keyArgs = [
    'key',
    'create',
    '--account',
    'you@example.com',
    '--nickname',
    'service',
    '--scope',
    'keyreeve:verify',
  ];
  const { key: serviceKey } = await json(...keyArgs);
  const { secret } = await json('webhook', 'create', `http://${host}/hooks`, '--event', 'api_key.deleted');
  const folder = newTempFolder();
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder.path, 'node_modules'));
  writeFileSync(join(folder.path, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder.path, 'receive.js'), blockOf('docs/webhooks.md', 1));
  const script = join(folder.path, 'server.js');
  writeFileSync(script, blockOf('docs/open-connections.md', 0).replace('3000', String(port)));
  const env = {
    ...process.env,
    KEYREEVE_URL: program.url,
    KEYREEVE_SERVICE_KEY: String(serviceKey),
    KEYREEVE_WEBHOOK_SECRET: String(secret),
    VERIFY_SECONDS: String(seconds),
  };
  const child = spawn(process.execPath, [script], { env, stdio: 'inherit' });
  const url = `http://${host}/`;
  let keys = 0;
  await until('the server listens', () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  );
  return {
    url,
    program,
    accessToken,
    async connect() {
      for (;;) {
        // The connection spends the only token.
        const limits = { quota: { limit: 1, per: 'month' } };
        const body = { nickname: `client ${++keys}`, scopes: ['orders:read'], limits };
        const key = (await program.call('POST', '/auth/api-keys', bearer(accessToken), body)).json as Key;
        const connection = new WebSocket(url, { headers: bearer(key.key) });
        const first = new Promise<unknown>((resolve) => {
          connection.addEventListener('message', ({ data }) => resolve(data));
          connection.addEventListener('error', () => resolve(undefined));
        });
        // 503 if Keyreeve has not answered within the deadline of the library.
        const message = await awaited('the server accepts or refuses the connection', first);
        if (message === undefined) continue;
        assert.equal(message, JSON.stringify({ nickname: body.nickname }));
        return { key, connection };
      }
    },
    async [Symbol.asyncDispose]() {
      const closed = once(child, 'close');
      if (child.kill('SIGKILL')) await closed;
      folder[Symbol.dispose]();
      await program[Symbol.asyncDispose]();
    },
  };
}

/** Deletes the key of an open connection, after a verification of it or before. @returns the status and the reason with which the server then closes the connection */
async function endOf(server: Server, isVerifiedBefore: boolean): Promise<[code: number, reason: string]> {
  for (;;) {
    const { key, connection } = await server.connect();
    const closing = new Promise<CloseEvent>((resolve) => connection.addEventListener('close', resolve));
    if (isVerifiedBefore)
      await until('the connection is verified again, and its limit has no tokens', async () => {
        const metrics = await (await fetch(`${server.program.adminUrl}/metrics`)).text();
        return /^keyreeve_verifications_total\{.*reason="quota_exceeded".*\} [1-9]/m.test(metrics);
      });
    const deleted = await server.program.call('DELETE', `/auth/api-keys/${key.id}`, bearer(server.accessToken));
    assert.equal(deleted.status, 200);
    const { code, reason } = await awaited('the connection closes', closing);
    // Keyreeve has not answered within the deadline of the library.
    if (code !== 1013) return [code, reason];
  }
}

test('a WebSocket is refused without a key, and closed at the interval after the deletion of its key', async () => {
  await using server = await startServer(0.005);
  assert.deepEqual(await endOf(server, true), [1008, 'invalid_credential']);
  const [response] = (await once(get(server.url, { headers: upgrade }), 'response')) as [IncomingMessage];
  const { 'content-type': type, 'www-authenticate': challenge } = response.headers;
  assert.deepEqual(
    [response.statusCode, type, challenge],
    [401, 'application/problem+json; charset=utf-8', 'Bearer realm="keyreeve"'],
  );
  assert.equal((JSON.parse(await text(response)) as { code: string }).code, 'missing_credential');
});

test('the webhook of a deletion closes a WebSocket before the interval', async () => {
  await using server = await startServer(86_400);
  assert.deepEqual(await endOf(server, false), [1008, 'invalid_credential']);
  const forged = await fetch(server.url, { method: 'POST', body: '{"type":"api_key.deleted","data":{}}' });
  assert.equal(forged.status, 401);
});
