/** The code blocks of docs/leaks.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';

const page = readPage('docs/leaks.md');
/** The test starts the server with the setting. */
const blocks = shellBlocks(page).filter((block) => !block.endsWith(' npm start\n'));

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
  const shownResult = /```text\n(LINE [^]*?)```/.exec(page)?.[1] ?? '';
  const withoutHint = (text: string): string => text.trimEnd().replace(/krv_….{4}/, '');
  assert.match(shownResult, /1 secret ended/);
  assert.equal(withoutHint(outputOf('key leaked')), withoutHint(shownResult));
});
