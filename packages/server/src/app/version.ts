/** The version of this program, and its build, which tells it from others of the same version. */
import { existsSync, readFileSync } from 'node:fs';
import { ownFile } from '../foundation/own-files.ts';

export const version = (JSON.parse(readFileSync(ownFile('../package.json'), 'utf8')) as { version: string }).version;

const buildFile = ownFile('build-id');

/** The first 12 hexadecimal digits of the SHA-256 of all files of the program; `sources` in a checkout that runs its sources. */
export const build = existsSync(buildFile) ? readFileSync(buildFile, 'utf8') : 'sources';

/** For example `1.4.0 (5d41402abc4b)`. */
export const versionAndBuild = `${version} (${build})`;
