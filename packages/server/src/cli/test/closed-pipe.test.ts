/** Commands whose reader has closed the pipe, as `head` does. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { newTempFolder } from '../../../test-kit/temp-folder.ts';
import { awaited } from '../../../test-kit/until.ts';
import { environmentFor, keyreeveBin, runProgram } from '../../../test/e2e/program.ts';

const options = { skip: process.platform === 'win32' && 'pipes need mkfifo' };

/** Its read end is closed. */
function openClosedPipe(folder: string): number {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(path, constants.O_WRONLY);
  closeSync(reader);
  return writer;
}

async function runIntoClosedPipe(args: readonly string[], folder: string, pipe: number): Promise<unknown> {
  const child = spawn(process.execPath, [keyreeveBin, ...args], {
    cwd: folder,
    env: environmentFor(folder),
    stdio: ['ignore', pipe, 'pipe'],
  });
  assert.ok(child.stderr);
  const status = new Promise((resolve) => child.once('exit', resolve));
  const [stderr, exit] = await awaited(`${args.join(' ')} ends`, Promise.all([text(child.stderr), status]));
  return { status: exit, stderr };
}

test('a closed pipe ends lists and exports quietly, with the status of SIGPIPE', options, async () => {
  using folder = newTempFolder();
  const { path } = folder;
  assert.equal((await runProgram(['account', 'create', 'ada@example.com', '--generate'], { folder: path })).status, 0);
  const pipe = openClosedPipe(path);
  for (const args of [
    ['audit', 'export'],
    ['account', 'list'],
    ['account', 'list', '--json'],
    ['account', 'create', '--help'],
  ])
    assert.deepEqual(await runIntoClosedPipe(args, path, pipe), { status: 141, stderr: '' }, args.join(' '));
  closeSync(pipe);
});

test('a command that changes something completes although the pipe is closed', options, async () => {
  using folder = newTempFolder();
  const { path } = folder;
  const pipe = openClosedPipe(path);
  const args = ['account', 'create', 'ada@example.com', '--generate'];
  assert.deepEqual(await runIntoClosedPipe(args, path, pipe), { status: 141, stderr: '' });
  closeSync(pipe);
  const { stdout } = await runProgram(['account', 'list', '--json'], { folder: path });
  assert.deepEqual(
    (JSON.parse(stdout) as { readonly email: string }[]).map(({ email }) => email),
    ['ada@example.com'],
  );
});
