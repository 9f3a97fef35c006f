/**
 * Builds the npm package `@keyreeve/otel` from its sources: JavaScript with the lines of the sources. The package exports nothing, so
 * it has no declarations. Node refuses to strip types below `node_modules`. The script needs no installed dependencies.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { runPackageCommand } from './package-archive.ts';
import { versionOf } from './version-places.ts';

/** @param folder that does not exist @returns the path of the package @throws Error if a file imports the workspace */
export function buildOtelPackage(root: string, folder: string): string {
  mkdirSync(folder);
  const otel = join(root, 'packages/otel');
  const target = join(folder, 'dist');
  mkdirSync(target);
  for (const file of readdirSync(join(otel, 'src'))) {
    const script = stripTypeScriptTypes(readFileSync(join(otel, 'src', file), 'utf8'));
    if (/^import [^;]*\/server\//m.test(script))
      throw new Error(`${file} imports the server, which is another package`);
    const withScripts = script.replaceAll(/(?<=['"]\.\/[\w-]+)\.ts(?=['"])/g, '.js');
    writeFileSync(join(target, file.replace(/\.ts$/, '.js')), withScripts);
  }
  const { name, ...manifest } = JSON.parse(readFileSync(join(otel, 'package.json'), 'utf8')) as Readonly<
    Record<string, unknown>
  >;
  const packaged = { name, version: versionOf(root), ...manifest, exports: { '.': './dist/register.js' } };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packaged, null, 2)}\n`);
  cpSync(join(otel, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}

if (import.meta.main) runPackageCommand(buildOtelPackage);
