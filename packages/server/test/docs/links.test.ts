/** Links between pages and pages that comments name lead to existing files, and README.md leads to every page. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { test } from 'node:test';
import { anchorOf } from '../../../guides/src/markdown.ts';
import { root, texts } from './tree.ts';

const pages = [...texts].filter(([path]) => /^(?:[^/]+|(?:docs|bench|ops)\/.*)\.md$/.test(path));
const sources = [...texts].filter(([path]) => /^(?:packages\/[^/]+\/src|bench|scripts)\/.*\.[jt]s$/.test(path));
const textOf = (path: string): string => texts.get(path) ?? '';

/** Text that is shown as it is holds no links. */
const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');

const anchorsOf = (text: string): string[] =>
  [...text.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));

interface Link {
  readonly from: string;
  readonly path: string;
  readonly anchor: string | undefined;
}

/** Those to places in the repository. */
const linksOf = ([from, text]: readonly [path: string, text: string]): Link[] =>
  [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { from, path: path === '' ? from : posix.join(posix.dirname(from), path), anchor };
    });

test('every link between the pages leads to an existing file and heading', () => {
  const links = pages.flatMap(linksOf);
  assert.ok(links.length > 20, 'links are found');
  assert.ok(links.some(({ anchor }) => anchor !== undefined));
  const broken = links.filter(
    ({ path, anchor }) =>
      !existsSync(posix.join(root, path)) || (anchor !== undefined && !anchorsOf(textOf(path)).includes(anchor)),
  );
  assert.deepEqual(broken, []);
});

test('README.md links every page of docs/, and the decisions by their index', () => {
  const linked = new Set(linksOf(['README.md', textOf('README.md')]).map(({ path }) => path));
  const missing = pages
    .map(([path]) => path)
    .filter((path) => path.startsWith('docs/') && !/^docs\/decisions\/\d/.test(path) && !linked.has(path));
  assert.deepEqual(missing, []);
});

test('every page that a comment names exists', () => {
  const named = sources.flatMap(([path, text]) =>
    [...text.matchAll(/\/\*[^]*?\*\/|\/\/.*/g)].flatMap(([comment]) =>
      [...comment.matchAll(/\b(?:docs|bench)\/[\w./-]+\.md\b/g)].map(([page]) => ({ path, page })),
    ),
  );
  assert.ok(named.length > 0, 'names are found');
  assert.deepEqual(
    named.filter(({ page }) => !existsSync(posix.join(root, page))),
    [],
  );
});
