/** Builds the npm package `@keyreeve/elements`: the script of the element, and the types for frameworks as they are in the sources. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildElement } from '../packages/elements/build.ts';
import { runPackageCommand } from './package-archive.ts';
import { versionOf } from './version-places.ts';

interface Manifest {
  readonly name: string;
  readonly devDependencies?: unknown;
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly [member: string]: unknown;
}

const script = './dist/keys.js';
const published = (path: string): string => (path.endsWith('.d.ts') ? path.replace('./src/types/', './dist/') : script);

/** @param folder that does not exist @returns the path of the package @throws Error if a source has an error */
export function buildElementsPackage(root: string, folder: string): string {
  mkdirSync(folder);
  const elements = join(root, 'packages/elements');
  const {
    devDependencies: _,
    name,
    ...manifest
  } = JSON.parse(readFileSync(join(elements, 'package.json'), 'utf8')) as Manifest;
  const exports = Object.entries(manifest.exports).map(([path, conditions]) => {
    for (const types of Object.values(conditions).filter((file) => file.endsWith('.d.ts')))
      cpSync(join(elements, types), join(folder, published(types)));
    return [path, Object.fromEntries(Object.entries(conditions).map(([each, file]) => [each, published(file)]))];
  });
  writeFileSync(join(folder, script), buildElement());
  const packaged = {
    name,
    version: versionOf(root),
    ...manifest,
    sideEffects: [script],
    exports: Object.fromEntries(exports) as unknown,
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(packaged, null, 2)}\n`);
  cpSync(join(elements, 'README.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  return folder;
}

if (import.meta.main) runPackageCommand(buildElementsPackage);
