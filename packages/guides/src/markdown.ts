/** Markdown as the hosts of repositories show it (GitHub Flavored Markdown): its links, its sections, and their HTML. */
import { posix } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from '../../server/src/http/html.ts';

/** A heading with what follows it up to the next one. */
export interface Section {
  /** Unique in the page; empty before the first heading. */
  readonly anchor: string;
  readonly heading: readonly Token[];
  /** From 1. */
  readonly depth: number;
  readonly tokens: readonly Token[];
}

export interface Link {
  readonly text: string;
  /** As it is written, such as `mail.md#languages`. */
  readonly target: string;
}

/** The part of marked's renderer that its methods use. */
interface Inline {
  readonly parser: { readonly parseInline: (tokens: Token[]) => string };
}

const marked = new Marked();
/** Links with a scheme lead out of the repository. */
const isOutside = (target: string): boolean => /^[a-z]+:/.test(target);

export const tokensOf = (markdown: string): Token[] => marked.lexer(markdown);

/** The anchor of a heading as the hosts make it: lower case, without punctuation, spaces as hyphens. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Those to places in the repository, in the order of the text. */
export function linksIn(tokens: readonly Token[]): Link[] {
  const links: Link[] = [];
  void marked.walkTokens([...tokens], (token) => {
    if (token.type !== 'link') return;
    const { href, tokens: shown } = token as Tokens.Link;
    if (!isOutside(href)) links.push({ text: wordsOf(shown), target: href });
  });
  return links;
}

/** Texts and inline code, without blocks of code. */
export const wordsOf = (tokens: readonly Token[]): string => tokens.map(textOf).join('').replaceAll(/\s+/g, ' ').trim();

/** Cells and items are separate words. */
function textOf(token: Token): string {
  if (token.type === 'code' || token.type === 'html' || token.type === 'image') return '';
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((cells) => cells.map((cell) => ` ${wordsOf(cell.tokens)} `)).join('');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => ` ${wordsOf(item.tokens)} `).join('');
  const { tokens, text = ' ' } = token as { readonly tokens?: readonly Token[]; readonly text?: string };
  return token.type === 'paragraph' ? ` ${wordsOf(tokens ?? [])} ` : (tokens?.map(textOf).join('') ?? text);
}

export function sectionsOf(tokens: readonly Token[]): Section[] {
  const used = new Map<string, number>();
  const sections: (Section & { tokens: Token[] })[] = [{ anchor: '', heading: [], depth: 1, tokens: [] }];
  for (const token of tokens) {
    if (token.type !== 'heading') {
      sections.at(-1)?.tokens.push(token);
      continue;
    }
    const { text, depth, tokens: heading } = token as Tokens.Heading;
    const anchor = anchorOf(text);
    const count = used.get(anchor) ?? 0;
    used.set(anchor, count + 1);
    sections.push({ anchor: count === 0 ? anchor : `${anchor}-${count}`, heading, depth, tokens: [] });
  }
  return sections;
}

/**
 * @param resolve returns where a link leads; undefined: only the name of its file is shown
 * @throws Error if the Markdown has HTML that is neither a comment nor an anchor
 */
export function htmlOf(sections: readonly Section[], resolve: Resolve): string {
  const renderer = new Marked({ renderer: rendererOf(resolve) });
  return sections
    .map(({ anchor, heading, depth, tokens }) => {
      const title = renderer.Parser.parseInline([...heading], { ...renderer.defaults });
      return `${anchor === '' ? '' : `<h${depth} id="${anchor}">${title}</h${depth}>\n`}${renderer.parser([...tokens])}`;
    })
    .join('');
}

type Resolve = (target: string) => string | undefined;

const rendererOf = (resolve: Resolve) => ({
  link(this: Inline, { href, tokens }: Tokens.Link): string {
    const target = isOutside(href) ? href : resolve(href);
    const shown = this.parser.parseInline(tokens);
    if (target === undefined)
      return `${shown} (<code>${escapeHtml(posix.basename(href.split('#', 1)[0] ?? ''))}</code>)`;
    return `<a href="${escapeHtml(target)}">${shown}</a>`;
  },
  /** The only images show the console. */
  image: (): string => '',
  code: ({ text }: Tokens.Code): string => `<pre><code>${escapeHtml(text)}</code></pre>\n`,
  html({ text }: Tokens.HTML | Tokens.Tag): string {
    if (/^\s*<!--[^]*-->\s*$/.test(text)) return '';
    if (/^<a id="[\w-]+">$|^<\/a>$/.test(text)) return text;
    throw new Error(`Markdown has HTML: ${text}`);
  },
  /** A wide table scrolls by itself. Without texts in its header, it has none. */
  table(this: Inline, { header, rows }: Tokens.Table): string {
    const row = (cells: readonly Tokens.TableCell[], toCell: (html: string) => string): string =>
      `<tr>${cells.map(({ tokens }) => toCell(this.parser.parseInline(tokens).trim())).join('')}</tr>\n`;
    const toHeader = (html: string): string => (html === '' ? '<td></td>' : `<th scope="col">${html}</th>`);
    const head = header.some(({ text }) => text !== '') ? `<thead>\n${row(header, toHeader)}</thead>\n` : '';
    const body = rows.map((cells) => row(cells, (html) => `<td>${html}</td>`)).join('');
    return `<div class="scroller">\n<table>\n${head}<tbody>\n${body}</tbody>\n</table>\n</div>\n`;
  },
});
