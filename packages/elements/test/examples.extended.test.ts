/** The endpoints of the examples for Express and FastAPI, with a service. The tutorial of Next.js has its own test. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { buildClientPackage } from '../../../scripts/package-client.ts';
import { buildElementsPackage } from '../../../scripts/package-elements.ts';
import { pythonEnvironment, python, skip } from '../../python/test/python.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newApp } from '../../server/test-kit/new-app.ts';
import { redeem } from '../../server/test-kit/portal.ts';
import { newBackend } from '../../server/test-kit/service-accounts.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { until } from '../../server/test-kit/until.ts';
import { root } from './kit/frameworks.ts';

const examples = join(root, 'packages/elements/examples');
const ofFrame = { 'sec-fetch-dest': 'iframe', 'sec-fetch-site': 'same-origin' };

interface Started extends AsyncDisposable {
  readonly url: string;
}
type Start = (port: number, environment: Readonly<Record<string, string>>) => ReturnType<typeof spawn>;

async function startExample(start: Start, environment: Readonly<Record<string, string>>): Promise<Started> {
  const port = await freePort();
  const child = start(port, environment);
  const closed = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += String(text)));
  await until('the example listens', () => /listening on|running on/.test(output) || child.exitCode !== null);
  assert.equal(child.exitCode, null, output);
  return {
    // Node tries all addresses of the name.
    url: `http://localhost:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** What each example must do, in the words of its requests and responses. */
async function assertEndpoint(start: Start): Promise<void> {
  await using app = await newApp();
  const { key, headers } = await newBackend(app);
  const environment = { KEYREEVE_URL: app.url, KEYREEVE_MANAGEMENT_KEY: key, ORIGIN: 'https://app.example.com' };
  const get = (url: string, given: Readonly<Record<string, string>>): Promise<Response> =>
    fetch(`${url}/api-keys/frame`, { redirect: 'manual', headers: given });
  {
    await using refusing = await startExample(start, environment);
    const refused = await get(refusing.url, ofFrame);
    assert.deepEqual([refused.status, refused.headers.get('location')], [401, null]);
  }
  await using example = await startExample(start, { ...environment, DEMO_PERSON: 'u_7' });
  for (const given of [
    {},
    { ...ofFrame, 'sec-fetch-dest': 'empty' },
    { ...ofFrame, 'sec-fetch-dest': 'document' },
    { ...ofFrame, 'sec-fetch-site': 'cross-site' },
    { ...ofFrame, 'sec-fetch-site': 'same-site' },
    { ...ofFrame, 'sec-fetch-site': 'none' },
    { 'sec-fetch-dest': 'iframe' },
  ]) {
    const refused = await get(example.url, given);
    assert.deepEqual([refused.status, refused.headers.get('location')], [403, null], JSON.stringify(given));
  }
  // The first one creates the service account.
  for (const _ of ['first', 'second']) {
    const found = await get(example.url, ofFrame);
    assert.deepEqual([found.status, found.headers.get('cache-control')], [302, 'no-store']);
    const url = found.headers.get('location') ?? '';
    const id = new URL(url).pathname.split('/').at(-1) ?? '';
    const redeemed = await redeem(app, { id, url });
    assert.equal(redeemed.status, 201, redeemed.text);
    const { person, origin, capabilities } = redeemed.json as Record<string, unknown>;
    assert.deepEqual([person, origin], [{ id: 'u_7', name: null }, 'https://app.example.com']);
    assert.deepEqual(capabilities, ['read', 'create', 'rotate', 'limit', 'delete']);
  }
  const listed = await app.call('GET', '/auth/service-accounts?externalId=tenant_182', { headers });
  assert.equal((listed.json as { serviceAccounts: unknown[] }).serviceAccounts.length, 1);
  const page = await fetch(example.url);
  assert.match(await page.text(), /<keyreeve-keys src="\/api-keys\/frame">/);
  assert.match(page.headers.get('content-security-policy') ?? '', new RegExp(`frame-src 'self' ${app.url}`));
}

test('the endpoint of the example for Express redirects frames of its own page only', async () => {
  using folder = newTempFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  cpSync(join(examples, 'express'), folder.path, { recursive: true });
  mkdirSync(at('node_modules/@keyreeve'), { recursive: true });
  buildClientPackage(root, at('node_modules/@keyreeve/client'));
  buildElementsPackage(root, at('node_modules/@keyreeve/elements'));
  symlinkSync(join(root, 'node_modules/express'), at('node_modules/express'));
  await assertEndpoint((port, environment) =>
    spawn(process.execPath, ['server.js'], {
      cwd: folder.path,
      env: { ...process.env, ...environment, PORT: String(port), ORIGIN: environment['ORIGIN'] },
    }),
  );
});

test('the endpoint of the example for FastAPI redirects frames of its own page only', { skip }, async () => {
  await assertEndpoint((port, environment) =>
    spawn(python, ['-m', 'uvicorn', 'main:app', '--port', String(port)], {
      cwd: join(examples, 'fastapi'),
      env: { ...pythonEnvironment(), ...environment },
    }),
  );
});
