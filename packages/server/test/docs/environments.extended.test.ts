/** The code blocks of docs/environments.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';

const page = readPage('docs/environments.md');
const blocks = shellBlocks(page);
const [, setting = ''] = /^export KEYREEVE_ENVIRONMENTS=(.*)$/m.exec(page) ?? [];

/** With any values for ids, names of accounts, times and secrets. */
const withoutValues = (text: string): string =>
  text
    .trim()
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|(?<=:)\d{6,}|(?<="acc_)[^"]*|(?<=(?:live|test)_)[0-9A-Za-z]{49}/g, '…')
    .replaceAll('……', '…');

test('each block works as it stands, and prints what the page shows', async (t) => {
  if (!hasCurl(t)) return;
  await using program = await newProgram({ KEYREEVE_ENVIRONMENTS: setting });
  const outputs = await outputsOf(blocks, program);
  assert.equal(outputs.length, blocks.length);
  const outputOf = (text: string): string => outputs[blocks.findIndex((block) => block.includes(text))] ?? '';
  const shown = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json = '']) => withoutValues(json));
  assert.deepEqual([outputOf('"environment":"test"'), outputOf('/auth/verify"')].map(withoutValues), shown);
  assert.match(outputOf('key list'), /\bnightly +test +acme_test_…/);
  assert.equal(outputOf('/auth/forward').trim(), '403');
});
