/** The code blocks of docs/service-accounts.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';
import { assertLike, shownJson } from './shown-json.ts';

const page = readPage('docs/service-accounts.md');
const blocks = shellBlocks(page);

test('each block works as it stands, and prints what the page shows', async (t) => {
  if (!hasCurl(t)) return;
  await using program = await newProgram();
  const outputs = await outputsOf(blocks, program);
  assert.equal(outputs.length, blocks.length);
  assert.doesNotMatch(outputs.join(''), /\/problems\//);
  const shown = shownJson(page, blocks);
  assert.equal(shown.length, 5);
  for (const [index, json] of shown) assertLike(JSON.parse(outputs[index]?.trim() ?? ''), json, blocks[index] ?? '');
  const outputOf = (text: string): string => outputs[blocks.findIndex((block) => block.includes(text))] ?? '';
  assert.match(outputOf('/auth/forward'), /^X-Keyreeve-Account: acc_\w+/im);
  assert.match(outputOf('-X DELETE "$BASE_URL/auth/service-accounts/$TENANT/api-keys'), /^401$/m);
  assert.match(outputOf('"sha256":'), /"nickname":"existing"/);
  assert.match(outputOf('-H "Authorization: Bearer $EXISTING"'), /^200$/m);
  assert.match(outputOf('service-account list'), /^Changed [^]*^Deleted service account acc_\w+\.\n$/m);
});
