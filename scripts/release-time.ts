/** The commit that archives are built from, and the time of their files. */
import { git } from './run-files.ts';

export interface Commit {
  /** Its hash, with `-modified` if files of the working tree differ. */
  readonly revision: string;
  /** As `releaseSeconds`. */
  readonly seconds: number;
}

/** @throws Error in a folder that is no clone */
export function commitOf(root: string): Commit {
  const changed = git(root, 'diff', '--name-only', 'HEAD') === '' ? '' : '-modified';
  return { revision: git(root, 'rev-parse', 'HEAD').trim() + changed, seconds: releaseSeconds(root) };
}

/**
 * SOURCE_DATE_EPOCH, or the time of the commit (https://reproducible-builds.org/specs/source-date-epoch/).
 * @returns seconds since 1970 @throws Error without the variable in a folder that is no clone
 */
export const releaseSeconds = (root: string): number =>
  Number(process.env['SOURCE_DATE_EPOCH'] ?? git(root, 'log', '-1', '--format=%ct'));
