/** The watchdog ends a test that awaits what never happens, and prints what it awaited. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newTempFolder } from './temp-folder.ts';
import { programMsMax } from './time-limits.ts';

/** Its tests advance the time of the watchdog, for which they would otherwise wait. */
const source = `
import { mock, test } from 'node:test';
import { awaited, awaitedNow } from ${JSON.stringify(import.meta.resolve('./until.ts'))};
mock.timers.enable({ apis: ['setTimeout'] });
const letMinutePass = async () => {
  mock.timers.tick(60_000);
  await new Promise(setImmediate);
};
test('a test that ends', async () => {
  for (let passed = 0; passed < 14; passed++) await letMinutePass();
});
`;
const waiting = `
test('a test that awaits', async () => {
  const wait = awaited('the door opens', new Promise(() => undefined));
  wait.catch(() => undefined);
  while (awaitedNow().length > 0) await letMinutePass();
  await wait;
});
`;
const hanging = `
test('a test that hangs', async () => {
  for (;;) await letMinutePass();
});
`;

function runFile(text: string): { readonly status: number | null; readonly output: string } {
  using folder = newTempFolder();
  const path = join(folder.path, 'fixture.test.mjs');
  writeFileSync(path, text);
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', `--import=${import.meta.resolve('./watchdog.ts')}`, '--test', path],
    { env: {}, encoding: 'utf8', timeout: programMsMax },
  );
  return { status, output: stdout + stderr };
}

test('a test that awaits a condition without end fails, and the watchdog names the condition', () => {
  const { status, output } = runFile(source + waiting);
  assert.equal(status, 1, output);
  assert.match(output, /watchdog: “a test that awaits” has not ended after \d+ minutes; it awaits: the door opens/);
  assert.match(output, /the door opens: not within \d+ minutes/);
  assert.doesNotMatch(output, /“a test that ends”/);
});

test('a test that hangs outside of every known wait ends with its process', () => {
  const { status, output } = runFile(source + hanging);
  assert.equal(status, 1, output);
  assert.match(output, /watchdog: “a test that hangs” has not ended after its waits were ended/);
});
