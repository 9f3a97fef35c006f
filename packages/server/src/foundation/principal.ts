/** The principal of an operation: the first argument of every operation that changes something. */

export type Principal =
  | AccountPrincipal
  /** An operator, through the command line on the machine. */
  | { readonly kind: 'operator' }
  /** A reader of the account's mail, by a one-time code that was sent there. */
  | { readonly kind: 'mailbox' }
  /** The service itself, for example when it ends a session whose refresh token was used twice. */
  | { readonly kind: 'system' };

/** An account, authenticated by an access token of one of its sessions. */
export interface AccountPrincipal {
  readonly kind: 'account';
  readonly accountId: string;
  readonly sessionId: string;
  /** Id of the key that signed the access token. */
  readonly kid?: string;
  /** Role at the time when the access token was verified. */
  readonly role?: 'user' | 'admin';
  /** Start of the session, in milliseconds. */
  readonly signedInAt?: number;
  /** The operation is allowed only to administrators: the transaction of the change checks the role again. */
  readonly actsAs?: 'administrator';
}
