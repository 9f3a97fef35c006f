/**
 * The format of a backup: lines of JSON. The first line is the header. Lines of up to 500 rows follow, in the order of
 * the tables. The last line counts the rows and has a MAC over all lines, with a key that derives from the root key. The
 * header contains the root key, encrypted with the master key. A backup does not contain the master key, and its secrets are
 * unusable without it.
 */
import type { Hash } from 'node:crypto';
import type { InstallationKeys } from '../../foundation/crypto/master-key.ts';
import type { WrappedRootKey } from '../../foundation/crypto/root-key.ts';
import type { MacOf } from '../../foundation/sealed-line.ts';
import type { Counts, Row } from './table.ts';

/** The operation failed and changed nothing. The message gives the reason and the remedy. */
export class BackupError extends Error {}

/** Encrypts or decrypts in bounded memory. */
export type ChangeBytes = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

export const formatName = 'keyreeve-backup';
/** 1: before release 1.0.0. */
export const formatVersion = 2;

export interface BackupHeader {
  readonly format: typeof formatName;
  readonly version: typeof formatVersion;
  /** Version of the program that made the backup. */
  readonly program: string;
  /** Number of the newest migration of the database. */
  readonly schema: number;
  /** The newest version of the rules of keys that the program knew (`foundation/database/key-rules.ts`). */
  readonly rules: number;
  readonly dialect: string;
  /** ISO 8601. */
  readonly madeAt: string;
  /** Identifies the installation: derives from the root key, in hexadecimal. */
  readonly installation: string;
  readonly rootKeys: readonly StoredRootKey[];
}

/** A wrapped root key, in hexadecimal. */
export interface StoredRootKey extends Omit<WrappedRootKey, 'wrapped'> {
  readonly wrapped: string;
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
