/**
 * `npm run packages`: builds what people install, in the folder `dist/` of the checkout: the npm packages, the wheel of the Python
 * library, and SHA256SUMS. It replaces an earlier `dist/`. `npm run packages -- <new folder>` builds in another folder.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildArchive } from './package-archive.ts';
import { buildClientPackage } from './package-client.ts';
import { buildElementsPackage } from './package-elements.ts';
import { buildOtelPackage } from './package-otel.ts';
import { buildWheel, newPython } from './package-python.ts';
import { buildPackage } from './package.ts';
import { outdatedPython, pythonOf } from './python-environment.ts';
import { checksumsOf } from './release-files.ts';

/**
 * @param folder a new folder
 * @returns why there is no wheel; undefined if there is one
 * @throws Error if the folder exists or an npm package cannot be built
 */
export function writePackages(root: string, folder: string): string | undefined {
  const temporary = mkdtempSync(join(tmpdir(), 'keyreeve-packages-'));
  const at = (name: string): string => join(temporary, name);
  try {
    const archives = [
      buildPackage(root, at('server')),
      buildArchive(root, at('client'), buildClientPackage),
      buildArchive(root, at('elements'), buildElementsPackage),
      buildArchive(root, at('otel'), buildOtelPackage),
    ];
    const wheel = tryWheel(root, temporary);
    mkdirSync(folder);
    for (const archive of 'path' in wheel ? [...archives, wheel.path] : archives)
      copyFileSync(archive, join(folder, basename(archive)));
    writeFileSync(join(folder, 'SHA256SUMS'), checksumsOf(folder));
    return 'path' in wheel ? undefined : wheel.problem;
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** The npm packages are of use without Python. */
function tryWheel(root: string, temporary: string): { readonly path: string } | { readonly problem: string } {
  try {
    const isReady = outdatedPython(root).length === 0;
    const python = isReady ? pythonOf(root) : newPython(root, join(temporary, 'python'));
    return { path: buildWheel(root, join(temporary, 'wheel'), python) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [given] = process.argv.slice(2);
  const folder = given ?? join(root, 'dist');
  if (given === undefined) rmSync(folder, { recursive: true, force: true });
  const problem = writePackages(root, folder);
  if (problem !== undefined)
    process.stderr.write(
      `The wheel was not built; it needs Python 3.11 or newer with the modules venv and pip:\n${problem}\n`,
    );
  process.stdout.write(`${folder}\n`);
}
