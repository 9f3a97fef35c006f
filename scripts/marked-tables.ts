/** Generated tables in a page that people write: each follows a mark with its name. */

/**
 * @param tables name → lines
 * @returns the page with new tables, each after its mark
 * @throws Error if the page lacks a mark
 */
export function withMarkedTables(page: string, tables: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(tables).reduce((text, [name, lines]) => {
    const mark = `<!-- ${name}: made by \`npm run docs\` -->\n\n`;
    const [before, after] = text.split(mark);
    if (before === undefined || after === undefined) throw new Error(`the page lacks ${mark}`);
    return `${before}${mark}${lines.join('\n')}\n${after.replace(/^(?:[^#\n].*\n)*/, '')}`;
  }, page);
}
