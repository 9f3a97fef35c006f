/**
 * The form of a backup: lines of JSON. The first says what it is; then come rows, many to a line, in the order of the
 * tables; the last counts them and holds a MAC, under a key that comes from the master key, over all before. Nothing in
 * it opens anything without the master key, which is not in it.
 */
import type { Counts, Row } from './tables.ts';

/** It can't be done, and nothing was changed. The message says why and what to do. */
export class BackupError extends Error {}

export const formatName = 'keyreeve-backup';
export const formatVersion = 1;

export interface BackupHeader {
  readonly format: typeof formatName;
  readonly version: typeof formatVersion;
  /** Of the program that made it. */
  readonly program: string;
  /** Newest migration of the database that it was made from. */
  readonly schema: number;
  readonly dialect: string;
  /** ISO 8601. */
  readonly madeAt: string;
  /** Tells whose it is: derived from the master key, in hexadecimal. */
  readonly installation: string;
}

export interface BackupRows {
  readonly table: string;
  readonly rows: readonly Row[];
}

export interface BackupEnd {
  readonly counts: Counts;
  readonly mac: string;
}

/** A line of ours has far less: 500 rows. */
export const lineBytesMax = 64 * 2 ** 20;
