/** The requests and responses of the account and key endpoints. A test compares them with the service's contract. */

export interface TokenPair {
  /** Valid for minutes. */
  readonly accessToken: string;
  /** Replaced by each refresh. */
  readonly refreshToken: string;
}

/** A verification spends one token of each, or as many as its cost. */
export interface KeyLimits {
  /** A bucket of `burst` tokens (default: `limit`), which is refilled with `limit` tokens in each window. */
  readonly rate?: { readonly limit: number; readonly windowSeconds: number; readonly burst?: number } | null;
  /** Of a day or month in UTC, or of all time. */
  readonly quota?: { readonly limit: number; readonly per: 'day' | 'month' | 'ever' } | null;
}

/** The limits of a key or of an account, and what is used of the quota. */
export interface ShownLimits {
  readonly limits: KeyLimits | null;
  readonly quotaUse: { readonly used: number; readonly resetsAt: string | null } | null;
}

export interface NewKey {
  /** Unique among the account's keys. */
  readonly nickname: string;
  readonly scopes?: string[];
  /** RFC 3339. */
  readonly expiresAt?: string | null;
  /** IP addresses and ranges. */
  readonly addresses?: string[] | null;
  readonly metadata?: Record<string, unknown> | null;
  readonly environment?: string;
  readonly limits?: KeyLimits | null;
  /** With a management key: the SHA-256 of an existing secret, in hexadecimal. The response has no `key` then. */
  readonly sha256?: string;
}

export interface ListedKey {
  readonly id: number;
  readonly nickname: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface CreatedKey extends ListedKey {
  /** The secret. No other response has it. */
  readonly key: string;
}

/** A merge patch: absent members keep their values, and null removes a value. */
export type KeyChange = Partial<Omit<NewKey, 'environment' | 'sha256'>> & { readonly disabled?: boolean };

/** A key in a page of a list. */
export interface KeySummary extends ListedKey {
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
  readonly disabledAt: string | null;
  readonly lastUsedAt: string | null;
  readonly environment: string | null;
  /** The prefix and the last characters of the secret. */
  readonly hint: string | null;
}

export interface KeyDetails extends KeySummary, ShownLimits {
  readonly addresses: readonly string[] | null;
  readonly metadata: object | null;
}

export interface KeyQuery {
  /** Part of the nickname, or the last characters of the hint. */
  readonly search?: string;
  readonly state?: 'active' | 'expiring' | 'expired' | 'disabled';
  /** With `-`, descending. Default: `created`. */
  readonly sort?: `${'' | '-'}${'created' | 'nickname' | 'lastUsed' | 'expires'}`;
}

export interface PageQuery {
  /** Entries of the page, 1 to 100. Default: 100. */
  readonly limit?: number;
  /** `nextCursor` of the page before, with the same other parameters. */
  readonly cursor?: string;
}

export interface Page<T> {
  /** Also a page that is not the last can have few or none. */
  readonly entries: readonly T[];
  /** Null for the last page. */
  readonly nextCursor: string | null;
}

export interface NewServiceAccount {
  /** Unique among the service accounts of its creator. */
  readonly name: string;
  /** Your own id, for example of a tenant. */
  readonly externalId?: string;
}

/** Absent members keep their values, and null removes the external id. */
export interface ServiceAccountChange {
  readonly name?: string;
  readonly externalId?: string | null;
}

export interface ServiceAccount {
  readonly id: string;
  readonly name: string;
  readonly externalId: string | null;
  /** Null after the deletion of the account that created it. */
  readonly creatorId: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type PortalCapability = 'read' | 'create' | 'rotate' | 'limit' | 'delete';

/** With `origin`, `returnUrl` or both. */
export interface NewPortalSession {
  /** Of the service account whose keys the person manages. */
  readonly externalId: string;
  readonly capabilities: PortalCapability[];
  /** That keys can get. Default: all entitlements of the service account. */
  readonly scopes?: string[];
  /** For the audit log. `id` is your own id of the person: no email address. */
  readonly person?: { readonly id: string; readonly name?: string };
  /** Of the page with the frame. Without it, the key page is a page of its own. */
  readonly origin?: string;
  /** Where the key page leads back to: a URL of `origin`. */
  readonly returnUrl?: string;
}

export interface CreatedPortalSession {
  readonly id: string;
  /** Of the key page. Its fragment is a token that works once, for a minute. No other response has it. */
  readonly url: string;
  readonly expiresAt: string;
  readonly tokenExpiresAt: string;
}

/** Codes of errors that a program can expect. A later version of the service can have others. */
export type ManagementErrorCode =
  | 'account_limited'
  | 'account_not_found'
  | 'creator_required'
  | 'external_id_taken'
  | 'invalid_management_key'
  | 'invalid_request'
  | 'key_limit_reached'
  | 'key_not_found'
  | 'management_key_required'
  | 'name_taken'
  | 'nickname_invalid'
  | 'nickname_taken'
  | 'overlap_in_progress'
  | 'portal_session_not_found'
  | 'reserved_scope'
  | 'scope_not_entitled'
  | 'secret_taken'
  | 'service_account_limit_reached'
  | 'too_many_changes'
  | 'too_many_creations'
  | 'too_many_in_progress'
  | 'too_many_portal_sessions'
  | 'unavailable';

export interface Rotation {
  /** For how long the previous secret stays valid. Default: a day. */
  readonly overlapSeconds?: number;
  readonly endPrevious?: boolean;
}

export interface RotatedKey extends CreatedKey {
  /** Null without an overlap. */
  readonly previousExpiresAt: string | null;
}

export interface ListedSession {
  readonly id: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly expiresAt: string;
  readonly clientIp: string;
  readonly userAgent: string;
  readonly current: boolean;
}
