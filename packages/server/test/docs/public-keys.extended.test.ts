/** The code blocks of docs/public-keys.md work: the shell blocks after those of the README, and the program of a client. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { bearer, newApp } from '../../test-kit/new-app.ts';
import { newKeyPair, newPublicKeyKey } from '../../test-kit/public-key-client.ts';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { FakeClock } from '../../test-kit/fake-clock.ts';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { hasCurl } from './curl-program.ts';
import { assertShownJson, readPage, runPage } from './shell-blocks.ts';

const page = readPage('docs/public-keys.md');
const execute = promisify(execFile);
const program = /```js\n([^]*?)```/.exec(page)?.[1] ?? '';

test('each shell block works as it stands, and prints what the page shows', async (t) => {
  if (!hasCurl(t) || !(await hasProgram(t, 'openssl', ['pkeyutl', '-help']))) return;
  const run = await runPage('docs/public-keys.md');
  const { outputOf } = run;
  assertShownJson(run, 3);
  assert.match(outputOf('--public-key'), /^Created API key \d+ \(reports\)\.$/m);
  assert.match(outputOf('/auth/forward'), /^X-Keyreeve-Key-Id: \d+/im);
  assert.match(outputOf('/previous"'), /has ended/);
});

for (const alg of ['EdDSA', 'ES256'] as const)
  test(`the program gets a short-lived secret with ${alg}`, async () => {
    using folder = newTempFolder();
    // The programs use the time of the machine.
    await using app = await newApp({ clock: new FakeClock(Date.now()) });
    const { accessToken } = await app.signIn();
    const pair = newKeyPair(alg);
    const keyId = await newPublicKeyKey(app, accessToken, pair);
    const privateKey = join(folder.path, 'private.pem');
    writeFileSync(privateKey, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const client = join(folder.path, 'client.mjs');
    writeFileSync(client, program);
    const env = { PATH: process.env['PATH'], BASE_URL: app.url, KEY_ID: String(keyId), PRIVATE_KEY: privateKey };
    const { stdout } = await execute(process.execPath, [client], { env, timeout: programMsMax });
    assert.match(stdout, /^krvt_[0-9A-Za-z]{49}\n$/);
    assert.equal((await app.call('GET', '/auth/forward', { headers: bearer(stdout.trim()) })).status, 200);
  });

/** @returns false where the machine has none: then the test is named as not tried, and fails in CI */
async function hasProgram(t: TestContext, command: string, args: readonly string[]): Promise<boolean> {
  const isInstalled = await execute(command, args).then(
    () => true,
    () => false,
  );
  assert.ok(isInstalled || process.env['CI'] !== 'true', `${command} is not installed, and CI must try it`);
  if (!isInstalled) t.skip(`not tried: ${command} is not installed`);
  return isInstalled;
}
