/**
 * The navigation: groups of pages by task. Its only source is the table of README.md whose first column is "task". A page is in the first
 * row that links it. Links to a section are further entries.
 */
import type { Token, Tokens } from 'marked';
import { placeOf, startPath, type Document } from './documents.ts';
import { linksIn, wordsOf } from './markdown.ts';

export interface Entry {
  readonly label: string;
  /** How README.md calls it, for the search. */
  readonly task: string;
  /** Of a page. */
  readonly name: string;
  readonly anchor: string;
}

export interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** @throws Error if README.md has no such table */
export function navigationOf(documents: ReadonlyMap<string, Document>): readonly Group[] {
  const tables = documents.get(startPath)?.sections.flatMap(({ tokens }) => tokens.filter(isTaskTable)) ?? [];
  const [table] = tables as (Token & Tokens.Table)[];
  if (!table) throw new Error(`${startPath} has no table with the column "task"`);
  const used = new Set<string>();
  const groups = table.rows.map(([task, pages]) => ({
    title: capitalized(wordsOf(task?.tokens ?? [])),
    entries: linksIn(pages?.tokens ?? []).flatMap(({ text, target }): Entry[] => {
      const { path, anchor } = placeOf(startPath, target);
      const { kind, name = '', title = '' } = documents.get(path) ?? {};
      if (kind !== 'page') return [];
      if (anchor !== '') return [{ label: capitalized(text), task: text, name, anchor }];
      if (used.has(name)) return [];
      used.add(name);
      return [{ label: title, task: text, name, anchor }];
    }),
  }));
  return groups.filter(({ entries }) => entries.length > 0);
}

export const isTaskTable = (token: Token): boolean =>
  token.type === 'table' && (token as Tokens.Table).header[0]?.text === 'task';

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
