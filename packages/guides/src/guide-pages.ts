/** The pages of the documents. */
import { posix } from 'node:path';
import { Html } from '../../server/src/http/html.ts';
import { isLeft, placeOf, startPath, type Document } from './documents.ts';
import { htmlOf, wordsOf, type Section } from './markdown.ts';
import { isTaskTable } from './navigation.ts';
import { parts } from './parts.ts';
import type { LinkTo, SitePage } from './site-page.ts';

type Documents = ReadonlyMap<string, Document>;

export const guidePages = (documents: Documents): SitePage[] =>
  [...documents.values()].flatMap((document) => {
    if (document.kind === 'file') return [];
    return document.kind === 'folder' ? [folderPage(document, documents)] : [markdownPage(document, documents)];
  });

function markdownPage({ path, name, title, sections }: Document, documents: Documents): SitePage {
  return {
    name,
    title,
    sections: sections
      .filter(({ depth, anchor }) => depth === 2 && anchor !== '')
      .map(({ anchor, heading }) => ({ anchor, title: wordsOf(heading) })),
    content: (linkTo) => new Html(htmlOf(sections, (target) => resolve(documents, { path, target }, linkTo))),
    texts: searchedSections(path, sections)
      .map(({ anchor, heading, depth, tokens }) => ({
        anchor: depth === 1 ? '' : anchor,
        heading: depth === 1 ? '' : wordsOf(heading),
        // The links of that table lead to what the search finds itself.
        text: wordsOf(tokens.filter((token) => !isTaskTable(token))),
      }))
      .filter(({ heading, text }) => heading !== '' || text !== ''),
  };
}

/** The search does not find what is for developers of the service. */
const searchedSections = (path: string, sections: readonly Section[]): readonly Section[] =>
  path === startPath || /^(?:docs\/(?!decisions\/)|packages\/)/.test(path) ? sections : [];

/** @returns undefined for a document that the service lacks @throws Error if the page of the link lacks the anchor */
function resolve(documents: Documents, link: { path: string; target: string }, linkTo: LinkTo): string | undefined {
  const { path, anchor } = placeOf(link.path, link.target);
  const document = documents.get(path);
  if (!document && isLeft(path)) return undefined;
  if (!document || (anchor !== '' && !hasAnchor(document.sections, anchor)))
    throw new Error(`${link.path}: the link ${link.target} leads nowhere`);
  return linkTo(document.name, anchor);
}

const hasAnchor = (sections: readonly Section[], anchor: string): boolean =>
  sections.some((section) => section.anchor === anchor) ||
  sections.some(({ tokens }) => tokens.some(({ raw }) => raw.includes(`<a id="${anchor}">`)));

const folderPage = ({ name, title, path, files }: Document, documents: Documents): SitePage => ({
  name,
  title: `Files in ${title}`,
  sections: [],
  content: (linkTo) =>
    parts.folder({
      title,
      files: files.map((file) =>
        parts.file({ href: linkTo(documents.get(file)?.name ?? ''), label: posix.relative(path, file) }),
      ),
    }),
  texts: [],
});
