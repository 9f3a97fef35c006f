/** Keyreeve for the tests of proxies, started as an operator does it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test-kit/free-port.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { until } from '../../test-kit/until.ts';
import { sendCommand } from './command-client.ts';
import { sharedCommandHost } from './command-host.ts';
import { end, spawnQuietly, type ForwardAuthServer, type TestKey } from './proxy-kit.ts';

const ownMain = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/**
 * Creates accounts and scoped keys with commands, all else over HTTP.
 * @param main the program that serves
 * @param settings further settings
 */
export async function startKeyreeve(
  main = ownMain,
  settings: Readonly<Record<string, string>> = {},
): Promise<ForwardAuthServer> {
  const folder = newTempFolder();
  const directory = folder.path;
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = {
    PATH: process.env['PATH'] ?? '',
    KEYREEVE_PORT: String(port),
    KEYREEVE_ADMIN_PORT: '0',
    KEYREEVE_DATABASE_URL: `sqlite:${join(directory, 'keyreeve.db')}`,
    KEYREEVE_DRAIN_SECONDS: '0',
    KEYREEVE_TRUSTED_PROXIES: '127.0.0.1',
    ...settings,
  };
  const email = 'operator@example.com';
  const password = randomBytes(24).toString('base64url');
  const run = async (args: readonly string[], input = ''): Promise<Record<string, unknown>> => {
    const { status, stdout, stderr } = await sendCommand(await sharedCommandHost(), {
      args: [...args, '--json'],
      environment: env,
      folder: directory,
      input: Buffer.from(input).toString('base64'),
    });
    assert.equal(status, 0, `${args.join(' ')}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const account = await run(['account', 'create', email, '--password-stdin'], `${password}\n`);
  const child = spawnQuietly(process.execPath, [main, 'serve'], directory, env);
  const stop = async (): Promise<void> => {
    await end(child.process, 'SIGKILL');
    folder[Symbol.dispose]();
  };
  const call = async (
    method: string,
    path: string,
    authorization: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> => {
    const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const response = await fetch(`${origin}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  try {
    await until('Keyreeve is ready', () => {
      assert.equal(child.process.exitCode, null, child.output());
      return fetch(`${origin}/health/ready`).then(
        ({ ok }) => ok,
        () => false,
      );
    });
    const tokens = await call('POST', '/auth/token', `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`);
    const accessToken = String(tokens['accessToken']);
    const scopesOfTheLargest = Array.from({ length: 32 }, (_, at) => `--scope=${`scope-${at}:`.padEnd(64, 'x')}`);
    const createKey = async (nickname: string, more: object = {}): Promise<TestKey> =>
      testKey(await call('POST', '/auth/api-keys', `Bearer ${accessToken}`, { nickname, ...more }));
    return {
      port,
      accountId: String(account['id']),
      accessToken,
      key: await createKey('Zoë’s 🔑 100% {key}'),
      ordersKey: testKey(
        await run(['key', 'create', '--account', email, '--nickname', 'orders', '--scope', 'orders:read']),
      ),
      largestKey: testKey(
        await run(['key', 'create', '--account', email, '--nickname', '🔑'.repeat(64)].concat(scopesOfTheLargest)),
      ),
      createKey,
      deleteKey: async (id) => void (await call('DELETE', `/auth/api-keys/${id}`, `Bearer ${accessToken}`)),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function testKey(created: Record<string, unknown>): TestKey {
  return { id: Number(created['id']), nickname: String(created['nickname']), key: String(created['key']) };
}
