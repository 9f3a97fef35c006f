/** Writes the site: pages, the files that they link, the index of the search, and what the browser loads. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import MiniSearch from 'minisearch';
import { allRoutes, openApiDocument } from '@keyreeve/contract';
import { Html } from '../../server/src/http/html.ts';
import { searchOptions } from './browser/search-terms.ts';
import { readDocuments } from './documents.ts';
import { guidePages } from './guide-pages.ts';
import { navigationOf, type Group } from './navigation.ts';
import { parts as frame } from './parts.ts';
import { referenceGroup, referenceName, referencePages } from './reference.ts';
import type { LinkTo, SitePage } from './site-page.ts';

/** `service`: paths such as `/docs/mail`. `files`: a folder for any web server, with paths such as `mail.html`. */
export type SiteKind = 'service' | 'files';

/** A service replaces the 0 by a hash of all files. */
export const assetsName = 'assets/0';
const openApiName = `${referenceName}/openapi.json`;

/**
 * @param folder an existing one
 * @throws Error if a link leads nowhere, README.md has no table of tasks, or a file cannot be written
 */
export function writeSite(root: string, folder: string, kind: SiteKind): void {
  const documents = readDocuments(root, kind === 'files');
  const pages = [...guidePages(documents), ...referencePages(kind === 'service' ? '../openapi.json' : openApiName)];
  const groups = [...navigationOf(documents), referenceGroup()];
  const files = [...documents.values()].filter((document) => document.kind === 'file');
  const linksFrom = linksOf(kind, new Set(pages.map(({ name }) => name)));
  const write = (name: string, content: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  for (const page of pages) write(fileOf(page.name), htmlOf(page, groups, linksFrom(page.name)));
  for (const { path, name } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    copyFileSync(join(root, path), join(folder, name));
  }
  if (kind === 'files') write(openApiName, JSON.stringify(openApiDocument(allRoutes)));
  write(`${assetsName}/search.json`, JSON.stringify(indexOf(pages, groups, linksFrom('x'))));
}

const fileOf = (name: string): string => `${name === '' ? 'index' : name}.html`;

/** Links are relative, so that the site works below any path. */
function linksOf(kind: SiteKind, pages: ReadonlySet<string>): (from: string) => LinkTo {
  const pathOf = (name: string): string => {
    if (kind === 'service') return name === '' ? '/docs' : `/docs/${name}`;
    return `/${pages.has(name) ? fileOf(name) : name}`;
  };
  return (from) =>
    (name, anchor = '') => {
      const [start, end] = [pathOf(from), pathOf(name)];
      const folder = posix.relative(posix.dirname(start), posix.dirname(end));
      return posix.join(folder, posix.basename(end)) + (anchor === '' ? '' : `#${anchor}`);
    };
}

function htmlOf(page: SitePage, groups: readonly Group[], linkTo: LinkTo): string {
  return frame.page({
    title: page.name === '' ? `${page.title}: documentation` : `${page.title} · Keyreeve`,
    assets: `${linkTo(assetsName)}/`,
    start: linkTo(''),
    groups: groups.map((group) => groupOf(group, page, linkTo)),
    content: page.content(linkTo),
  }).text;
}

/** Only the group of the page is open. */
function groupOf({ title, entries }: Group, page: SitePage, linkTo: LinkTo): Html {
  const isCurrent = entries.some(({ name, anchor }) => name === page.name && anchor === '');
  return frame.group({
    title,
    open: new Html(isCurrent ? 'open' : ''),
    entries: entries.map(({ label, name, anchor }) => {
      const isPage = name === page.name && anchor === '';
      return frame.entry({
        label,
        href: linkTo(name, anchor),
        current: new Html(isPage ? 'aria-current="page"' : ''),
        sections: isPage && page.sections.length > 1 ? sectionsOf(page) : '',
      });
    }),
  });
}

const sectionsOf = ({ sections }: SitePage): Html =>
  frame.sections({
    entries: sections.map(({ anchor, title }) =>
      frame.entry({ label: title, href: `#${anchor}`, current: '', sections: '' }),
    ),
  });

/**
 * @param linkTo from a page in the folder where the script finds the pages
 */
function indexOf(pages: readonly SitePage[], groups: readonly Group[], linkTo: LinkTo): MiniSearch {
  const tasks = Map.groupBy(
    groups.flatMap(({ entries }) => entries),
    ({ name, anchor }) => linkTo(name, anchor),
  );
  const texts = pages
    .flatMap(({ name, title, texts: parts }) =>
      parts.map(({ anchor, ...part }) => ({ href: linkTo(name, anchor), title, ...part })),
    )
    .map((part, id) => ({ id, ...part, task: (tasks.get(part.href) ?? []).map(({ task }) => task).join(' ') }));
  const index = new MiniSearch(searchOptions);
  index.addAll(texts);
  return index;
}
