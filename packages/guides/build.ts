/**
 * Builds the guides for `npm start`, `npm run build` and packages: the pages that the service has at `/docs`.
 * `npm run build -- --site <new folder>` writes the same pages for any web server.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as esbuild from 'esbuild';
import { licencesOf } from '../../scripts/licences.ts';
import { assetsName, writeSite, type SiteKind } from './src/site.ts';

/** Packages whose code is in the bundle. */
export const bundledPackages = ['minisearch'];

const root = join(import.meta.dirname, '../..');

/** Writes all files of the guides to a new folder. @throws Error if a document has an error, or a file cannot be written */
export function buildGuides(folder: string, kind: SiteKind = 'service'): void {
  const assets = join(folder, assetsName);
  mkdirSync(assets, { recursive: true });
  const { outputFiles } = esbuild.buildSync({
    absWorkingDir: import.meta.dirname,
    entryPoints: ['src/browser/guides.ts', 'src/browser/guides.css'],
    outdir: assets,
    bundle: true,
    format: 'esm',
    target: ['chrome120', 'firefox121', 'safari17.5'],
    minify: true,
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    preserveSymlinks: true,
    write: false,
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  copyFileSync(join(root, 'packages/console/src/static/icon.svg'), join(assets, 'icon.svg'));
  writeFileSync(join(folder, 'licences.txt'), licencesOf(bundledPackages));
  writeSite(root, folder, kind);
}
