/** Databases, backups and deletion journals of versions that were never released. */

/** Completes "<what> …". */
export const madeBeforeFirstRelease = 'was made before 1.0.0, the first release, and no release can read it';
