/**
 * `npm run package:python -- <new folder>`: builds the wheel of the Python library with the build backend that its pyproject.toml
 * declares. The script downloads nothing: the backend is in the virtual environment of the tests. The bytes depend on the zlib of
 * Python; 3.11, 3.12 and 3.13 with zlib 1.2.13 built equal wheels.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runArchiveCommand } from './package-archive.ts';
import { outdatedPython, pythonOf } from './python-environment.ts';

/**
 * @param folder a new folder, which gets the sources in `package/` and the wheel
 * @returns the path of the wheel
 * @throws Error if the folder exists, the virtual environment is missing or has other packages, or the build fails
 */
export function buildWheel(root: string, folder: string): string {
  const [outdated] = outdatedPython(root);
  if (outdated !== undefined) throw new Error(outdated);
  mkdirSync(folder);
  const source = join(folder, 'package');
  for (const path of ['pyproject.toml', 'README.md', 'src'])
    cpSync(join(root, 'packages/python', path), join(source, path), { recursive: true });
  // The backend adds it to the metadata.
  cpSync(join(root, 'LICENSE'), join(source, 'LICENSE'));
  const offline = ['--no-index', '--no-build-isolation', '--no-deps', '--no-cache-dir', '--disable-pip-version-check'];
  const args = ['-m', 'pip', '--isolated', 'wheel', ...offline, '--wheel-dir', folder, source];
  const { status, stdout, stderr, error } = spawnSync(pythonOf(root), args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`pip wheel: ${error?.message ?? stdout + stderr}`);
  const [wheel] = globSync('*.whl', { cwd: folder });
  return join(folder, wheel ?? '');
}

if (import.meta.main) runArchiveCommand('package:python', buildWheel);
