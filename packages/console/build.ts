/**
 * Builds the console: `npm run console` writes `dist/`, and so does `npm start` if the inputs have changed (start.js). With `--watch` it
 * builds again after each change, with source maps. Packages are built from the same function.
 */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';
import { dist, isBuilt, stampName, stampOfInputs } from './stamp.ts';

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
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
});

/** Packages whose code is in the bundle, with their licences. */
const bundled = ['preact', '@preact/signals', '@preact/signals-core', 'preact-iso', 'lean-qr'];

function licences(): string {
  return bundled
    .map((name) => {
      const folder = join(root, '../../node_modules', name);
      const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (file === undefined) throw new Error(`${name} has no licence file`);
      return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Writes all files of the console to a new folder. @throws Error if a source has an error, or a file cannot be written */
export function buildConsole(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const { outputFiles } = esbuild.buildSync({ ...optionsOf(folder), write: false });
  // File names in this repository have no capital letters.
  const lowerCase = (text: string): string => text.replaceAll(/-[0-9A-Z]{8}\.js\b/g, (hash) => hash.toLowerCase());
  for (const { path, text } of outputFiles) writeFileSync(lowerCase(path), lowerCase(text));
  copyFileSync(join(source, 'index.html'), join(folder, 'index.html'));
  cpSync(join(source, 'static'), folder, { recursive: true });
  writeFileSync(join(folder, 'licences.txt'), licences());
}

/** Builds the console if its inputs have changed. @throws Error as `buildConsole` */
export function buildIfChanged(): void {
  if (!isBuilt()) renewDist();
}

/**
 * Builds in a temporary folder, which then replaces `dist/`: a service that starts meanwhile finds the files of one build, or none. Other
 * processes may do the same at the same time. @throws Error as `buildConsole`; `dist/` is then as before
 */
export function renewDist(): void {
  const stamp = stampOfInputs();
  const temporary = mkdtempSync(`${dist}-`);
  try {
    const [built, replaced] = [join(temporary, 'built'), join(temporary, 'replaced')];
    buildConsole(built);
    writeFileSync(join(built, stampName), stamp);
    // The earlier build first: Windows renames no folder to the name of an existing one.
    do {
      rmSync(replaced, { recursive: true, force: true });
      tryRename(dist, replaced);
    } while (!tryRename(built, dist));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @returns false if the folder does not exist, or the new path does */
function tryRename(folder: string, path: string): boolean {
  try {
    renameSync(folder, path);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Without a stamp: `npm start` builds again, because this output is larger. */
async function watchConsole(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  buildConsole(folder);
  const context = await esbuild.context({ ...optionsOf(folder), minify: false, sourcemap: 'inline', logLevel: 'info' });
  await context.watch();
}

if (import.meta.main) {
  if (process.argv.includes('--watch')) await watchConsole(dist);
  else renewDist();
}
