/** The table of ASVS requirements is complete, and its rows fit the tags of the tests. `scripts/test.ts` checks that these ran. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readRows, readTaggedFiles, requirements, statuses, unshownRows } from '../../../../scripts/asvs.ts';

const root = new URL('../../../../', import.meta.url).pathname;
const page = readFileSync(`${root}/docs/asvs.md`, 'utf8');
const rows = readRows(page);
const tagged = readTaggedFiles(root);

/** Rows with these statuses rest on tests. The others state why they have none. */
const withTests: readonly string[] = ['shown', 'partly', 'deviation'];
const deviations = ['6.3.3', '10.4.4'];

test('every requirement of levels 1 and 2 is on the page once, and no other requirement is', () => {
  const wanted = [...requirements].filter(([, level]) => level <= 2).map(([id]) => id);
  assert.equal(wanted.length, 253);
  assert.deepEqual(rows.map(({ id }) => id).toSorted(), wanted.toSorted());
});

test('a row that rests on tests has tests with its tag, and the others have none', () => {
  for (const { id, status, how } of rows) {
    assert.equal(tagged.has(id), withTests.includes(status), `${id} is ${status}, with tests: ${tagged.has(id)}`);
    assert.match(how, /^.{3,}\.$/, id);
    if (status === 'documented') assert.match(how, /\]\(/, `${id} names no page`);
  }
});

test('every tag belongs to a row', () => {
  const ids = new Set(rows.map(({ id }) => id));
  assert.deepEqual(
    [...tagged.keys()].filter((id) => !ids.has(id)),
    [],
  );
});

test('the page states the correct number of rows of each status', () => {
  const counts = statuses.map((each) => `${rows.filter(({ status }) => status === each).length} ${each}`);
  assert.ok(page.includes(`\n${counts.join(', ')}.\n`), counts.join(', '));
});

test('only two requirements are not met on purpose', () => {
  const found = rows.filter(({ status }) => status === 'deviation').map(({ id }) => id);
  assert.deepEqual(found, deviations);
});

test('a tag of a file of which no test passed is reported', () => {
  const requirement = '1.1.1';
  const files = new Map([[requirement, ['a.test.ts', 'b.test.ts']]]);
  const passed = (file: string, tag: string): string => `${JSON.stringify({ file, tags: [tag] })}\n`;
  const tag = 'asvs:' + requirement;
  assert.deepEqual(unshownRows(files, passed('a.test.ts', tag) + passed('b.test.ts', tag)), []);
  for (const other of [passed('b.test.ts', 'other'), passed('c.test.ts', tag), '']) {
    assert.deepEqual(unshownRows(files, passed('a.test.ts', tag) + other), [
      `${requirement}: no test with its tag passed in b.test.ts`,
    ]);
  }
});
