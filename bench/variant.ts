/** A temporary copy of an earlier commit of Keyreeve, for comparison. */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Variant extends Disposable {
  /** The copy of the repository, with the files of this version that seed a database. */
  readonly root: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));

/** @param ref a commit with the same dependencies @throws Error if the repository does not have it */
export function commitOf(ref: string): Variant {
  const folder = mkdtempSync(join(tmpdir(), 'keyreeve-commit-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const archive = spawnSync('git', ['archive', ref, 'packages', 'package.json'], { cwd: root, maxBuffer: 2 ** 28 });
  const unpacked = spawnSync('tar', ['-x'], { cwd: folder, input: archive.stdout });
  if (archive.status !== 0 || unpacked.status !== 0) {
    remove();
    throw new Error(`git archive ${ref}: ${archive.stderr.toString()}${unpacked.stderr.toString()}`);
  }
  const modules = join(root, 'node_modules');
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(modules)) {
    // The contract is a part of the commit.
    if (name === '@keyreeve') cpSync(join(modules, name), join(folder, 'node_modules', name), relativeLinks);
    else symlinkSync(join(modules, name), join(folder, 'node_modules', name));
  }
  for (const file of globSync('{seed,seeded}*.ts', { cwd: import.meta.dirname }))
    cpSync(join(import.meta.dirname, file), join(folder, 'bench', file));
  return { root: folder, [Symbol.dispose]: remove };
}

const relativeLinks = { recursive: true, verbatimSymlinks: true };
