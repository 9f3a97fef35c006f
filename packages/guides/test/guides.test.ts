/** The guides have each page of the documents, in one navigation, with links that lead somewhere, and can be searched. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { after, test } from 'node:test';
import MiniSearch from 'minisearch';
import { builds } from '../../server/bin/build-stamp.js';
import { findPages, searchOptions } from '../src/browser/search-terms.ts';
import { readDocuments } from '../src/documents.ts';
import { navigationOf } from '../src/navigation.ts';
import { newSite, targetsIn } from './built-site.ts';

const root = join(import.meta.dirname, '../../..');
const documents = readDocuments(root, false);
const navigation = navigationOf(documents);
const sites = { service: newSite('service'), files: newSite('files') } as const;
after(() => {
  for (const site of Object.values(sites)) site[Symbol.dispose]();
});
const index = MiniSearch.loadJSON(sites.service.files.get('assets/0/search.json') ?? '', searchOptions) as MiniSearch;

test('the navigation has each page for users and operators once', () => {
  const pages = globSync('docs/**/*.md', { cwd: root })
    .filter((path) => !path.startsWith('docs/decisions/'))
    .map((path) => documents.get(path)?.name ?? path);
  assert.ok(pages.length > 50);
  const entries = navigation.flatMap((group) => group.entries).filter(({ anchor }) => anchor === '');
  const counts = Map.groupBy(entries, ({ name }) => name);
  assert.deepEqual(
    pages.filter((name) => counts.get(name)?.length !== 1),
    [],
  );
  for (const { title, entries: own } of navigation) assert.ok(title !== '' && own.length > 0, title);
});

const anchors = (html: string): string[] => [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id);

test('every link of the guides and the API reference leads to a page and a place in it, or to a file', () => {
  for (const [kind, { files }] of Object.entries(sites)) {
    const pages = [...files].filter(([name]) => name.endsWith('.html'));
    assert.ok(pages.length > 70);
    const broken = pages.flatMap(([name, html]) =>
      targetsIn(html).filter((target) => {
        const [path = '', anchor] = target.split('#');
        const place = path === '' ? name : fileAt(files, kind, name, path);
        return place === undefined || (anchor !== undefined && !anchors(files.get(place) ?? '').includes(anchor));
      }),
    );
    assert.deepEqual(broken, [], kind);
  }
});

