/** The licences of packages whose code is in a bundle. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LockFile } from './package-manifest.ts';

const installed = fileURLToPath(new URL('../node_modules/', import.meta.url));

const lockFile = new URL('../package-lock.json', import.meta.url);

interface Described {
  readonly version: string;
  /** An identifier of SPDX. */
  readonly license?: string;
}

/**
 * @param modules the folder `node_modules` that has them
 * @returns name, version and licence of each package
 * @throws Error if a package states no licence, or another version is installed than package-lock.json states: a build would keep it
 *   after the installation of the right one
 */
export function licencesOf(names: readonly string[], modules = installed): string {
  const { packages: locked } = JSON.parse(readFileSync(lockFile, 'utf8')) as LockFile;
  return names
    .map((name) => {
      const folder = join(modules, name);
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Described;
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      if (version !== locked[`node_modules/${name}`]?.version)
        throw new Error(`${name} ${version} is installed, which is not the version of package-lock.json; run npm ci`);
      const text =
        file === undefined ? (licenceInReadme(folder) ?? license) : readFileSync(join(folder, file), 'utf8').trim();
      if (text === undefined) throw new Error(`${name} states no licence`);
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Some packages state their licence only there, with the copyright. */
function licenceInReadme(folder: string): string | undefined {
  const file = readdirSync(folder).find((entry) => /^readme\.md$/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8');
  return /^#+ *licen[cs]e[^\n]*\n([^]*copyright[^]*)$/im.exec(text)?.[1]?.trim();
}
