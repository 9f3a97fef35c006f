/**
 * The list of files in `ARCHITECTURE.md`: each folder of the server’s sources, with the names of its files, which state
 * their subjects.
 */
import { readdirSync } from 'node:fs';
import { withMarkedTables } from './marked-tables.ts';

const root = new URL('..', import.meta.url).pathname;

/** The other packages have few folders, which the layout names. */
const listed = 'packages/server/src';

/** Files that the kinds of a module’s files already name. */
const named = ['routes.ts', 'store.ts'];

function linesOf(folder: string): string[] {
  const entries = readdirSync(`${root}/${folder}`, { withFileTypes: true });
  const names = entries.flatMap((entry) =>
    entry.isFile() && entry.name.endsWith('.ts') && !named.includes(entry.name) ? [entry.name] : [],
  );
  const below = entries.flatMap((entry) => (entry.isDirectory() ? [`${folder}/${entry.name}`] : []));
  const shown = names.map((name) => name.replace('.ts', '')).toSorted();
  return [
    ...(shown.length > 0 ? [`\`${folder.replace(`${listed}/`, '')}\` | ${shown.join(', ')}`] : []),
    ...below
      .toSorted()
      .filter((name) => !name.endsWith('/test'))
      .flatMap((name) => linesOf(name)),
  ];
}

/** @returns the page of the architecture with a new list @throws Error if the page lacks its mark */
export const withFiles = (page: string): string =>
  withMarkedTables(page, {
    files: ['folder | files', '--- | ---', ...linesOf(listed)],
  });
