/** The examples protect their routes and calls, and sign in, with a real service, and the pages show their code. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasCurl } from '../../server/test/docs/curl-program.ts';
import { outputsOf, readPage, shellBlocks } from '../../server/test/docs/shell-blocks.ts';
import { newProgram } from '../../server/test/e2e/program.ts';
import { freePort } from '../../server/test-kit/free-port.ts';
import { newTempFolder } from '../../server/test-kit/temp-folder.ts';
import { checkCommandLine } from '../../conformance/check-command-line.ts';
import { checkKeyStore, skipKeyStore } from '../../conformance/check-key-store.ts';
import type { Command } from '../../conformance/library-program.ts';
import { startRealService } from '../../conformance/real-service.ts';
import { goEnvironment, noRaceDetector, packageFolder, run, runGo, skip } from './go.ts';

const examples = join(packageFolder, 'examples');

/** Go and the modules of the examples, which the tests do not download. */
const hasModules = (): boolean =>
  spawnSync('go', ['list', '-deps', '-test', './...'], { cwd: examples, env: goEnvironment }).status === 0;
const skipExamples =
  skip ||
  (process.env['CI'] !== 'true' && !hasModules() && 'the modules of packages/go/examples are not there: not tried');

test('the examples let a key with the scope through, and no other', { skip: skipExamples }, async () => {
  await using service = await startRealService();
  const { accessToken } = await service.app.signIn();
  const environment = {
    KEYREEVE_URL: service.url,
    KEYREEVE_SERVICE_KEY: service.serviceKey,
    ACCESS_TOKEN: accessToken,
  };
  const race = noRaceDetector === false ? ['-race'] : [];
  const args = ['test', '-count=1', '-timeout=0', '-v', ...race, './...'];
  const { status, output } = await runGo(args, examples, environment);
  assert.equal(status, 0, output);
  assert.equal([...output.matchAll(/^--- PASS: Test/gm)].length, 5, output);
  assert.deepEqual(await run('gofmt', ['-l', '.'], examples), { status: 0, output: '' });
});

async function buildAcme(folder: string): Promise<Command> {
  const program = join(folder, 'acme');
  assert.deepEqual(await runGo(['build', '-o', program, './acme'], examples), { status: 0, output: '' });
  return { command: program, args: [] };
}

test('the command line in Go signs in, uses its key and forgets it', { skip: skipExamples }, async () => {
  using folder = newTempFolder();
  await checkCommandLine(await buildAcme(folder.path), { hasQrCode: true });
});

const skipStore = skipExamples || skipKeyStore;

test('the command line in Go keeps its key in the key store of the system', { skip: skipStore }, async () => {
  using folder = newTempFolder();
  await checkKeyStore(await buildAcme(folder.path));
});

const shownIn = (page: string): string => {
  const [, indent = '', block = ''] = /^( *)```go\n([^]*?)^ *```$/m.exec(readPage(`docs/tutorials/${page}.md`)) ?? [];
  return block.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
};

for (const name of ['gin', 'grpc'])
  test(`the page about ${name} shows the tested example`, () => {
    assert.equal(shownIn(name), readFileSync(join(examples, name, 'main.go'), 'utf8'));
  });

test('the tutorial of gin works as it stands, and prints what it shows', { skip: skipExamples }, async (t) => {
  if (!hasCurl(t)) return;
  const page = readPage('docs/tutorials/gin.md');
  const port = String(await freePort());
  using folder = newTempFolder();
  writeFileSync(join(folder.path, 'main.go'), shownIn('gin').replace('3000', port));
  // The modules of the examples: `go mod tidy` would download others.
  cpSync(join(examples, 'go.sum'), join(folder.path, 'go.sum'));
  const modules = readFileSync(join(examples, 'go.mod'), 'utf8').matchAll(/^\t(\S+\.\S+) (v\S+)/gm);
  const tidied = Array.from(modules, ([, path = '', version = '']) => `go mod edit -require ${path}@${version}\n`).join(
    '',
  );
  const keys = shellBlocks(readPage('docs/tutorials/express.md')).find((block) => block.includes('key create')) ?? '';
  const [install = '', start = '', ...others] = shellBlocks(page).map((block) => block.replaceAll('3000', port));
  const variables = `cd '${folder.path}'\nexport GOPROXY=off GOTOOLCHAIN=local GOFLAGS= KEYREEVE='${packageFolder}../..'\n`;
  const installBlock = `${variables}${install.replace('go mod tidy\n', tidied)}`;
  const startBlock = `${start.replace(' &\n', ' >/dev/null 2>&1 &\n')}trap 'kill $SERVER 2>/dev/null || true' EXIT
until command curl -s -o /dev/null 'http://127.0.0.1:${port}/'; do sleep 0.1; done\n`;
  await using program = await newProgram();
  const outputs = await outputsOf([keys, installBlock, startBlock, ...others], program);
  const blocks = others.filter((block) => block.includes('# {'));
  assert.equal(blocks.length, 2);
  for (const [index, block] of blocks.entries()) {
    const [, shown = ''] = /^ *# (.*)$/m.exec(block) ?? [];
    assert.ok(outputs[index + 3]?.trim().startsWith(shown.replace(/…\}$/, '')), `${outputs[index + 3]}\n${shown}`);
  }
});
