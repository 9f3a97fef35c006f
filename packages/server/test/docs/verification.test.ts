/** The code blocks of docs/verification.md, run in order after those of the README, print what the page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCurl } from './curl-program.ts';
import { runPage } from './shell-blocks.ts';

const withoutNumbers = (text: string): string => text.replaceAll(/(?<!\w)\d+/g, 'n');
/** The first response that a block shows, with any text for "…". */
function shownBy(block: string): RegExp | undefined {
  const [, shown] = /^# (.*)$/m.exec(block) ?? [];
  if (shown === undefined) return undefined;
  return new RegExp(
    `^${withoutNumbers(shown)
      .replaceAll(/[[\]{}.]/g, String.raw`\$&`)
      .replaceAll('…', '.*')}$`,
  );
}

test('each block works as it stands, and prints the first response that the page shows', async (t) => {
  if (!hasCurl(t)) return;
  const { blocks, outputs } = await runPage('docs/verification.md');
  let shown = 0;
  for (const [index, block] of blocks.entries()) {
    const pattern = shownBy(block);
    if (!pattern) continue;
    shown++;
    assert.match(withoutNumbers((outputs[index] ?? '').trim()), pattern, block);
  }
  assert.ok(shown >= 5);
  const limited = outputs.filter((output) => output.includes('"limits"'));
  assert.deepEqual(
    limited.map((output) => /"remaining":(\d+)/.exec(output)?.[1]),
    ['2', '2'],
  );
});
