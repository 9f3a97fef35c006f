/**
 * Builds the console: `npm run console` writes `dist/`, which is committed, so that the service needs no build step. With
 * `--watch` it builds again after each change, with source maps. A test rebuilds `dist/` and compares bytes.
 */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as esbuild from 'esbuild';

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

/** Writes all files of the console to the folder, which is emptied first. */
export async function buildConsole(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { outputFiles } = await esbuild.build({ ...optionsOf(folder), write: false });
  // File names in this repository have no capital letters.
  const lowerCase = (text: string): string => text.replaceAll(/-[0-9A-Z]{8}\.js\b/g, (hash) => hash.toLowerCase());
  for (const { path, text } of outputFiles) writeFileSync(lowerCase(path), lowerCase(text));
  copyFileSync(join(source, 'index.html'), join(folder, 'index.html'));
  cpSync(join(source, 'static'), folder, { recursive: true });
  writeFileSync(join(folder, 'licences.txt'), licences());
}

async function watchConsole(folder: string): Promise<void> {
  await buildConsole(folder);
  const context = await esbuild.context({ ...optionsOf(folder), minify: false, sourcemap: 'inline', logLevel: 'info' });
  await context.watch();
}

if (import.meta.main) {
  const folder = join(root, 'dist');
  await (process.argv.includes('--watch') ? watchConsole(folder) : buildConsole(folder));
}
