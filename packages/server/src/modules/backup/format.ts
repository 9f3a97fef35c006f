/**
 * The form of a backup: lines of JSON. The first says what it is; then come rows, many to a line, in the order of the
 * tables; the last counts them and holds a MAC, under a key that comes from the master key, over all before. Nothing in
 * it opens anything without the master key, which is not in it.
 */
import type { Hash } from 'node:crypto';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { MacOf } from '../../foundation/sealed-line.ts';
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

/** A sealed line. */
export interface BackupEnd {
  readonly counts: Counts;
}

/** Computes the MAC of the end line. @param digest has been updated with all lines before the end */
export const endMacOf =
  ({ backup }: Pick<InstallationKeys, 'backup'>, digest: Hash): MacOf =>
  (body) =>
    backup.mac(digest.update(`${body}}`).digest());
