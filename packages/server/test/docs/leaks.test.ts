/** The code blocks of docs/leaks.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';

const page = readPage('docs/leaks.md');
const blocks = shellBlocks(page);

test('each block works as it stands, and prints what the page shows', async (t) => {
  if (!hasCurl(t)) return;
  await using program = await newProgram({ KEYREEVE_LEAK_REPORTS: 'on' });
  const outputs = await outputsOf(blocks, program);
  assert.equal(outputs.length, blocks.length);
  for (const [index, block] of blocks.entries()) {
    const shown = [...block.matchAll(/^# (.+)$/gm)].map(([, text]) => text);
    if (shown.length > 0) assert.deepEqual(outputs[index]?.trim().split(/\n+/), shown, block);
  }
  const outputOf = (text: string): string => outputs[blocks.findIndex((block) => block.includes(text))] ?? '';
  assert.match(outputOf('/auth/leaks"'), /^\{"message":"[^"]+"\}\n+$/);
  const shownRules = /```toml\n([^]*?)```/.exec(page)?.[1] ?? '';
  assert.equal(outputOf('scan-rules\n').trimEnd(), shownRules.trimEnd());
  assert.match(outputOf('--format trufflehog'), /^detectors:\n[^]* {6}key: '\(krv_/);
  assert.match(outputOf('key leaked'), /^LINE +HINT +RESULT\n1 +krv_….{4} +current secret: [^]*\n1 secret ended\n$/);
});
