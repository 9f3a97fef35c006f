/** The unit tests of the alert rules pass, and fail for mutants of the rules. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { newTempFolder } from '../../test-kit/temp-folder.ts';
import { alerts, promtool, unitTests, type Alert } from './alert-rules.ts';

/** Each alert alone, with only its unit tests, so that a run takes a fraction of a second. */
function runAlone(t: TestContext, name: string, rule: string): { status: number | null; output: string } | undefined {
  using temp = newTempFolder();
  const { head, cases } = unitTests;
  const own = cases.filter((text) => text.includes(`alertname: ${name}\n`));
  writeFileSync(join(temp.path, 'rules.test.yml'), head + own.join(''));
  const rulesHead = 'groups:\n  - name: keyreeve\n    rules:\n';
  writeFileSync(join(temp.path, 'rules.yml'), rule === '' ? 'groups: []\n' : rulesHead + rule);
  return promtool(t, 'test', 'rules', join(temp.path, 'rules.test.yml'));
}

/** The rule with another threshold, another time until it fires, or without its expression: what a careless edit does. */
function mutantsOf({ text }: Alert): Record<string, string> {
  const thresholds = [...text.matchAll(/(?<= (?:>|<|==) )[\d.]+/g)];
  const mutants = thresholds.flatMap(({ index, 0: threshold }) =>
    (Number(threshold) === 0 ? [-1, 3] : [Number(threshold) * 0.6, Number(threshold) * 1.7]).map((other) => [
      `threshold ${threshold} at ${index} as ${other}`,
      text.slice(0, index) + String(other) + text.slice(index + threshold.length),
    ]),
  );
  const later = text.replace(/^( {8}for: )\w+$/m, '$130d');
  // `for: 0m` means the same as no `for`.
  const atOnce = text.replace(/^ {8}for: (?!0m$)\w+\n/m, '');
  if (atOnce !== text) mutants.push(['without for', atOnce]);
  return Object.fromEntries([['deleted', ''], ['later', later], ...mutants]);
}

test('the unit tests of each alert pass, and fail without it, with another threshold, without `for`, and if it fires much later', (t) => {
  const undetected: string[] = [];
  for (const alert of alerts) {
    const { name, text } = alert;
    const unchanged = runAlone(t, name, text);
    if (!unchanged) return;
    assert.equal(unchanged.status, 0, unchanged.output);
    for (const [mutant, changed] of Object.entries(mutantsOf(alert)))
      if (runAlone(t, name, changed)?.status !== 1) undetected.push(`${name}: ${mutant}`);
  }
  assert.deepEqual(undetected, []);
});
