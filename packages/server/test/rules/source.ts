/** The files of the tree as the house rules see them: text, code without comments, code without strings as well. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SourceFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The text with its comments blanked. For what isn't TypeScript or JavaScript, the text. */
  readonly code: string;
  /** The code with the contents of its strings blanked as well. */
  readonly bare: string;
  /** The comments alone. */
  readonly comments: string;
  /** The contents of its strings; of a template, the parts between its expressions. */
  readonly strings: readonly string[];
}

const skippedFolders = new Set(['node_modules', '.git', 'data']);
const binary = /\.(?:png|jpe?g|gif|ico|woff2?|db|bin|gz|zip)$/;

/** Every text file below the root that is ours. */
export function readTree(root: string): SourceFile[] {
  const walk = (folder: string): SourceFile[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return skippedFolders.has(entry.name) ? [] : walk(path);
      if (!entry.isFile() || binary.test(entry.name)) return [];
      return [toSource(path, readFileSync(join(root, path), 'utf8'))];
    });
  return walk('');
}

export function toSource(path: string, text: string): SourceFile {
  if (!/\.[cm]?[jt]s$/.test(path)) return { path, text, code: text, bare: text, comments: text, strings: [] };
  return { path, text, ...separate(text) };
}

type Kind = 'code' | 'comment' | 'string';

/** What each token is, by how it begins. A `/` begins a regular expression where a value may stand. */
const token =
  /(?<comment>\/\/[^\n]*|\/\*[^]*?\*\/)|(?<string>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?<template>`)|(?<open>\{)|(?<close>\})|(?<slash>\/)/g;
const regularExpression = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y;
const templatePart = /(?:\\[^]|\$(?!\{)|[^\\`$])*/y;
const valueMayFollow = /(?:^|[=(,:;!&|?{}[+\-*%<>~^]|\b(?:return|typeof|case|of|in|await|void|yield|throw|new))$/;

/** Walks over the text once and says what each stretch is. */
function separate(text: string): Pick<SourceFile, 'code' | 'bare' | 'comments' | 'strings'> {
  const stretches: { readonly kind: Kind; readonly from: number; readonly to: number }[] = [];
  /** For each open `${`, how many braces have been opened within it. */
  const templates: number[] = [];
  const mark = (kind: Kind, from: number, to: number): void => void stretches.push({ kind, from, to });
  /** From within a template to its end or its next expression. @returns where code goes on */
  const walkTemplate = (from: number): number => {
    templatePart.lastIndex = from;
    const end = from + (templatePart.exec(text)?.[0].length ?? 0);
    mark('string', from, end);
    if (text.startsWith('${', end)) templates.push(0);
    return end + (text.startsWith('${', end) ? 2 : 1);
  };
  token.lastIndex = 0;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const { comment, string, template, open, close } = match.groups ?? {};
    const at = match.index;
    const depth = templates.at(-1);
    if (comment !== undefined) mark('comment', at, token.lastIndex);
    else if (string !== undefined) mark('string', at + 1, token.lastIndex - 1);
    else if (template !== undefined) token.lastIndex = walkTemplate(at + 1);
    else if (open !== undefined && depth !== undefined) templates[templates.length - 1] = depth + 1;
    else if (close !== undefined && depth === 0) {
      templates.pop();
      token.lastIndex = walkTemplate(at + 1);
    } else if (close !== undefined && depth !== undefined) templates[templates.length - 1] = depth - 1;
    else if (
      match.groups?.['slash'] !== undefined &&
      valueMayFollow.test(text.slice(Math.max(0, at - 12), at).trimEnd())
    ) {
      regularExpression.lastIndex = at;
      const length = regularExpression.exec(text)?.[0].length ?? 1;
      mark('string', at + 1, at + length);
      token.lastIndex = at + length;
    }
  }
  const only = (kind: Kind): string[] =>
    stretches.filter((stretch) => stretch.kind === kind).map(({ from, to }) => text.slice(from, to));
  const without = (...kinds: readonly Kind[]): string => {
    let rest = '';
    let last = 0;
    for (const { kind, from, to } of stretches) {
      if (!kinds.includes(kind)) continue;
      rest += text.slice(last, from) + text.slice(from, to).replaceAll(/[^\n]/g, ' ');
      last = to;
    }
    return rest + text.slice(last);
  };
  return {
    code: without('comment'),
    bare: without('comment', 'string'),
    comments: only('comment').join('\n'),
    strings: only('string'),
  };
}
