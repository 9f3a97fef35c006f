/** The errors of commands as data: what `--json` prints on standard error, and the exit status. `docs/administration.md` has the members. */
import { errors } from '@keyreeve/contract';
import { ApplyError } from '../modules/apply/apply-error.ts';
import { ConfigError } from '../app/configuration/config.ts';
import { SchemaError } from '../foundation/database/migrate.ts';
import { DomainError, type FieldError } from '../foundation/errors.ts';
import { RemoteError } from './remote/remote-error.ts';
import { describeFailure, isRefusal, mayBeInEffect, UsageError } from './failure.ts';

/** `usage` and `config` have the values of sysexits.h. */
export const exitCodes = { ok: 0, failed: 1, usage: 64, config: 78 } as const;

/** An error without a stack trace that is none of the API: of a file, of another program, of the network. */
type LocalCode = 'usage' | 'configuration' | 'refused' | 'system_error' | 'unexpected';

export interface FailureReport {
  /** Stable: a code of the API (`/problems`), a `LocalCode` or a `RemoteCode`. */
  readonly code: string;
  /** Of a code of the API. */
  readonly type?: string;
  readonly title?: string;
  /** The message without `--json`. */
  readonly detail: string;
  /** Of a code of the API, and of a file that is not applied. */
  readonly errors?: readonly FieldError[];
  /** For a change of unknown outcome. */
  readonly mayBeInEffect?: true;
  readonly exitCode: number;
}

export const usageReport = (detail: string): FailureReport => ({ code: 'usage', detail, exitCode: exitCodes.usage });

export function reportOf(error: unknown): FailureReport {
  if (error instanceof UsageError) return usageReport(error.message);
  if (error instanceof ConfigError || error instanceof SchemaError)
    return { code: 'configuration', detail: describeFailure(error), exitCode: exitCodes.config };
  if (error instanceof DomainError) return ofDomainError(error);
  const failed = (code: LocalCode, detail = describeFailure(error)): FailureReport => ({
    code,
    detail,
    exitCode: exitCodes.failed,
  });
  if (error instanceof RemoteError) {
    const { code, message } = error;
    const outcome = code === 'outcome_unknown' ? ({ mayBeInEffect: true } as const) : {};
    return { code, detail: message, ...outcome, exitCode: exitCodes.failed };
  }
  if (error instanceof ApplyError) return { ...failed('refused'), errors: error.problems };
  if (isRefusal(error)) return failed('refused');
  if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
    const remedy = 'another program uses this port; set KEYREEVE_PORT or KEYREEVE_ADMIN_PORT';
    return failed('system_error', `${error.message}: ${remedy}`);
  }
  // An error of the operating system needs no stack trace: a missing file, an unknown host name.
  if (error instanceof Error && 'syscall' in error) return failed('system_error');
  return failed('unexpected', error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function ofDomainError(error: DomainError): FailureReport {
  const {
    code,
    options: { errors: fields = [] },
  } = error;
  return {
    code,
    type: `/problems/${code}`,
    title: errors[code].title,
    detail: describeFailure(error),
    ...(fields.length === 0 ? {} : { errors: fields }),
    ...(mayBeInEffect(error) ? { mayBeInEffect: true } : {}),
    exitCode: exitCodes.failed,
  };
}
