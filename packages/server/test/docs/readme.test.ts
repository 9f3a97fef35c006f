/** The code blocks of README.md, run in order, do what the text states. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertWorksIn, readmeBlocks } from './readme-blocks.ts';

const [start = '', ...blocks] = readmeBlocks('Start');

test('one command starts the service, and one runs every test', () => {
  assert.equal(start, 'npm ci && npm start\n');
  assert.deepEqual(readmeBlocks('Test'), ['npm ci && npm test\n']);
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

test('each block works as it stands in /bin/sh: account, token, key, 200, deletion, 401', (t) =>
  assertWorksIn('/bin/sh', t));
