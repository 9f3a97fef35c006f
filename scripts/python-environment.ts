/** The virtual environment with the packages of `packages/python/requirements.txt`, which the tests use too (CONTRIBUTING.md). */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const folder = 'node_modules/.cache/python';
export const requirements = 'packages/python/requirements.txt';
const remedy =
  `Run \`python3 -m venv --clear ${folder}\`, then ` +
  `\`${folder}/bin/pip install --require-hashes -r ${requirements}\`.`;

export const pythonOf = (root: string): string => join(root, folder, 'bin/python');

/** Other versions of the build tool and its dependencies could build other bytes. @returns at most one sentence, with the remedy */
export function outdatedPython(root: string): readonly string[] {
  // `npm ci` deletes the environment with the rest of `node_modules`.
  if (!existsSync(pythonOf(root)))
    return [`${folder}, which builds the wheel of the Python library, is missing. ${remedy}`];
  const required = packagesOf(readFileSync(join(root, requirements), 'utf8').matchAll(/^([\w.-]+)==(\S+)/gm));
  const names = globSync('lib/python*/site-packages/*.dist-info', { cwd: join(root, folder) }).map((path) =>
    basename(path),
  );
  const installed = packagesOf(names.flatMap((name) => [...name.matchAll(/^([\w.]+)-(.+)\.dist-info$/g)]));
  // pip, which comes with the environment, has no required version.
  const isRequired = (name: string): boolean => installed.get(name) === required.get(name) || !required.has(name);
  if (installed.has('hatchling') && [...installed.keys()].every(isRequired)) return [];
  return [`The packages in ${folder} are not those of ${requirements}. ${remedy}`];
}

/** Name in its normal form → version. */
const packagesOf = (matches: Iterable<RegExpMatchArray>): ReadonlyMap<string, string> =>
  new Map(
    Array.from(matches, ([, name = '', version = '']) => [name.toLowerCase().replaceAll(/[-_.]+/g, '-'), version]),
  );
