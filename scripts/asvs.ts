/**
 * The page `docs/asvs.md`: which requirement of OWASP ASVS 5.0.0 is met how. A row is `| numbers | how |`; the rows of its last
 * table of requirements are those that do not apply. A test shows a requirement if it has its tag, such as `'asvs:6.2.4'`.
 */
import { globSync, readFileSync } from 'node:fs';
import type { PassedTest } from './passed-tests.ts';

export const statuses = ['shown', 'partly', 'documented', 'absent', 'not built', 'n/a', 'deviation'] as const;
export type Status = (typeof statuses)[number];

export interface Row {
  readonly id: string;
  readonly status: Status;
  /** How the requirement is met, or the reason why it does not apply. */
  readonly how: string;
}

/** The requirements of each section, by the level of each, in order: section 1.2 has five of level 1, four of 2, one of 3. */
const levels = `
  1.1 22, 1.2 1111122223, 1.3 112222222223, 1.4 222, 1.5 123
  2.1 122, 2.2 112, 2.3 12223, 2.4 23
  3.1 3, 3.2 113, 3.3 12223, 3.4 11222233, 3.5 11122333, 3.6 3, 3.7 22333
  4.1 12233, 4.2 23333, 4.3 22, 4.4 1222
  5.1 2, 5.2 112333, 5.3 113, 5.4 222
  6.1 122, 6.2 111111112222, 6.3 11223333, 6.4 112233, 6.5 22222333, 6.6 2223, 6.7 33, 6.8 2222
  7.1 222, 7.2 1111, 7.3 22, 7.4 11222, 7.5 223, 7.6 22
  8.1 1233, 8.2 1123, 8.3 133, 8.4 23
  9.1 111, 9.2 1222
  10.1 22, 10.2 223, 10.3 22223, 10.4 1111122222233333, 10.5 22222, 10.6 22, 10.7 222
  11.1 2233, 11.2 22233, 11.3 11233, 11.4 1222, 11.5 23, 11.6 23, 11.7 33
  12.1 12233, 12.2 11, 12.3 22223
  13.1 2333, 13.2 222223, 13.3 2233, 13.4 1222233
  14.1 22, 14.2 12223333, 14.3 122
  15.1 12233, 15.2 12233, 15.3 1222222, 15.4 3333
  16.1 2, 16.2 22222, 16.3 2222, 16.4 222, 16.5 2223
  17.1 23, 17.2 22223333, 17.3 22
`;

/** Number → level, of all 345. */
export const requirements: ReadonlyMap<string, number> = new Map(
  [...levels.matchAll(/([\d.]+) (\d+)/g)].flatMap(([, section, each = '']) =>
    [...each].map((level, index): [string, number] => [`${section}.${index + 1}`, Number(level)]),
  ),
);

const rowLine = /^((?:\d+\.\d+\.\d+ )+)\| ([^|\n]*)$/gm;

/** The status that a row begins with, such as “Partly: …”. */
const statusOf = (how: string, fallback: Status): Status =>
  statuses.find((status) => how.toLowerCase().startsWith(`${status}: `)) ?? fallback;

export function readRows(page: string): Row[] {
  const [applying = '', others = ''] = page.split('\n## Requirements that do not apply\n');
  return [...rowsOf(applying, 'shown'), ...rowsOf(others, 'n/a')];
}

const rowsOf = (text: string, fallback: Status): Row[] =>
  [...text.matchAll(rowLine)].flatMap(([, ids = '', how = '']) =>
    ids
      .trim()
      .split(' ')
      .map((id) => ({ id, status: statusOf(how, fallback), how })),
  );

/** Number of the requirement → the test files with its tag, in order. */
export type TaggedFiles = ReadonlyMap<string, readonly string[]>;

/**
 * @param root the repository
 * @param files relative to it. Default: all tests
 */
export function readTaggedFiles(root: string, files = testFiles(root)): TaggedFiles {
  const found = new Map<string, string[]>();
  for (const file of files) {
    const ids = [...readFileSync(`${root}/${file}`, 'utf8').matchAll(/'asvs:([\d.]+)'/g)].map(([, id = '']) => id);
    for (const id of new Set(ids)) found.set(id, [...(found.get(id) ?? []), file]);
  }
  return found;
}

const testFiles = (root: string): readonly string[] =>
  globSync('packages/**/*.test.ts', { cwd: root, exclude: ['**/node_modules/**'] }).toSorted();

/** @param passed what `passed-tests.ts` wrote @returns an error for each tag of a file of which no test passed */
export function unshownRows(tagged: TaggedFiles, passed: string): string[] {
  const lines = passed.split('\n').filter((line) => line !== '');
  const tests = lines.map((line) => JSON.parse(line) as PassedTest);
  const known = new Set(tests.flatMap(({ file, tags }) => tags.map((tag) => `${file} ${tag}`)));
  return [...tagged].flatMap(([id, files]) =>
    files
      .filter((file) => !known.has(`${file} asvs:${id}`))
      .map((file) => `${id}: no test with its tag passed in ${file}`),
  );
}
