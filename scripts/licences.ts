/** The licences of packages whose code is in a bundle. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));

interface Described {
  readonly version: string;
  /** An identifier of SPDX. */
  readonly license?: string;
}

/** @returns name, version and licence of each package @throws Error if a package states no licence */
export const licencesOf = (names: readonly string[]): string =>
  names
    .map((name) => {
      const folder = join(modules, name);
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Described;
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8').trim();
      if (text === undefined) throw new Error(`${name} states no licence`);
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
