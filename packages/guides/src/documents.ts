/**
 * The documents of the guides: README.md and what it leads to, by any number of links. Markdown becomes a page, a folder becomes a list of
 * its files, and other files are published as they are.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { withSecurityContact } from '../../../scripts/package-repository.ts';
import { linksIn, sectionsOf, tokensOf, wordsOf, type Section } from './markdown.ts';

export interface Document {
  /** In the repository, such as `docs/mail.md`. */
  readonly path: string;
  readonly kind: 'page' | 'folder' | 'file';
  /** In the guides, such as `mail`; empty for the start page. */
  readonly name: string;
  /** Of a page or folder. */
  readonly title: string;
  /** Of a page. */
  readonly sections: readonly Section[];
  /** Of a folder. */
  readonly files: readonly string[];
}

export const startPath = 'README.md';
/** For readers of the repository. */
const leftSections = ['Test'];
/** These name the newest release: a service does not tell strangers its version (ASVS 13.4.6). */
const versions = { document: 'CHANGELOG.md', section: 'Schemas of the releases' } as const;

/**
 * By path.
 * @param hasVersions whether it has what names the releases of the program
 * @throws Error if a link leads to no file
 */
export function readDocuments(root: string, hasVersions: boolean): ReadonlyMap<string, Document> {
  const documents = new Map<string, Document>();
  const add = (path: string): void => {
    if (documents.has(path) || (!hasVersions && isLeft(path))) return;
    const read = readDocument(root, path);
    const sections = read.sections.filter(({ heading }) => hasVersions || wordsOf(heading) !== versions.section);
    const document = { ...read, sections };
    documents.set(path, document);
    for (const file of document.files) add(file);
    for (const { tokens } of document.sections)
      for (const { target } of linksIn(tokens)) add(placeOf(path, target).path);
  };
  add(startPath);
  const names = Map.groupBy(documents.values(), ({ name }) => name);
  for (const [name, [one, other]] of names)
    if (one && other) throw new Error(`${one.path} and ${other.path} have the same name: ${name}`);
  return documents;
}

/** Whether a service lacks the document, so that a link to it is only its text and the name of the file. */
export const isLeft = (path: string): boolean => path === versions.document;

/** @param from a path in the repository. @returns the path there, and the anchor, of a link */
export function placeOf(from: string, target: string): { readonly path: string; readonly anchor: string } {
  const [path = '', anchor = ''] = target.split('#');
  const place = path === '' ? from : posix.join(posix.dirname(from), path).replace(/\/$/, '');
  return { path: place, anchor };
}

function readDocument(root: string, path: string): Document {
  const name = nameOf(path);
  const empty = { path, name, title: posix.basename(path), sections: [], files: [] };
  if (statSync(join(root, path)).isDirectory()) {
    const files = readdirSync(join(root, path), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => posix.join(path, entry.parentPath.slice(join(root, path).length), entry.name));
    return { ...empty, kind: 'folder', files: files.toSorted() };
  }
  if (!path.endsWith('.md')) return { ...empty, kind: 'file' };
  const sections = shownSections(
    path,
    sectionsOf(tokensOf(withSecurityContact(readFileSync(join(root, path), 'utf8')))),
  );
  const title = wordsOf(sections.find(({ depth, anchor }) => depth === 1 && anchor !== '')?.heading ?? []);
  if (title === '') throw new Error(`${path} has no title`);
  return { ...empty, kind: 'page', title, sections };
}

/** The start page begins with the table of all pages, after its introduction. */
function shownSections(path: string, sections: readonly Section[]): readonly Section[] {
  if (path !== startPath) return sections;
  const shown = sections.filter(({ heading }) => !leftSections.includes(wordsOf(heading)));
  const isTable = ({ depth, tokens }: Section): boolean => depth === 2 && tokens.some(({ type }) => type === 'table');
  const first = shown.findIndex(({ depth }) => depth === 2);
  const [introduction, rest] = [shown.slice(0, first), shown.slice(first)];
  return [...introduction, ...rest.filter(isTable), ...rest.filter((section) => !isTable(section))];
}

const nameOf = (path: string): string =>
  path.endsWith('.md')
    ? path
        .replace(/^docs\//, '')
        .replace(/(?:^|\/)README\.md$|\.md$/, '')
        .toLowerCase()
    : path.replace(/^docs\//, '');
