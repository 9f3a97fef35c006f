/** The table of ASVS requirements is whole, and every test that it names exists. That they ran, `scripts/test.ts` checks. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readRows, requirements, statuses, unshownRows, withoutDatabase } from '../../../../scripts/asvs.ts';

const root = new URL('../../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const page = read('docs/asvs.md');
const rows = readRows(page);

/** Which statuses stand on tests, and which say that there is none. */
const withTests: readonly string[] = ['shown', 'partly', 'deviation'];
const deviations = ['6.3.3', '10.4.4'];

/** Of each template in a text, what any of its values matches: `${…}` is anything. */
function templatesOf(text: string): RegExp[] {
  const found: RegExp[] = [];
  for (const { index } of text.matchAll(/\(\s*`/g)) {
    let at = text.indexOf('`', index) + 1;
    let pattern = '';
    while (at < text.length && text[at] !== '`') {
      if (!text.startsWith('${', at)) pattern += RegExp.escape(text[at++] ?? '');
      else {
        let depth = 0;
        do {
          if (text[at] === '{') depth++;
          if (text[at] === '}') depth--;
          at++;
        } while (depth > 0 || text[at - 1] === '$');
        pattern += '.*';
      }
    }
    found.push(new RegExp(`^${pattern}$`));
  }
  return found;
}

const isNamed = (text: string, name: string): boolean =>
  [`'${name}'`, `"${name}"`, `\`${name}\``].some((literal) => text.includes(literal)) ||
  templatesOf(text).some((template) => template.test(name) || template.test(`${name} (sqlite)`));

test('every requirement of levels 1 and 2 has one row, in order, and nothing else has', () => {
  const wanted = [...requirements].filter(([, level]) => level <= 2);
  assert.equal(wanted.length, 253);
  assert.deepEqual(
    rows.map(({ id, level }) => [id, level]),
    wanted,
  );
});

test('a row that is shown names tests, one that is not says why', () => {
  for (const { id, status, how, tests } of rows) {
    assert.ok((statuses as readonly string[]).includes(status), `${id}: ${status}`);
    assert.equal(tests.length > 0, withTests.includes(status), `${id} is ${status}, with ${tests.length} tests`);
    assert.match(how, /^.{3,}\.$/, id);
    if (status === 'documented') assert.match(how, /\]\(/, `${id} names no page`);
  }
});

test('the page counts its rows rightly', () => {
  const counts = statuses.map((each) => `${rows.filter(({ status }) => status === each).length} ${each}`);
  assert.ok(page.includes(`\n${counts.join(', ')}. `), counts.join(', '));
});

test('two requirements are not met on purpose', () => {
  const found = rows.filter(({ status }) => status === 'deviation').map(({ id }) => id);
  assert.deepEqual(found, deviations);
});

test('every test that a row names is in the file that it names', () => {
  const named = rows.flatMap(({ id, tests }) => tests.map((each) => ({ id, ...each })));
  assert.ok(named.length > 200, 'names are found');
  const missing = named.filter(
    ({ file, name }) => !existsSync(new URL(file, root)) || !isNamed(read(file), withoutDatabase(name)),
  );
  assert.deepEqual(missing, []);
});

test('a name that no test has is noticed', () => {
  const text = "test('one of these', () => {});\ntest(`another: ${of.map(({ a }) => `${a}`)} it is`, () => {});";
  for (const name of ['one of these', 'another: x it is']) assert.ok(isNamed(text, name), name);
  for (const name of ['one of', 'another: x', 'none of these']) assert.ok(!isNamed(text, name), name);
});

test('a test that a row names and that didn’t pass, or is another file’s, is told', () => {
  const sample = '| 1.1.1 | 2 | shown | How. | `a/b.test.ts` “one: x”; `a/b.test.ts` “two” |';
  const passed = (...names: string[]): string =>
    names.map((name) => `${JSON.stringify({ file: 'packages/server/a/b.test.ts', name })}\n`).join('');
  assert.deepEqual(unshownRows(sample, passed('one: x (sqlite)', 'one: x (postgres)', 'two')), []);
  assert.deepEqual(unshownRows(sample, passed('one: x')), [
    '1.1.1 names packages/server/a/b.test.ts “two”, which didn’t run and pass',
  ]);
  assert.equal(unshownRows(sample.replaceAll('a/b', 'a/c'), passed('one: x', 'two')).length, 2);
});
