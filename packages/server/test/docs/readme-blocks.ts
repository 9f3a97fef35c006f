/** The code blocks of README.md, and what they do in a shell. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import type { TestContext } from 'node:test';
import { programMsMax } from '../../test-kit/time-limits.ts';
import { environmentFor, newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { readPage, root } from './shell-blocks.ts';

const page = readPage('README.md');

/** Of a section. */
export const readmeBlocks = (section: string): string[] => {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [own = ''] = text.split(/\n## /);
  return [...own.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
};

/** After the command that installs and starts the service. */
const [, ...blocks] = readmeBlocks('Start');

/** @throws AssertionError unless the blocks do what the text states: account, token, key, 200, deletion, 401 */
export async function assertWorksIn(shell: string, t: TestContext): Promise<void> {
  if (!hasCurl(t)) return;
  await using program = await newProgram();
  const outputs = await paste(shell, environmentFor(program.folder), program.url);
  const [password = '', token, created = '', before = '', deleted = '', after = ''] = outputs;
  assert.match(password, /^\S{16,}\n$/);
  assert.equal(token, '');
  const { id, key, nickname } = JSON.parse(created) as { id: number; key: string; nickname: string };
  assert.deepEqual([nickname, /^krv_\w{49}$/.test(key)], ['first', true]);
  assert.match(before, new RegExp(`^HTTP/1\\.1 200 OK\\r\\n[^]*X-Keyreeve-Key-Id: ${id}\\r\\n`));
  assert.match((JSON.parse(deleted) as { message: string }).message, new RegExp(String(id)));
  assert.match(after, /^HTTP\/1\.1 401 Unauthorized\r\n/);
  assert.equal(outputs.length, 6);
}

/** What each block prints, in one shell. */
async function paste(shell: string, environment: Readonly<Record<string, string>>, url: string): Promise<string[]> {
  const separator = '\n-- next block --\n';
  const script = blocks
    .map((block) => block.replaceAll('http://127.0.0.1:8787', url))
    .join(`printf '%s' '${separator}'\n`);
  return new Promise((resolve, reject) => {
    execFile(
      shell,
      ['-eu', '-c', script],
      { cwd: root, env: environment, timeout: programMsMax },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
        else resolve(stdout.split(separator));
      },
    );
  });
}
