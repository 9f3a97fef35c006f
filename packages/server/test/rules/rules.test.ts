/** The house rules hold in the whole tree, and each of them can fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { rules } from './rules.ts';
import { samples } from './samples.ts';
import { readTree, toSource } from './source.ts';

const tree = readTree(fileURLToPath(new URL('../../../../', import.meta.url)));
type RuleName = keyof typeof rules;
const names = Object.keys(rules) as RuleName[];

/** One line for each violation: the file, the rule, and what was found. */
const violations = (name: RuleName, files: typeof tree): string[] =>
  rules[name](files).map(({ path, detail }) => `${path} breaks “${name}”: ${detail}`);

const toFiles = (sample: Readonly<Record<string, string>>): typeof tree =>
  Object.entries(sample).map(([path, text]) => toSource(path, text));

test('the tree is there to be looked at', () => {
  for (const path of [
    'README.md',
    'package-lock.json',
    'packages/server/src/app/service.ts',
    'packages/contract/src/index.ts',
  ]) {
    assert.ok(
      tree.some((file) => file.path === path),
      path,
    );
  }
});

for (const name of names) {
  test(
    `house rule: ${name}`,
    {
      tags: [
        'asvs:1.2.4',
        'asvs:1.2.5',
        'asvs:1.3.2',
        'asvs:6.5.3',
        'asvs:7.2.3',
        'asvs:11.5.1',
        'asvs:15.1.2',
        'asvs:15.2.3',
      ],
    },
    () => assert.deepEqual(violations(name, tree), []),
  );

  test(`house rule can fail: ${name}`, () => {
    assert.ok(samples[name].bad.length > 0 && samples[name].good.length > 0);
    for (const bad of samples[name].bad) {
      const [line] = violations(name, toFiles(bad));
      assert.ok(line, `not noticed: ${JSON.stringify(bad)}`);
      assert.ok(line.includes(name) && Object.keys(bad).some((path) => line.startsWith(`${path} `)), line);
    }
    for (const good of samples[name].good) assert.deepEqual(violations(name, toFiles(good)), [], JSON.stringify(good));
  });
}

test('comments and strings are told from code, in every form', () => {
  const { code, bare, comments, strings } = toSource(
    'a.ts',
    [
      `/* one */ const a = 'two // not a comment';`,
      'const b = `three ${call(`four ${"five"} six`, { x: 1 })} seven`; // eight',
      'const c = /["\'`/*]/.test(a) ? a / b : c / 2;',
      String.raw`const d = 'it\'s'; const e = "\\"; f();`,
    ].join('\n'),
  );
  assert.deepEqual(
    strings.map((text) => text.trim()).filter((text) => text !== ''),
    ['two // not a comment', 'three', 'four', 'five', 'six', 'seven', `["'\`/*]/`, String.raw`it\'s`, String.raw`\\`],
  );
  assert.equal(comments, '/* one */\n// eight');
  assert.ok(code.includes('two // not a comment') && !code.includes('eight'));
  for (const word of ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'it'])
    assert.ok(!bare.includes(word), word);
  for (const word of ['call(', 'x: 1', '.test(a)', 'a / b', 'c / 2', 'f();']) assert.ok(bare.includes(word), word);
});
