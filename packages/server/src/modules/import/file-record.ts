/** A record of an import file, and the errors of a record and of the rest of the file. */

export type FileObject = Readonly<Record<string, unknown>>;

export interface FileRecord {
  /** Where it begins in the file, from 1. */
  readonly line: number;
  readonly object: FileObject | LineRejectedError;
}

/** The line is not imported. The message is the reason, as part of the sentence “Line 3: … .” */
export class LineRejectedError extends Error {}

/** The rest of the file cannot be read. The message is the reason, as that of a line. */
export class FileDamagedError extends LineRejectedError {}
