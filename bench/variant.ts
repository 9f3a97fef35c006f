/**
 * A changed Keyreeve to measure beside the real one: a patch of `variants/` applied to a temporary copy. The program
 * itself holds no switch for it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Variant extends Disposable {
  /** Starts it. */
  readonly program: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));

/** @throws Error when the patch doesn't fit any more */
export function variantOf(name: string): Variant {
  const folder = mkdtempSync(join(tmpdir(), 'keyreeve-variant-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  cpSync(join(root, 'packages'), join(folder, 'packages'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const patch = join(root, 'bench', 'variants', `${name}.patch`);
  const applied = spawnSync('git', ['apply', patch], {
    cwd: folder,
    encoding: 'utf8',
    // What is patched is this folder, even if it lies within some repository.
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) },
  });
  if (applied.status !== 0) {
    remove();
    throw new Error(`${name}.patch doesn’t apply: ${applied.error?.message ?? applied.stderr}`);
  }
  return { program: join(folder, 'packages/server/bin/keyreeve.js'), [Symbol.dispose]: remove };
}
