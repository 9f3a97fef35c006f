/** The only error of a verification: the service's answer is not known. */

/** The credential is neither accepted nor refused. Reject it now. `cause` has the failure of the connection. */
export class KeyreeveUnavailable extends Error {
  readonly code = 'unavailable';

  constructor(reason: string, options: ErrorOptions = {}) {
    super(`Keyreeve is unavailable: ${reason}`, options);
    this.name = 'KeyreeveUnavailable';
  }
}
