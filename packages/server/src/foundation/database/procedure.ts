/**
 * Procedures: bodies of transactions that need nothing but their input, so that the writer thread of SQLite can run them. The whole
 * operation is then one message to it, instead of one for each wait of the body.
 */
import { DomainError, type DomainErrorOptions } from '../errors.ts';
import type { ErrorCode } from '@keyreeve/contract/errors';
import { ownScript } from '../own-files.ts';
import { isRootKeyChanged, rootKeyChanged } from './root-key-changed.ts';
import type { Procedure } from './db.ts';

type Procedures = Readonly<Record<string, Procedure<unknown, unknown>>>;

const loaded = new Map<string, Promise<Procedures>>();

/** Loads a file of procedures. A service does so at its start: an upgrade may replace the file before the first call. */
export function loadProcedures(script: string): Promise<Procedures> {
  let exported = loaded.get(script);
  if (!exported) loaded.set(script, (exported = import(ownScript(script).href)));
  return exported;
}

/** @throws Error if there is no such procedure */
export async function procedureOf(script: string, name: string): Promise<Procedure<unknown, unknown>> {
  const procedure = (await loadProcedures(script))[name];
  if (!procedure) throw new Error(`${script} has no procedure ${name}`);
  return procedure;
}

/** The failure of a procedure as a message between threads, which copies no class: that of a {@link DomainError}, or another error. */
export type ProcedureFailure =
  | { readonly code: ErrorCode; readonly options: DomainErrorOptions; readonly isRootKeyChanged: boolean }
  | { readonly error: unknown };

export const toFailure = (error: unknown): ProcedureFailure =>
  error instanceof DomainError
    ? { code: error.code, options: error.options, isRootKeyChanged: isRootKeyChanged(error) }
    : { error };

export function errorOf(failure: ProcedureFailure): unknown {
  if ('error' in failure) return failure.error;
  return failure.isRootKeyChanged ? rootKeyChanged() : new DomainError(failure.code, failure.options);
}
