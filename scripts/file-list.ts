/** The list of files in `ARCHITECTURE.md`: each folder of sources with the names of its files, which state their subjects. */
import { readdirSync } from 'node:fs';
import { withMarkedTables } from './marked-tables.ts';

const root = new URL('..', import.meta.url).pathname;

/** Folders whose files are listed, with those below them, and the ending that the names lack. */
const listed: readonly (readonly [folder: string, ending: RegExp])[] = [
  ['packages/server/src', /\.ts$/],
  ['packages/contract/src', /\.ts$/],
  ['packages/client/src', /\.ts$/],
  ['packages/python/src/keyreeve', /\.py$/],
  ['packages/go', /(?<!_test)\.go$/],
  ['packages/console/src', /\.tsx?$/],
  ['packages/guides/src', /\.ts$/],
  ['packages/server/revocation-check', /\.ts$/],
  ['scripts', /\.ts$/],
];

const isTest = (folder: string): boolean => /\/(?:test|testdata|examples)(?:\/|$)/.test(folder);

function linesOf(folder: string, ending: RegExp): string[] {
  const entries = readdirSync(`${root}/${folder}`, { withFileTypes: true });
  const names = entries.flatMap((entry) => (entry.isFile() && ending.test(entry.name) ? [entry.name] : []));
  const below = entries.flatMap((entry) => (entry.isDirectory() ? [`${folder}/${entry.name}`] : []));
  const shown = names.map((name) => name.replace(ending, '')).toSorted();
  return [
    ...(shown.length > 0 ? [`\`${folder.replace('packages/server/src/', '')}\` | ${shown.join(', ')}`] : []),
    ...below
      .toSorted()
      .filter((name) => !isTest(name))
      .flatMap((name) => linesOf(name, ending)),
  ];
}

/** @returns the page of the architecture with a new list @throws Error if the page lacks its mark */
export const withFiles = (page: string): string =>
  withMarkedTables(page, {
    files: ['folder | files', '--- | ---', ...listed.flatMap(([folder, ending]) => linesOf(folder, ending))],
  });
