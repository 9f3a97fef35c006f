/** Failures in words for whoever types commands. */
import { errors } from '@keyreeve/contract';
import { BackupError } from '../modules/backup/format.ts';
import { ConfigError } from '../app/config.ts';
import { JournalError } from '../modules/deletion-journal/files.ts';
import { FileInUseError } from '../foundation/database/retire-sqlite-file.ts';
import { DomainError } from '../foundation/errors.ts';
import { JobFailure } from '../modules/outbox/outbox.ts';
import { describeDatabaseFailure } from './database-failure.ts';

/** The command was called in a way that can't work. */
export class UsageError extends Error {}

/** Nothing was changed, and the message says why and what to do. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof BackupError ||
  error instanceof JournalError ||
  error instanceof FileInUseError ||
  error instanceof JobFailure;

/** What was wrong, in one line unless several things were. */
export function describeFailure(error: unknown): string {
  if (error instanceof ConfigError && error.mistakes.length === 1) return error.mistakes[0] ?? error.message;
  if (error instanceof DomainError) return describeDomainError(error);
  return error instanceof Error ? error.message : String(error);
}

/** An attempt to connect to several addresses of one host fails with an error for each and no message of its own. */
const messageOf = (cause: Error): string =>
  cause instanceof AggregateError && cause.message === '' ? cause.errors.map(String).join('; ') : cause.message;

/** The registry's texts speak to callers over HTTP, so the meaning is left out where something more precise is known. */
function describeDomainError({
  code,
  options: { detail, errors: places = [], cause, isOutcomeUnknown },
}: DomainError): string {
  const { title, meaning } = errors[code];
  if (isOutcomeUnknown) return 'the database did not say whether this was done; look, and run it again if it was not';
  if (code === 'unavailable' && detail === undefined)
    return describeDatabaseFailure(cause instanceof Error ? messageOf(cause) : meaning);
  if (places.length === 0) return detail ?? `${title}. ${meaning}`;
  // Where it was is said only if the title doesn't say it.
  const details = places.map(({ pointer, detail: text }) =>
    code === 'invalid_request' ? `${pointer.slice(1)}: ${text}` : text,
  );
  return `${title}. ${details.join(' ')}`;
}
