/** The code blocks of docs/api-keys.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProgram } from '../e2e/program.ts';
import { hasCurl } from './curl-program.ts';
import { outputsOf, readPage, shellBlocks } from './shell-blocks.ts';
import { assertLike, shownJson } from './shown-json.ts';

const page = readPage('docs/api-keys.md');
const blocks = shellBlocks(page);
const shown = shownJson(page, blocks);

test('each block works as it stands, and prints what the page shows', async (t) => {
  if (!hasCurl(t)) return;
  await using program = await newProgram();
  const outputs = await outputsOf(blocks, program);
  assert.equal(outputs.length, blocks.length);
  assert.doesNotMatch(outputs.join(''), /\/problems\//);
  assert.ok(shown.length >= 3);
  for (const [index, json] of shown) {
    const block = blocks[index] ?? '';
    assertLike(JSON.parse(outputs[index]?.trim() ?? ''), json, block);
  }
  const outputOf = (text: string): string => outputs[blocks.findIndex((block) => block.includes(text))] ?? '';
  assert.equal(outputOf('/auth/forward').trim(), '200');
  // The last use of the key, if the server has written it before the rotation.
  assert.match(outputOf('member previous.lastUsedAt').trim(), /^(?:null|\d{4}-\d\d-\d\dT[\d:.]+Z)$/);
  assert.match(outputOf('/previous"'), /has ended/);
  assert.match(outputOf('member quotaUse').trim(), /^\{ used: \d+, resetsAt: '\d{4}-\d\d-01T00:00:00\.000Z' \}$/);
  const exceeded = /^HTTP\/1\.1 429 [^]*?(?=\n```)/m.exec(page)?.[0] ?? '';
  const headers = [...outputOf('Retry').matchAll(/^(?:HTTP|RateLimit|Retry).*/gm)].map(([line]) => line.trim());
  assert.equal(withoutSeconds(headers.join('\n')), withoutSeconds(exceeded));
  assert.match(outputOf('key delete'), /^Changed [^]*^Rotated [^]*^Ended [^]*^Deleted API key \d+\.\n$/m);
});

/** The wait is one second shorter on a slow machine. */
const withoutSeconds = (text: string): string => text.replaceAll(/(?<=After: |t=)\d+/g, '');
