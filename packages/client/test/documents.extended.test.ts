/** The code of the package's page works as it stands. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { newTrustedKey } from '../../server/test-kit/trusted-key.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { until } from '../../server/test-kit/until.ts';
import { readPage } from '../../server/test/docs/shell-blocks.ts';
import { bearer, goodPassword, newProgram, type Key, type Program } from '../../server/test/e2e/program.ts';

/** The last block of JavaScript below each heading, by the heading. */
function scriptsOf(page: string): Record<string, string> {
  const scripts: Record<string, string> = {};
  let heading = '';
  for (const [, title, indent = '', text = ''] of page.matchAll(/^#+ (.*)$|^( *)```js\n([^]*?)^ *```$/gm)) {
    if (title === undefined) scripts[heading] = text.replaceAll(RegExp(`^${indent}`, 'gm'), '');
    else heading = title;
  }
  return scripts;
}

const readme = scriptsOf(readPage('packages/client/README.md'));

interface Fixture {
  readonly key: Key;
  readonly env: Readonly<Record<string, string>>;
  readonly folder: string;
  [Symbol.dispose](): void;
}

let program: Program;
let accessToken = '';
let serviceKey = '';
let keys = 0;
before(async () => {
  program = await newProgram();
  ({ accessToken } = await program.signIn());
  const args = ['key', 'create', '--account', 'you@example.com', '--nickname', 'service', '--scope', 'keyreeve:verify'];
  ({ key: serviceKey } = JSON.parse((await program.command([...args, '--json'])).stdout) as Key);
});
after(() => program[Symbol.asyncDispose]());

async function fixture(): Promise<Fixture> {
  const json = { nickname: `client ${++keys}`, scopes: ['orders:read'] };
  const key = (await program.call('POST', '/auth/api-keys', bearer(accessToken), json)).json as Key;
  const folder = newTempFolder();
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(folder.path, 'node_modules'));
  return {
    key,
    env: { KEYREEVE_SERVICE_KEY: serviceKey, API_KEY: key.key, EMAIL: 'you@example.com', PASSWORD: goodPassword },
    folder: folder.path,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** Writes a script for the service of the test. @returns its path */
function write({ folder }: Pick<Fixture, 'folder'>, script: string, port = 0): string {
  const path = join(folder, 'script.js');
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(path, script.replaceAll('https://auth.example.com', program.url).replaceAll('3000', String(port)));
  return path;
}

/** Runs a script, again if Keyreeve has not answered it within the deadline of the library. */
async function run(at: Fixture, script: string): Promise<string> {
  for (;;) {
    const { status, output } = await runOnce(at, script);
    if (status !== 0 && output.includes('no result within')) continue;
    assert.equal(status, 0, output);
    return output;
  }
}

async function runOnce(at: Fixture, script: string): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [write(at, script)], { env: { ...process.env, ...at.env } });
  let output = '';
  child.stdout.on('data', (text) => (output += text));
  child.stderr.on('data', (text) => (output += text));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output };
}

/** Calls a guarded application with no key, the client's key, and the same after its deletion. */
async function assertGuarded(
  { key }: Fixture,
  callOnce: (headers: Record<string, string>) => Promise<Response>,
): Promise<void> {
  // 503 if Keyreeve has not answered within the deadline of the library.
  const call = async (headers: Record<string, string>): Promise<Response> => {
    let response = await callOnce(headers);
    while (response.status === 503) response = await callOnce(headers);
    return response;
  };
  assert.equal((await call({})).status, 401);
  const accepted = await call(bearer(key.key));
  assert.equal(accepted.status, 200);
  assert.match(JSON.stringify(await accepted.json()), /"account":"acc_/);
  const deleted = await program.call('DELETE', `/auth/api-keys/${key.id}`, bearer(accessToken));
  assert.equal(deleted.status, 200);
  assert.equal((await call(bearer(key.key))).status, 401);
}

test('the first snippet of the package verifies a credential', async () => {
  using at = await fixture();
  assert.match(await run(at, readme['Verify a credential'] ?? ''), /^account acc_\w+\n$/);
});

test('the snippet about accounts creates and deletes a key', async () => {
  using at = await fixture();
  assert.match(await run(at, readme['Accounts and keys'] ?? ''), /^krv_\w+\n\d+\n$/);
});

test('the snippet about service accounts manages keys', async () => {
  using at = await fixture();
  const json = async (...args: string[]): Promise<{ id: string; key: string }> =>
    JSON.parse((await program.command([...args, '--json'])).stdout) as { id: string; key: string };
  const { id } = await json('service-account', 'create', 'backend', '--manager', 'you@example.com');
  const ofKey = ['--nickname', 'backend', '--scope', 'keyreeve:keys', '--address', '127.0.0.1'];
  const { key } = await json('key', 'create', '--account', id, ...ofKey);
  const env = { ...at.env, KEYREEVE_MANAGEMENT_KEY: key };
  assert.match(await run({ ...at, env }, readme['Service accounts'] ?? ''), /^laptop krv_….{4}\n$/);
});

test('the snippet about exchanges gets a secret that is accepted', async () => {
  await using trusted = await newTrustedKey();
  using at = await fixture();
  const path = join(at.folder, 'token');
  writeFileSync(path, trusted.token());
  const script = (readme['Exchange identity tokens'] ?? '')
    .replaceAll('https://auth.example.com', trusted.app.url)
    .replace('/var/run/secrets/keyreeve/token', path);
  const { status, output } = await runOnce({ ...at, env: { KEY_ID: String(trusted.keyId) } }, script);
  assert.deepEqual([status, output], [0, '200\n']);
});

for (const framework of ['Express', 'Fastify', 'Hono', 'Other frameworks'])
  test(`the snippet for ${framework} protects its route`, async () => {
    using at = await fixture();
    const port = await freePort();
    const script = write(at, readme[framework] ?? '', port);
    const child = spawn(process.execPath, [script], { env: { ...process.env, ...at.env }, stdio: 'inherit' });
    try {
      const call = (headers: Record<string, string>) => fetch(`http://localhost:${port}/orders`, { headers });
      await until('the application listens', () =>
        call({}).then(
          () => true,
          () => false,
        ),
      );
      await assertGuarded(at, call);
    } finally {
      const closed = once(child, 'close');
      if (child.kill('SIGKILL')) await closed;
    }
  });

test('the snippet for Next.js protects its route', async () => {
  using at = await fixture();
  process.env['KEYREEVE_SERVICE_KEY'] = at.env['KEYREEVE_SERVICE_KEY'];
  const { GET } = (await import(pathToFileURL(write(at, readme['Next.js'] ?? '')).href)) as {
    GET: (request: Request, context: object) => Promise<Response>;
  };
  await assertGuarded(at, (headers) => GET(new Request('http://localhost/orders', { headers }), {}));
});
