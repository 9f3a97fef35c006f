/**
 * Builds the console for `npm start`, `npm run build` and packages. `npm run console:watch` writes `dist/` and builds again after each
 * change, with source maps.
 */
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { licencesOf } from '../../scripts/licences.ts';
import { readExamples } from './examples.ts';

const root = import.meta.dirname;
const source = join(root, 'src');

const optionsOf = (folder: string): esbuild.BuildOptions => ({
  absWorkingDir: root,
  entryPoints: ['src/app.tsx', 'src/app.css'],
  outdir: folder,
  bundle: true,
  // A page that is open during an upgrade loads further files from the new version. Names with a hash of the content keep it
  // from combining files of two versions, whose minified names differ. The server adds a hash of all files to the URL.
  splitting: true,
  chunkNames: '[name]-[hash]',
  // The hashes contain the paths of packages, so that they are the same if `node_modules` is a link, as in the clones of a release.
  preserveSymlinks: true,
  format: 'esm',
  target: ['chrome120', 'firefox121', 'safari17.5'],
  // A text, because the first load would contain an object.
  define: { EXAMPLES: JSON.stringify(JSON.stringify(readExamples())) },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
});

/** Packages whose code is in the bundle. */
const bundled = ['preact', '@preact/signals', '@preact/signals-core', 'preact-iso', 'lean-qr'];

/** Writes all files of the console to a new folder. @throws Error if a source has an error, or a file cannot be written */
export function buildConsole(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { outputFiles } = esbuild.buildSync({ ...optionsOf(folder), write: false });
  // File names in this repository have no capital letters.
  const lowerCase = (text: string): string => text.replaceAll(/-[0-9A-Z]{8}\.js\b/g, (hash) => hash.toLowerCase());
  for (const { path, text } of outputFiles) writeFileSync(lowerCase(path), lowerCase(text));
  copyFileSync(join(source, 'index.html'), join(folder, 'index.html'));
  cpSync(join(source, 'static'), folder, { recursive: true });
  writeFileSync(join(folder, 'licences.txt'), licencesOf(bundled));
}

/** Without a stamp: `npm start` builds again, because this output is larger. */
async function watchConsole(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  buildConsole(folder);
  const context = await esbuild.context({ ...optionsOf(folder), minify: false, sourcemap: 'inline', logLevel: 'info' });
  await context.watch();
}

if (import.meta.main) await watchConsole(join(root, 'dist'));
