/** The code in the README of the Go library works against the service. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startRealService, type StartedService } from '../../conformance/real-service.ts';
import { untilAnswered } from '../../conformance/until-answered.ts';
import { newBackend } from '../../server/test-kit/service-accounts.ts';
import { newTrustedKey } from '../../server/test-kit/trusted-key.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { packageFolder, run, runGo, skip } from './go.ts';

/** Name → text of each block whose first line names a file. */
const files = new Map(
  [...readFileSync(`${packageFolder}README.md`, 'utf8').matchAll(/^```go\n\/\/ (\w+)\.go\n([^]*?)^```$/gm)].map(
    ([, name = '', text = '']) => [name, text],
  ),
);

async function buildSnippet(name: string, folder: string, edit = (text: string): string => text): Promise<string> {
  const source = join(folder, name);
  mkdirSync(source);
  writeFileSync(join(source, 'main.go'), edit(files.get(name) ?? ''));
  const module = `module example.com/${name}\n\ngo 1.22\n\nrequire keyreeve v1.0.0\n\nreplace keyreeve => ${packageFolder}\n`;
  writeFileSync(join(source, 'go.mod'), module);
  const program = join(folder, `${name}-program`);
  assert.deepEqual(await runGo(['build', '-o', program, '.'], source), { status: 0, output: '' });
  assert.deepEqual(await run('gofmt', ['-l', '.'], source), { status: 0, output: '' });
  return program;
}

const settings = ({ url, serviceKey, credentials }: StartedService): Record<string, string> => ({
  KEYREEVE_URL: url,
  KEYREEVE_SERVICE_KEY: serviceKey,
  API_KEY: credentials['valid'] ?? '',
});

test('the README of the Go library shows four programs', () => {
  assert.deepEqual([...files.keys()].toSorted(), ['manage', 'orders', 'verify', 'workload']);
});

test('the first example in Go prints what the README shows', { skip }, async () => {
  using folder = newTempFolder();
  const program = await buildSnippet('verify', folder.path);
  await using service = await startRealService();
  const runOnce = () => run(program, [], folder.path, settings(service));
  let { output } = await runOnce();
  // Keyreeve has not answered within the deadline of the library.
  while (output.includes('no result within')) ({ output } = await runOnce());
  const [, shown] = / \/\/ (.*)$/m.exec(files.get('verify') ?? '') ?? [];
  assert.equal(output.trim(), shown);
});

test('the example of the management in Go prints what the README shows', { skip }, async () => {
  using folder = newTempFolder();
  const program = await buildSnippet('manage', folder.path);
  await using service = await startRealService();
  const { key } = await newBackend(service.app);
  const { output } = await run(program, [], folder.path, { ...settings(service), KEYREEVE_MANAGEMENT_KEY: key });
  const [, shown] = / \/\/ (.*)$/m.exec(files.get('manage') ?? '') ?? [];
  assert.equal(output.trim(), shown);
});

test('the example of the exchange in Go prints what the README shows', { skip }, async () => {
  using folder = newTempFolder();
  await using trusted = await newTrustedKey();
  const path = join(folder.path, 'token');
  writeFileSync(path, trusted.token());
  const program = await buildSnippet('workload', folder.path, (text) =>
    text.replace('/var/run/secrets/keyreeve/token', path).replace('4711', String(trusted.keyId)),
  );
  const { output } = await run(program, [], folder.path, { KEYREEVE_URL: trusted.app.url });
  const [, shown] = / \/\/ (.*)$/m.exec(files.get('workload') ?? '') ?? [];
  assert.equal(output.trim(), shown);
});

test(
  'the guard in the README of the Go library lets a key with the scope through, and no other',
  { skip },
  async () => {
    using folder = newTempFolder();
    const port = await freePort();
    const program = await buildSnippet('orders', folder.path, (text) =>
      text.replace('localhost:3000', `127.0.0.1:${port}`),
    );
    await using service = await startRealService();
    const child = spawn(program, { env: { ...process.env, ...settings(service) }, stdio: 'ignore' });
    try {
      const url = `http://127.0.0.1:${port}/orders`;
      const accepted = await untilAnswered(url, service.credentials['valid'] ?? '');
      assert.match(await accepted.text(), /^acc_\w+\n$/);
      const refused = await untilAnswered(url, service.credentials['deleted'] ?? '');
      assert.equal(((await refused.json()) as { code: string }).code, 'invalid_credential');
    } finally {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  },
);
