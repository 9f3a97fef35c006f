/**
 * A variant of Keyreeve for comparison: a temporary copy with a patch of `variants/`. The product has no switch for it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Variant extends Disposable {
  /** Path of the script that starts the variant. */
  readonly program: string;
}

const root = fileURLToPath(new URL('../', import.meta.url));

/** @throws Error if the patch does not apply */
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
    // Makes git patch this folder even if it is inside another repository.
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(folder) },
  });
  if (applied.status !== 0) {
    remove();
    throw new Error(`${name}.patch does not apply: ${applied.error?.message ?? applied.stderr}`);
  }
  return { program: join(folder, 'packages/server/bin/keyreeve.js'), [Symbol.dispose]: remove };
}
