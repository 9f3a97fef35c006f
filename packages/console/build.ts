/**
 * Builds the console for `npm start`, `npm run build` and packages. `npm run console:watch` writes `dist/` and builds again after each
 * change, with source maps.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as esbuild from 'esbuild';
import { licencesOf } from '../../scripts/licences.ts';
import { buildElement } from '../elements/build.ts';
import { readExamples } from './examples.ts';
import { languages } from './src/text/language.ts';

const root = import.meta.dirname;
const source = join(root, 'src');

const commonOptions = {
  absWorkingDir: root,
  bundle: true,
  // The hashes contain the paths of packages, so that they are the same if `node_modules` is a link, as in the clones of a release.
  preserveSymlinks: true,
  target: ['chrome120', 'firefox121', 'safari17.5'],
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies esbuild.BuildOptions;

const optionsOf = (folder: string) =>
  ({
    ...commonOptions,
    entryPoints: ['src/app.tsx', 'src/app.css'],
    outdir: folder,
    // A page that is open during an upgrade loads further files from the new version. Names with a hash of the content keep it
    // from combining files of two versions, whose minified names differ. The server adds a hash of all files to the URL.
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    // A text, because the first load would contain an object.
    define: { EXAMPLES: JSON.stringify(JSON.stringify(readExamples())) },
    jsx: 'automatic',
    jsxImportSource: 'preact',
  }) as const satisfies esbuild.BuildOptions;

const keyPageOptionsOf = (folder: string) =>
  ({
    ...optionsOf(folder),
    entryPoints: ['src/portal/start.tsx', 'src/portal/portal.css'],
  }) as const satisfies esbuild.BuildOptions;

/** A script that runs before the first painting: a module would run after it. */
const earlyOptions = (folder: string) =>
  ({
    ...commonOptions,
    entryPoints: ['src/early.ts'],
    outdir: folder,
    format: 'iife',
  }) as const satisfies esbuild.BuildOptions;

/** Packages whose code is in the bundle. */
export const bundledPackages = ['preact', '@preact/signals', '@preact/signals-core', 'preact-iso', 'lean-qr'];

/** Writes all files of the console to a new folder. @throws Error if a source has an error, or a file cannot be written */
export function buildConsole(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const metafile = writeFiles(optionsOf(folder));
  esbuild.buildSync(earlyOptions(folder));
  const page = readFileSync(join(source, 'index.html'), 'utf8');
  const texts = languages.map(
    (language) => [language, lowerCase(fileOf(metafile, `src/text/${language}.ts`))] as const,
  );
  writeFileSync(join(folder, 'index.html'), withPreloads(page, importsOf(metafile, 'app.js'), texts));
  cpSync(join(source, 'static'), folder, { recursive: true });
  buildKeyPage(join(folder, 'portal'));
  writeFileSync(join(folder, 'licences.txt'), licencesOf(bundledPackages));
}

/** The key page, which shares no files with the console, and the element that shows it in a frame. */
function buildKeyPage(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const metafile = writeFiles(keyPageOptionsOf(folder));
  const page = readFileSync(join(source, 'portal/index.html'), 'utf8');
  const links = importsOf(metafile, 'start.js').map((file) => preloadOf(`/portal/assets/0/${file}`));
  writeFileSync(
    join(folder, 'index.html'),
    page.replaceAll(comments, '').replace('<script type="module"', (script) => links.join('') + script),
  );
  cpSync(join(source, 'static'), folder, { recursive: true });
  writeFileSync(join(folder, 'keys.js'), buildElement());
}

/** @returns what the files contain */
function writeFiles(options: esbuild.BuildOptions): esbuild.Metafile {
  const { outputFiles, metafile } = esbuild.buildSync({ ...options, write: false, metafile: true });
  for (const { path, text } of outputFiles) writeFileSync(lowerCase(path), lowerCase(text));
  return metafile;
}

/** File names in this repository have no capital letters. */
const lowerCase = (text: string): string => text.replaceAll(/-[0-9A-Z]{8}\.js\b/g, (hash) => hash.toLowerCase());

/** Comments are only for readers of the source. */
const comments = /<!--[^]*?-->\s*/g;

const preloadOf = (url: string): string => `<link rel="modulepreload" href="${url}" />\n    `;

/** The files that the entry imports at once. */
function importsOf({ outputs }: esbuild.Metafile, entry: string): string[] {
  const app = Object.entries(outputs).find(([path]) => basename(path) === entry);
  const statics = app?.[1].imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return statics.map(({ path }) => lowerCase(basename(path)));
}

/** @throws Error if the build has no file for a source */
function fileOf({ outputs }: esbuild.Metafile, input: string): string {
  const output = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === input);
  if (!output) throw new Error(`the build has no file of ${input}`);
  return basename(output[0]);
}

/** So that the browser requests them together with `app.js`, and not after it. */
function withPreloads(page: string, files: readonly string[], texts: readonly (readonly [string, string])[]): string {
  const ofLanguages = texts.map(([language, file]) => ` data-${language}="${file}"`);
  const links = files.map((file) => preloadOf(`/console/assets/0/${file}`));
  return page
    .replaceAll(comments, '')
    .replace('/early.js"', (early) => early + ofLanguages.join(''))
    .replace('<script type="module"', (script) => links.join('') + script);
}

/** Without a stamp: `npm start` builds again, because this output is larger. */
async function watchConsole(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  buildConsole(folder);
  for (const options of [optionsOf(folder), earlyOptions(folder), keyPageOptionsOf(join(folder, 'portal'))]) {
    const context = await esbuild.context({ ...options, minify: false, sourcemap: 'inline', logLevel: 'info' });
    await context.watch();
  }
}

if (import.meta.main) await watchConsole(join(root, 'dist'));
