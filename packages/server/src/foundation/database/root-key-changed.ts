/** The root key has changed since this process opened the database: nothing may be written with the old keys. */
import { DomainError } from '../errors.ts';

export class RootKeyChangedError extends Error {
  /** The exit status: the configuration is in order, and a restart helps. */
  readonly status = 1;

  constructor() {
    super('the root key has changed since this process opened the database; start it again');
  }
}

/** For a request: the process ends soon, and another one can answer it. */
export const rootKeyChanged = (): DomainError => new DomainError('unavailable', { cause: new RootKeyChangedError() });

export const isRootKeyChanged = (error: unknown): boolean =>
  error instanceof DomainError && error.cause instanceof RootKeyChangedError;
