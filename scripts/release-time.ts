/** The time of the files in archives: SOURCE_DATE_EPOCH, or the time of the commit (https://reproducible-builds.org/specs/source-date-epoch/). */
import { git } from './run-files.ts';

/** Seconds since 1970. @throws Error without the variable in a folder that is no clone */
export const releaseSeconds = (root: string): number =>
  Number(process.env['SOURCE_DATE_EPOCH'] ?? git(root, 'log', '-1', '--format=%ct'));
