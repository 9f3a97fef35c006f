/** Error messages of the command line. */
import { errors } from '@keyreeve/contract';
import { ApplyError } from '../modules/apply/apply-error.ts';
import { BackupError } from '../modules/backup/format.ts';
import { RootKeyRotationError } from '../modules/root-key-rotation/rotate.ts';
import { ConfigError } from '../app/configuration/config.ts';
import { JournalError } from '../modules/deletion-journal/files.ts';
import { NoSpaceError } from '../foundation/database/compact-sqlite-file.ts';
import { FileInUseError } from '../foundation/database/retire-sqlite-file.ts';
import { DomainError } from '../foundation/errors.ts';
import { RotationError } from '../modules/master-key/rotation.ts';
import { JobFailure } from '../modules/outbox/job.ts';
import { describeDatabaseFailure } from './database-failure.ts';

/** The arguments of the command are not valid. */
export class UsageError extends Error {}

/** An error whose message gives the reason and the remedy. Unless the message states otherwise, the command changed nothing. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof ApplyError ||
  error instanceof BackupError ||
  error instanceof JournalError ||
  error instanceof FileInUseError ||
  error instanceof NoSpaceError ||
  error instanceof RotationError ||
  error instanceof RootKeyRotationError ||
  error instanceof JobFailure;

/** Whether a change of unknown outcome may be in effect. */
export const mayBeInEffect = ({ options }: DomainError): boolean => options.isOutcomeUnknown === true;

/** @returns one line, or several for several errors */
export function describeFailure(error: unknown): string {
  if (error instanceof ConfigError && error.mistakes.length === 1) return error.mistakes[0] ?? error.message;
  if (error instanceof DomainError) return describeDomainError(error);
  if (!(error instanceof Error)) return String(error);
  const remedy = 'code' in error ? diskRemedies[String(error.code)] : undefined;
  return remedy === undefined ? error.message : `${error.message}. ${remedy}.`;
}

/** By code of the operating system. */
const diskRemedies: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free space on it, and repeat the command',
  EDQUOT: 'The quota of this user is used up: free space, and repeat the command',
  EFBIG: 'The file exceeds a limit of this user (`ulimit -f`) or of the file system',
  EROFS: 'The disk is read-only: read the kernel log, mount it writable, and repeat the command',
};

/** A failed connection to a host with several IP addresses is an AggregateError without a message. */
const messageOf = (cause: Error): string =>
  cause instanceof AggregateError && cause.message === '' ? cause.errors.map(String).join('; ') : cause.message;

/** Prefers the detail: the registry's meaning is written for HTTP clients. */
function describeDomainError({
  code,
  options: { detail, errors: fields = [], cause, isOutcomeUnknown },
}: DomainError): string {
  const { title, meaning } = errors[code];
  if (isOutcomeUnknown)
    return 'the connection to the database was lost during the commit, so the change may be in effect; check, and repeat the command if it is not';
  if (code === 'unavailable' && detail === undefined)
    return describeDatabaseFailure(cause instanceof Error ? messageOf(cause) : meaning);
  if (fields.length === 0) return detail ?? `${title}. ${meaning}`;
  // The titles of other codes name the field.
  const details = fields.map(({ pointer, detail: text }) =>
    code === 'invalid_request' ? `${pointer.slice(1)}: ${text}` : text,
  );
  return `${title}. ${details.join(' ')}`;
}
