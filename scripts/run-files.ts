/** The files that the published runs of the revocation check depend on, and one hash of them. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The program, what it is installed with, and the check. The faults and the test kit do not count: a correction there does not
 * outdate what the runs have shown.
 */
const paths = [
  'package-lock.json',
  'packages/contract/src',
  'packages/server/bin',
  'packages/server/package.json',
  'packages/server/src',
  ':(exclude)packages/server/src/**/test/**',
  'packages/server/revocation-check',
] as const;

/** The runs that are published. `npm run prove -- --all` writes both. */
export const publishedRuns = ['docs/proof-run.md', 'docs/proof-mutants.md'] as const;

/** @throws Error when git fails */
export function git(root: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}

/** SHA-256 of the names and contents in the working tree, in hexadecimal. Files that git ignores do not count. */
export function hashOfRunFiles(root: string): string {
  const listed = git(root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ...paths);
  const hash = createHash('sha256');
  for (const path of [...new Set(listed.split('\0'))].toSorted()) {
    if (path === '' || !existsSync(join(root, path))) continue;
    const content = createHash('sha256')
      .update(readFileSync(join(root, path)))
      .digest('hex');
    hash.update(`${content}  ${path}\n`);
  }
  return hash.digest('hex');
}

/** The line that a published run has, and that a release compares. */
export const filesLine = (root: string): string => `- files: sha256:${hashOfRunFiles(root)}`;
