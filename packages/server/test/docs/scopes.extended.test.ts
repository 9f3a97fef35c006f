/** The code blocks of docs/scopes.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';

const page = readPage('docs/scopes.md');
const blocks = shellBlocks(page);
const [, setting = ''] = /^export KEYREEVE_SCOPES=(.*)$/m.exec(page) ?? [];

test('each block works as it stands, and prints what the page shows', async (t) => {
  if (!hasCurl(t)) return;
  await using program = await newProgram({ KEYREEVE_SCOPES: setting });
  const outputs = await outputsOf(blocks, program);
  assert.equal(outputs.length, blocks.length);
  const printed = outputs.map((output) =>
    output
      .trim()
      .replaceAll(/\n+/g, '\n')
      .replaceAll(/acc_\w+/g, 'acc_…'),
  );
  const shown = [...page.matchAll(/^```(?:json|text)\n([^]*?)^```$/gm)].map(([, text = '']) => text.trim());
  assert.equal(shown.length, 3);
  for (const text of shown) assert.ok(printed.includes(text), text);
  assert.match(
    printed[0] ?? '',
    /^orders:read +open +Read orders and their lines\nreports:read +entitled +Read reports$/m,
  );
  assert.match(printed.at(-1) ?? '', /^orders:write +entitled +Create and change orders$/m);
});
