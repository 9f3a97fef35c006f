/** The published form of the package works in an empty project, and its types compile. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { responseOf, startRawServer } from '../../conformance/replay-server.ts';
import { buildArchive } from '../../../scripts/package-archive.ts';
import { buildClientPackage } from '../../../scripts/package-client.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);
const accepted = { valid: true, type: 'api_key', accountId: 'acc_1' };

const script = `import { Keyreeve } from '@keyreeve/client';
import '@keyreeve/client/account';
import '@keyreeve/client/device-login';
import '@keyreeve/client/exchange';
import '@keyreeve/client/express';
import '@keyreeve/client/fastify';
import '@keyreeve/client/hono';
import '@keyreeve/client/next';
const client = new Keyreeve({ url: process.argv[2], serviceKey: 'krv_service' });
const verify = () => client.verify('a').catch((error) => (/no result within/.test(error) ? verify() : Promise.reject(error)));
console.log(JSON.stringify(await verify()));
console.log(import.meta.resolve('@keyreeve/client').split('/').at(-1));
`;

const typed = `import type { IncomingMessage } from 'node:http';
import { Keyreeve, newCheck, type Outcome, type VerificationResult } from '@keyreeve/client';
import { Management, signIn } from '@keyreeve/client/account';
import { deviceLogin, deviceLogout, type DeviceKey } from '@keyreeve/client/device-login';
import { exchange, tokenFromFile, type IdentityToken } from '@keyreeve/client/exchange';
import { guard } from '@keyreeve/client/express';
const client = new Keyreeve({ url: 'https://auth.example.com', serviceKey: 'krv_service' });
export const result: VerificationResult = await client.verify('a', { cost: 0 });
export const account: string | undefined = result.valid ? result.accountId : undefined;
export const keys = (await signIn({ url: 'https://auth.example.com' }, { email: 'a', password: 'b' })).listKeys();
const check = newCheck(client, { scopes: ['orders:read'], rateLimitFields: true });
export const outcome: Outcome = await check(new Headers({ 'X-API-Key': 'a' }), '127.0.0.1');
export const status: number = outcome.refusal ? outcome.refusal.status : Object.keys(outcome.headers).length;
export const ofNode = (request: IncomingMessage) => check(request, request.socket.remoteAddress);
export const ofEvent = (event: { headers: Record<string, string> }) => check(Object.entries(event.headers));
export const middleware = guard(client, { scopes: ['orders:read'] });
export const rotating = new Keyreeve({ url: 'https://auth.example.com', serviceKeyFile: '/run/secrets/key', ca: ['pem'], fetch });
export const limited = client.verify('a', { timeoutMs: 500, signal: AbortSignal.timeout(100) });
const url = 'https://auth.example.com';
export const source = exchange({ url, keyId: 4711, identityToken: tokenFromFile('token'), audience: 'other' });
export const own: IdentityToken = async ({ audience, signal }) => (await fetch(audience, { signal })).text();
export const secret: Promise<string> = exchange({ url, identityToken: own, fetch }).secret({ signal: AbortSignal.timeout(100) });
export const logout: Promise<void> = deviceLogout({ url, clientId: 'acme-cli', key: 'krv_x' });
export const login: Promise<DeviceKey> = deviceLogin({ url, clientId: 'acme-cli', scopes: ['a'], show: ({ link }) => console.log(link) });
export const listed = new Management({ url: 'https://auth.example.com', managementKey: () => 'krv_key' }).keys('acc_1').list();
`;

/** CommonJS has no `await` outside of functions. */
function inFunction(text: string): string {
  const body = text.search(/^const /m);
  return `${text.slice(0, body)}export async function main() {\n${text.slice(body).replaceAll('export const', 'const')}}\n`;
}

const required = `const { Keyreeve, KeyreeveUnavailable } = require('@keyreeve/client');
const { Management } = require('@keyreeve/client/account');
for (const name of ['device-login', 'exchange', 'express', 'fastify', 'hono', 'next']) require('@keyreeve/client/' + name);
import('@keyreeve/client').then((imported) => {
  console.log(imported.Keyreeve === Keyreeve, imported.KeyreeveUnavailable === KeyreeveUnavailable, typeof Management);
});
`;

