/** The code blocks of README.md, run in order, do what the text states. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';
import { environmentFor, newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const page = readFileSync(new URL('../../../../README.md', import.meta.url), 'utf8');
const blocksOf = (section: string): string[] => {
  const [, text = ''] = page.split(`\n## ${section}\n`);
  const [own = ''] = text.split(/\n## /);
  return [...own.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block);
};
const [start = '', ...blocks] = blocksOf('Start');

test('one command starts the service, and one runs every test', () => {
  assert.equal(start, 'npm ci && npm start\n');
  assert.deepEqual(blocksOf('Test'), ['npm ci && npm test\n']);
  const { scripts } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')) as {
    scripts: Record<string, string>;
  };
  assert.match(scripts['start'] ?? '', /serve/);
  assert.equal(scripts['test'], 'node scripts/test.ts');
});

test('every variable is set by a block above, and no block has a comment, which an interactive zsh would run', () => {
  const known = new Set(['1']);
  for (const block of blocks) {
    for (const line of block.split('\n')) {
      for (const [, name = ''] of line.matchAll(/\$(\w+)/g)) assert.ok(known.has(name), `$${name} in ${line}`);
      const [, assigned] = /^(\w+)=/.exec(line) ?? [];
      if (assigned !== undefined) known.add(assigned);
    }
    assert.doesNotMatch(block, /(?:^|\s)#/);
  }
  assert.ok(known.has('API_KEY'));
});

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
      { cwd: root, env: environment, timeout: 600_000 },
      (error, stdout, stderr) => {
        if (error) reject(new Error(`${error.message}\n${stdout}\n${stderr}`));
        else resolve(stdout.split(separator));
      },
    );
  });
}

for (const shell of ['/bin/sh', '/bin/bash', '/bin/zsh'].filter((path) => existsSync(path))) {
  test(`each block works as it stands in ${shell}: account, token, key, 200, deletion, 401`, async (t) => {
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
  });
}
