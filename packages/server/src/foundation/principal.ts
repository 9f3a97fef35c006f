/** The principal of an operation: the first argument of each operation that changes data, alone or in an {@link Act}. */
import type { PortalCapability } from '@keyreeve/contract';
import type { Transaction } from './database/db.ts';

export type Principal =
  | AccountPrincipal
  | KeyPrincipal
  | CanaryPrincipal
  | PortalPrincipal
  /** An operator who uses the command line on the machine. */
  | { readonly kind: 'operator' }
  /** A user with a one-time code that was sent to the account's email address. */
  | { readonly kind: 'mailbox' }
  /** A program on a device that ends a key which it made, and which it sends. */
  | ProgramPrincipal
  /** A client without a credential that reports a leaked secret, which it sends. */
  | PossessorPrincipal
  /** GitHub, which reports secrets that it found in repositories. */
  | { readonly kind: 'github' }
  /** The service, for example when it ends a session whose refresh token was used twice. */
  | { readonly kind: 'system' };

export const system = { kind: 'system' } as const satisfies Principal;

/** The principal of a change, and the time of the change in milliseconds since 1970. */
export interface Act {
  readonly principal: Principal;
  readonly now: number;
}

/**
 * Checks in the transaction of a change whether the principal may still make it. For accounts, this is `assertSessionValidTx`,
 * which is an argument where it belongs to a later module.
 */
export type Guard = (tx: Transaction, act: Act) => Promise<void>;

export interface ProgramPrincipal {
  readonly kind: 'program';
  /** Its `client_id`. */
  readonly programId: string;
}

export interface PossessorPrincipal {
  readonly kind: 'possessor';
  /** The client IP range: /24 of IPv4, /48 of IPv6. Null if the client IP is not known. */
  readonly from: string | null;
}

/** An account that is authenticated by an access token of one of its sessions, or by the session cookie of the console. */
export interface AccountPrincipal {
  readonly kind: 'account';
  readonly accountId: string;
  readonly sessionId: string;
  /** Id of the key that signed the access token. Undefined for a session of the console. */
  readonly kid?: string;
  /** Role when the access token was verified. */
  readonly role?: 'user' | 'admin';
  /** The last proof of the credentials: the start of the session, or a confirmation in the console. In milliseconds. */
  readonly signedInAt?: number;
  /** Only administrators may perform the operation: the transaction of the change checks the role again. */
  readonly actsAs?: 'administrator';
}

/** An account that is authenticated by the session cookie of the console. */
export interface ConsolePrincipal extends AccountPrincipal {
  /** Times are milliseconds. */
  readonly session: {
    /** Keyed hash of the secret that was presented: a confirmation replaces it. */
    readonly tokenHash: Uint8Array;
    readonly createdAt: number;
    readonly authenticatedAt: number;
    readonly idleExpiresAt: number;
    readonly expiresAt: number;
    /** Whether the account lacks a required second factor: then only few routes are open. */
    readonly mustEnrol: boolean;
  };
}

/**
 * A management key: an API key with the scope `keyreeve:keys`. It acts for the service accounts that its account manages, and
 * for no other account, not even its own.
 */
export interface KeyPrincipal {
  readonly kind: 'key';
  readonly keyId: number;
  /** The account that owns the key. */
  readonly accountId: string;
  /** The lookup of the secret that was presented: a rotation can end it while the request is in progress. */
  readonly lookup: number;
  /** The key's IP ranges when it was verified, as stored. */
  readonly addresses: string | null;
}

/**
 * The credential of a revocation check from outside: an API key with the scope `keyreeve:canary`. It creates, verifies and
 * deletes the canary keys of its own account, and nothing else.
 */
export interface CanaryPrincipal {
  readonly kind: 'canary';
  readonly keyId: number;
  /** Owns the credential and its canary keys. */
  readonly accountId: string;
  /** As of {@link KeyPrincipal}. */
  readonly lookup: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** The IP address of which canary keys are valid, which no client has; and the same as stored in the credential and in them. */
  readonly address: string;
  readonly addresses: string;
}

/**
 * The key page with the secret of a portal session: it acts for one service account, with at most the rights that its management
 * key has in the same request.
 */
export interface PortalPrincipal {
  readonly kind: 'portal';
  /** Id of the portal session. */
  readonly sessionId: string;
  /** The account that owns the management key which created the session. */
  readonly accountId: string;
  /** The management key, and the lookup of the secret that created the session: the session ends with either. */
  readonly keyId: number;
  readonly lookup: number;
  /** The only account for which the principal acts. */
  readonly serviceAccountId: string;
  readonly capabilities: readonly PortalCapability[];
  /** The only scopes that keys can get in the session. Undefined: all that the service account may give its keys. */
  readonly scopes: readonly string[] | undefined;
  /** Who uses the session, as the backend of the host states. */
  readonly person: PortalPerson | null;
}

/** As in the audit log. */
export interface PortalPerson {
  readonly id: string;
  readonly name: string | null;
}
