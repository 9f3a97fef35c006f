/** The examples for gin and gRPC protect their routes and calls with a real service, and the pages show their code. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { readPage } from '../../server/test/docs/shell-blocks.ts';
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