test('the package works on Node and with the conditions of edge runtimes, and its types compile', async () => {
  using folder = newTempFolder();
  const installed = join(folder.path, 'node_modules/@keyreeve/client');
  mkdirSync(dirname(installed), { recursive: true });
  buildClientPackage(root, installed);
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
  assert.deepEqual(
    [manifest['dependencies'], manifest['devDependencies'], manifest['private']],
    [undefined, undefined, undefined],
  );
  assert.deepEqual(readdirSync(installed).toSorted(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(folder.path, 'node_modules', name));

  await using server = await startRawServer((_, socket) => socket.write(responseOf({ results: [accepted] })));
  const path = join(folder.path, 'script.mjs');
  writeFileSync(path, script);
  for (const [conditions, file] of [
    [[], 'node.js'],
    [['--conditions=workerd'], 'fetch.js'],
  ] as const) {
    const { stdout } = await run(process.execPath, [...conditions, path, server.url], { cwd: folder.path });
    assert.equal(stdout, `${JSON.stringify(accepted)}\n${file}\n`);
  }

  writeFileSync(join(folder.path, 'required.cjs'), required);
  const { stdout } = await run(process.execPath, ['required.cjs'], { cwd: folder.path });
  assert.equal(stdout, 'true true function\n');

  writeFileSync(join(folder.path, 'typed.mts'), typed);
  writeFileSync(join(folder.path, 'typed.cts'), inFunction(typed));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const fixed = ['--noEmit', '--strict', '--target', 'es2024', '--types', 'node'];
  for (const [module, resolution, ...files] of [
    ['node16', 'node16', 'typed.mts', 'typed.cts'],
    ['nodenext', 'nodenext', 'typed.mts', 'typed.cts'],
    ['esnext', 'bundler', 'typed.mts'],
    ['preserve', 'bundler', 'typed.mts', 'typed.cts'],
  ] as const)
    await run(process.execPath, [tsc, ...fixed, '--module', module, '--moduleResolution', resolution, ...files], {
      cwd: folder.path,
    }).catch((error: unknown) => assert.fail(`${module}: ${(error as { stdout: string }).stdout}`));
});

test('publint and attw find nothing in the archive', async () => {
  using folder = newTempFolder();
  const archive = buildArchive(root, join(folder.path, 'built'), buildClientPackage);
  const program = (name: string): string => join(root, 'node_modules/.bin', name);
  for (const [name, ...args] of [
    ['publint', 'run', archive, '--strict', '--level', 'suggestion'],
    ['attw', archive, '--no-emoji'],
  ] as const)
    await run(program(name), args, { cwd: folder.path }).catch((error: unknown) =>
      assert.fail(`${name}: ${(error as { stdout: string }).stdout}`),
    );
});

test('the manifest names the repository of the build, and the frameworks as optional peers', () => {
  using folder = newTempFolder();
  const manifestOf = (name: string): Record<string, unknown> =>
    JSON.parse(readFileSync(join(buildClientPackage(root, join(folder.path, name)), 'package.json'), 'utf8')) as never;
  assert.equal(manifestOf('without')['repository'], undefined);
  process.env['KEYREEVE_REPOSITORY_URL'] = 'https://forge.example.com/keyreeve/keyreeve';
  const { repository, peerDependencies, peerDependenciesMeta } = manifestOf('with');
  assert.deepEqual(repository, {
    type: 'git',
    url: 'git+https://forge.example.com/keyreeve/keyreeve.git',
    directory: 'packages/client',
  });
  assert.deepEqual(
    Object.keys(peerDependencies as object).map((name) => [
      name,
      (peerDependenciesMeta as Record<string, unknown>)[name],
    ]),
    ['express', 'fastify', 'hono'].map((name) => [name, { optional: true }]),
  );
  process.env['KEYREEVE_REPOSITORY_URL'] = 'git@forge.example.com:keyreeve';
  assert.throws(() => manifestOf('malformed'), /^Error: KEYREEVE_REPOSITORY_URL: expected/);
  delete process.env['KEYREEVE_REPOSITORY_URL'];
});
