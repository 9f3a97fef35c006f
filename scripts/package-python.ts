/**
 * Builds the wheel and the source archive of the Python library with the build backend that its pyproject.toml declares. A release
 * builds them in the virtual environment of the tests, and downloads nothing. The bytes depend on the zlib of Python; 3.11, 3.12 and 3.13
 * with zlib 1.2.13 built equal wheels.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runArchiveCommand } from './package-archive.ts';
import { repositoryUrl } from './package-repository.ts';
import { outdatedPython, pythonOf, requirements } from './python-environment.ts';

/** hatchling and its dependencies with Python 3.11. */
export const backend = ['hatchling', 'packaging', 'pathspec', 'pluggy', 'tomlkit', 'trove-classifiers'];

/**
 * @param folder a new folder, which gets the sources in `package/` and the wheel
 * @param python an executable with the backend; default: that of the tests
 * @returns the path of the wheel
 * @throws Error if the folder exists, the virtual environment is missing or has other packages, or the build fails
 */
export function buildWheel(root: string, folder: string, python = testPython(root)): string {
  const source = copySource(root, folder);
  const offline = ['--no-index', '--no-build-isolation', '--no-deps', '--no-cache-dir'];
  run(python, ['-m', 'pip', '--isolated', 'wheel', ...quiet, ...offline, '--wheel-dir', folder, source], folder);
  const [wheel] = globSync('*.whl', { cwd: folder });
  return join(folder, wheel ?? '');
}

/** As `buildWheel`. @returns the path of the source archive */
export function buildSdist(root: string, folder: string, python = testPython(root)): string {
  const source = copySource(root, folder);
  run(python, ['-m', 'hatchling', 'build', '--target', 'sdist', '--directory', folder], source);
  const [archive] = globSync('*.tar.gz', { cwd: folder });
  return join(folder, archive ?? '');
}

/** @returns the folder of the sources, with the URL of the repository in the metadata if it is a parameter of the build */
function copySource(root: string, folder: string): string {
  mkdirSync(folder);
  const source = join(folder, 'package');
  for (const path of ['README.md', 'src'])
    cpSync(join(root, 'packages/python', path), join(source, path), { recursive: true });
  // The backend adds it to the metadata.
  cpSync(join(root, 'LICENSE'), join(source, 'LICENSE'));
  const url = repositoryUrl();
  const urls = url === undefined ? '' : `\n[project.urls]\nRepository = "${url}"\nIssues = "${url}/issues"\n`;
  writeFileSync(
    join(source, 'pyproject.toml'),
    readFileSync(join(root, 'packages/python/pyproject.toml'), 'utf8') + urls,
  );
  return source;
}

function testPython(root: string): string {
  const [outdated] = outdatedPython(root);
  if (outdated !== undefined) throw new Error(outdated);
  return pythonOf(root);
}

/**
 * For a machine without the environment of the tests: installs the backend in a new one, in the versions of the tests and checked by
 * their hashes.
 * @param folder a new folder
 * @returns the executable
 * @throws Error if Python 3 or its module `venv` is missing, or a download fails
 */
export function newPython(root: string, folder: string): string {
  mkdirSync(folder);
  const entries = readFileSync(join(root, requirements), 'utf8').matchAll(/^([\w.-]+)==.*(?:\n +--hash.*)+/gm);
  const needed = Array.from(entries).filter(([, name = '']) => backend.includes(name));
  const list = join(folder, 'requirements.txt');
  writeFileSync(list, needed.map(([entry]) => `${entry}\n`).join(''));
  run('python3', ['-m', 'venv', join(folder, 'environment')], folder);
  const python = join(folder, 'environment/bin/python');
  run(python, ['-m', 'pip', 'install', ...quiet, '--require-hashes', '--only-binary', ':all:', '-r', list], folder);
  return python;
}

const quiet = ['--quiet', '--disable-pip-version-check'];

function run(command: string, args: readonly string[], folder: string): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.slice(0, 4).join(' ')}: ${error?.message ?? stdout + stderr}`);
}

if (import.meta.main) runArchiveCommand(buildWheel);
