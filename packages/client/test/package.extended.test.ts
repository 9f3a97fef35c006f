/** The published form of the package works in an empty project, and its types compile. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { responseOf, startRawServer } from '../../conformance/replay-server.ts';
import { buildClientPackage } from '../../../scripts/package-client.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);
const accepted = { valid: true, type: 'api_key', accountId: 'acc_1' };

const script = `import { Keyreeve } from '@keyreeve/client';
import '@keyreeve/client/account';
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
import { signIn } from '@keyreeve/client/account';
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

  writeFileSync(join(folder.path, 'typed.mts'), typed);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node', 'typed.mts'];
  await run(process.execPath, [tsc, ...args], { cwd: folder.path }).catch((error: unknown) =>
    assert.fail((error as { stdout: string }).stdout),
  );
});
