/** Pages of the service outside the console, with the operator's name, mark and colour (page.css). */
import type { BasePath } from '../../http/base-path.ts';
import { readPage, readTemplates, type Page } from '../../http/html.ts';
import { ownFile } from '../../foundation/own-files.ts';
import { styleOf } from './accent.ts';
import { markPath, type Look } from './look.ts';

const templates = readTemplates(ownFile('modules/look/brand.html'), ['icon', 'mark']);

/**
 * @param path of the page's file, which has the placeholders `icon`, `mark` and `operator`
 * @param basePath of the mark
 * @throws Error when a file cannot be read
 */
export function readLookPage(path: string, { operator, mark, accent }: Look, basePath: BasePath): Page {
  const style = accent ? styleOf(accent) : '';
  const { template, policy } = readPage(ownFile(path), { style, hasImages: mark !== undefined });
  const marks = mark ? [{ path: basePath.with(markPath) }] : [];
  const brand = { operator, icon: marks.map(templates.icon), mark: marks.map(templates.mark) };
  return { template: (values) => template({ ...brand, ...values }), policy };
}