test('every link of the alerts and the dashboard leads to a place in the guides of the service', () => {
  const { files } = sites.service;
  for (const [path, count] of [
    ['ops/prometheus/rules.yml', 20],
    ['ops/grafana/keyreeve.json', 1],
  ] as const) {
    const text = readFileSync(join(root, path), 'utf8');
    const links = [...text.matchAll(/https:\/\/auth\.example\.com(\/[^\s"']*)/g)].map(([, link = '']) => link);
    assert.ok(links.length >= count, path);
    const broken = links.filter((link) => {
      const [, name = '', anchor = ''] = /^\/docs\/([\w/-]+)#([\w-]+)$/.exec(link) ?? [];
      return !anchors(files.get(`${name}.html`) ?? '').includes(anchor);
    });
    assert.deepEqual(broken, [], path);
  }
});

/** @returns the name of the file to which a link leads */
function fileAt(files: ReadonlyMap<string, string>, kind: string, from: string, path: string): string | undefined {
  // The pages of a service are below /docs, and the OpenAPI document beside them.
  const base =
    kind === 'service'
      ? from === 'index.html'
        ? '/'
        : `/docs/${posix.dirname(from)}`
      : posix.join('/', posix.dirname(from));
  const url = posix.join(base, path);
  if (kind !== 'service') return files.has(url.slice(1)) ? url.slice(1) : undefined;
  if (url === '/docs') return 'index.html';
  if (url === '/openapi.json') return 'licences.txt';
  const name = url.slice('/docs/'.length);
  return [`${name}.html`, name].find((one) => files.has(one));
}

test('the guides of a service do not name the releases of the program, and the site does', () => {
  const upgrade = (kind: keyof typeof sites): string => sites[kind].files.get('upgrade.html') ?? '';
  assert.ok(sites.files.files.has('changelog.html') && upgrade('files').includes('id="schemas-of-the-releases"'));
  assert.ok(!sites.service.files.has('changelog.html') && !upgrade('service').includes('schemas-of-the-releases'));
  assert.ok(upgrade('service').includes('Read Before you upgrade (<code>CHANGELOG.md</code>).'));
});

test('a page runs and loads only files of the build', { tags: ['asvs:3.7.1'] }, () => {
  for (const [name, html] of sites.service.files) {
    if (!name.endsWith('.html')) continue;
    assert.doesNotMatch(html, /<(?:style|img|iframe|object|embed|base|video|audio|source)\b|\sstyle="/i, name);
    assert.doesNotMatch(html, /<[^>]*\son\w+\s*=|javascript:/i, name);
    const loaded = [...html.matchAll(/<(?:script|link)\b[^>]*\s(?:src|href)="([^"]+)"/g)].map(([, url = '']) => url);
    assert.deepEqual(
      loaded.map((url) => posix.basename(url)),
      ['icon.svg', 'guides.css', 'guides.js'],
      name,
    );
    for (const url of loaded) assert.match(url, /^(?:docs\/|(?:\.\.\/)*)assets\/0\//);
  }
});

test('every document is an input of the build', () => {
  for (const { path } of documents.values()) {
    const fromPackages = path.startsWith('packages/') ? path.slice('packages/'.length) : `../${path}`;
    const inputs = builds.guides.inputs.filter(
      (input) => fromPackages === input || fromPackages.startsWith(`${input}/`),
    );
    assert.notDeepEqual(inputs, [], `${path} is an input`);
  }
});

/** Questions, and a part of the name of a page that answers each. */
const questions: readonly (readonly [question: string, page: RegExp])[] = [
  ['how do I upgrade?', /^upgrade$/],
  ['what if the database is down?', /^postgresql$/],
  ['1,000 requests a day per customer?', /^(?:api-keys|limits)$/],
  ['Flask', /^tutorials\/flask$/],
  ['gin', /^tutorials\/gin$/],
  ['gRPC', /^tutorials\/grpc$/],
  ['WebSockets', /^open-connections$/],
  ['how large a machine', /^size$/],
  ['a key leaked', /^leaks$/],
  ['keys for your customers from your own dashboard', /^(?:service-accounts|key-page)$/],
  ['embed the keys in my product', /key-page$/],
  ['Next.js', /key-page$/],
  ['nginx', /^forward-auth$/],
  ['overloaded', /^api\/errors$/],
  ['rotate', /^api-keys$/],
  ['lost second factor', /^second-factor$/],
  ['https certificate', /^(?:deploy|operating)$/],
  ['delete a user', /^(?:accounts|administration)$/],
  ['add a second instance', /^cluster$/],
  ['change the port', /^(?:configuration|deploy)$/],
  ['forgot admin password', /^(?:accounts|administration)$/],
];
for (const [question, page] of questions)
  test(`the search finds the page for “${question}” among the first three`, () => {
    const names = findPages(index, question, 3).map(({ href }) => href.replace(/#.*/, ''));
    assert.ok(
      names.some((name) => page.test(name)),
      names.join(', '),
    );
  });

test('the search finds nothing for words that no page has', () => {
  assert.deepEqual(findPages(index, 'xylophone qqq', 3), []);
});

test('every place that the search finds exists', () => {
  const names = new Set(findPages(index, 'key account service api', 1_000).map(({ href }) => href.replace(/#.*/, '')));
  assert.ok(names.size > 40);
  for (const name of names)
    assert.ok(
      name === '../docs' || sites.service.files.has(`${name}.html`) || existsSync(join(sites.service.path, name)),
      name,
    );
});
